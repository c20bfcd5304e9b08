import type { ImportRecord } from './importer.ts';
import { type ClusterRecord, clusterOfTag } from './misp-clusters.ts';
import { relationshipRecord } from './relationship-record.ts';

/** Yields the clusters, each with the link from the report to it. */
export function* withReport(clusters: ClusterRecord[], reportId: string | null): Generator<ImportRecord> {
  for (const cluster of clusters) {
    yield cluster;
    const [id] = cluster.externalIds;
    if (id !== undefined && reportId !== null)
      yield relationshipRecord('refers-to', reportId, id, cluster.tlp);
  }
}

/** Returns the external ids of the clusters that indicators are linked to. */
export function indicatedIds(clusters: ClusterRecord[]): string[] {
  return clusters.filter(isIndicated).flatMap(({ externalIds: [id] }) => id ?? []);
}

/** Returns the galaxy tags that no link represents: they remain tags, or they would be lost. */
export function tagsWithoutLink(galaxyTags: string[]): string[] {
  return galaxyTags.filter((tag) => {
    const cluster = clusterOfTag(tag);
    return cluster === null || !isIndicated(cluster);
  });
}

/**
 * Returns whether indicators are linked to a cluster: an actor, a campaign or malware. Techniques and tools
 * are shared by too many.
 */
function isIndicated(cluster: ClusterRecord): boolean {
  return cluster.kind === 'software' ? cluster.softwareType === 'malware' : cluster.kind !== 'technique';
}
