import type { ExportEntity, ExportIndicator } from '../../src/formats/format.ts';
import type { ImportRecord, IndicatorRecord } from '../../src/importers/importer.ts';
import { mispImporter } from '../../src/importers/misp.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { markedRecords } from '../../src/model/source-record.ts';
import { mergeStatements, mostRestrictive, resolve, type Statement } from '../../src/model/statement.ts';
import { exportIndicator, toward } from '../formats/input.ts';
import { inputOf, ofKind, runImporter } from '../importers/run-importer.ts';

export interface State {
  rows: ExportIndicator[];
  entities: ExportEntity[];
}

const IMPORTED_AT = new Date('2026-06-01T12:00:00.750Z');
const SOURCE = {
  id: 'source',
  name: 'Example source',
  defaults: { tlp: 'AMBER', confidence: 50, severity: 'MEDIUM' },
  lifetimes: {},
  isSnapshotList: false,
} as const;

/** What the service holds after one import of these MISP files, by its own rules, without its database. */
export async function importMisp(...texts: string[]): Promise<State> {
  const records: ImportRecord[] = [];
  for (const text of texts) records.push(...(await runImporter(mispImporter, inputOf(text))).records);
  const entityOf = readEntities(records);
  const { statements, idsOf } = readStatements(ofKind(records, 'indicator'));
  const indicates = new Map<string, Set<string>>();
  for (const { type, from, to } of ofKind(records, 'relationship')) {
    const entity = entityOf.get(to);
    if (type !== 'indicates' || entity === undefined) continue;
    for (const id of idsOf.get(from) ?? [])
      indicates.set(id, (indicates.get(id) ?? new Set()).add(entity.id));
  }
  const rows = [...statements].map(([id, { record, statement }], at) => {
    const { sourceId: _, ...shown } = resolve(record.type, [{ ...statement, source: SOURCE }], [], null);
    return exportIndicator(at + 1, record.type, record.value, {
      ...shown,
      ...{ createdAt: IMPORTED_AT, modifiedAt: IMPORTED_AT, source: SOURCE.name },
      indicates: toward(...[...(indicates.get(id) ?? [])].sort()),
    });
  });
  return { rows, entities: [...new Set(entityOf.values())] };
}

function readStatements(records: IndicatorRecord[]) {
  const statements = new Map<string, { record: IndicatorRecord; statement: Statement }>();
  const idsOf = new Map<string, Set<string>>();
  for (const record of records) {
    const id = indicatorId(record.type, record.normalized);
    const own = {
      ...record,
      tlp: record.tlp ?? SOURCE.defaults.tlp,
      ofCertificate: record.ofCertificate ?? false,
      files: [],
      importedAt: IMPORTED_AT,
      delistedAt: null,
      kev: null,
      records: markedRecords(record.records ?? [], record),
    };
    const before = statements.get(id)?.statement;
    statements.set(id, { record, statement: mergeStatements(before ?? own, own) });
    for (const externalId of record.externalIds)
      idsOf.set(externalId, (idsOf.get(externalId) ?? new Set()).add(id));
  }
  return { statements, idsOf };
}

/** By external id; records that share one are one. */
function readEntities(records: ImportRecord[]): Map<string, ExportEntity> {
  const entityOf = new Map<string, ExportEntity>();
  for (const record of records) {
    if (record.kind !== 'actor' && record.kind !== 'campaign' && record.kind !== 'software') continue;
    const known = record.externalIds.map((id) => entityOf.get(id)).find(Boolean);
    const entity = known ?? newEntity(record.externalIds[0] ?? '', record);
    if (known !== undefined) {
      entity.tlp = mostRestrictive([known.tlp, record.tlp ?? SOURCE.defaults.tlp]);
      entity.externalIds = [...new Set([...known.externalIds, ...record.externalIds])].sort();
    }
    for (const externalId of record.externalIds) entityOf.set(externalId, entity);
  }
  return entityOf;
}

function newEntity(id: string, record: Extract<ImportRecord, { kind: 'actor' | 'campaign' | 'software' }>) {
  return {
    ...{ ...record, id, tlp: record.tlp ?? SOURCE.defaults.tlp, confidence: 50 },
    ...{ createdAt: IMPORTED_AT, modifiedAt: IMPORTED_AT, attackId: null, aliases: [] },
    externalIds: [...record.externalIds].sort(),
  } as unknown as ExportEntity;
}
