import type { ImportRecord } from './importer.ts';
import { type ClusterRecord, clusterOfTag } from './misp-clusters.ts';
import { relationshipRecord } from './relationship-record.ts';

/** The clusters, each with the link from the report to it. */
export function* withReport(clusters: ClusterRecord[], reportId: string | null): Generator<ImportRecord> {
  for (const cluster of clusters) {
    yield cluster;
    const [id] = cluster.externalIds;
    if (id !== undefined && reportId !== null)
      yield relationshipRecord('refers-to', reportId, id, cluster.tlp);
  }
}

/** External ids of what indicators point at. */
export function indicatedIds(clusters: ClusterRecord[]): string[] {
  return clusters.filter(isIndicated).flatMap(({ externalIds: [id] }) => id ?? []);
}

/** Galaxy tags that no link stands for: they stay tags, or nobody would ever see them again. */
export function tagsWithoutLink(galaxyTags: string[]): string[] {
  return galaxyTags.filter((tag) => {
    const cluster = clusterOfTag(tag);
    return cluster === null || !isIndicated(cluster);
  });
}

/** Actors, campaigns and malware; techniques and tools are shared by too many. */
function isIndicated(cluster: ClusterRecord): boolean {
  return cluster.kind === 'software' ? cluster.softwareType === 'malware' : cluster.kind !== 'technique';
}
