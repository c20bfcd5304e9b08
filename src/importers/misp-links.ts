import type { ImportRecord } from './importer.ts';
import type { ClusterRecord } from './misp-clusters.ts';
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

/** Indicators point at actors and malware; techniques and tools are shared by too many. */
export function indicatedIds(clusters: ClusterRecord[]): string[] {
  const indicated = clusters.filter(
    (cluster) =>
      cluster.kind === 'actor' || (cluster.kind === 'software' && cluster.softwareType === 'malware'),
  );
  return indicated.flatMap(({ externalIds: [id] }) => id ?? []);
}
