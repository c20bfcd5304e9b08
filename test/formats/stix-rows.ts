import type { ExportIndicator } from '../../src/formats/format.ts';
import type { IndicatorRecord } from '../../src/importers/importer.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { latestRecords, markedRecords } from '../../src/model/source-record.ts';
import {
  mergeStatements,
  resolve,
  type SourceDefaults,
  type Statement,
  uniqueTags,
} from '../../src/model/statement.ts';

const DEFAULTS: SourceDefaults = { tlp: 'AMBER', confidence: 50, severity: 'MEDIUM' };
/** When the records were imported. */
const NOW = new Date('2026-06-01T00:00:00.000Z');

const SOURCE = {
  id: 'source',
  name: 'Example feed',
  defaults: DEFAULTS,
  lifetimes: {},
  isSnapshotList: false,
};

/** The rows that the records of one source's file become, without a database. */
export function exportRows(records: readonly IndicatorRecord[]): ExportIndicator[] {
  const rows = new Map<
    string,
    { value: string; record: IndicatorRecord; ids: Set<string>; statement: Statement }
  >();
  for (const record of records) {
    const id = indicatorId(record.type, record.normalized);
    const before = rows.get(id);
    const statement = statementOf(record);
    rows.set(id, {
      record,
      value: before && before.value < record.value ? before.value : record.value,
      ids: new Set([...(before?.ids ?? []), ...record.externalIds]),
      statement: before ? mergeStatements(before.statement, statement) : statement,
    });
  }
  return [...rows].map(([id, row], index) => ({ ...exportRow(row), id, number: index + 1 }));
}

function statementOf(record: IndicatorRecord): Statement {
  const { statedAt, firstSeen, lastSeen, expiresAt, confidence, severity, forDetection } = record;
  const tlp = record.tlp ?? DEFAULTS.tlp;
  const stated = { statedAt, firstSeen, lastSeen, expiresAt, confidence, severity, forDetection, tlp };
  const ofCertificate = record.ofCertificate ?? false;
  const records = latestRecords(markedRecords(record.records ?? [], record));
  return {
    ...stated,
    ofCertificate,
    files: [],
    records,
    importedAt: NOW,
    tags: uniqueTags(record.tags),
    delistedAt: null,
    kev: null,
  };
}

type Row = { value: string; record: IndicatorRecord; ids: Set<string>; statement: Statement };

function exportRow({ value, record, ids, statement }: Row): Omit<ExportIndicator, 'id' | 'number'> {
  const {
    sourceId: _,
    hasRecords: __,
    kev: ___,
    ...shown
  } = resolve(record.type, [{ ...statement, source: SOURCE }], [], null);
  return {
    ...shown,
    version: 1,
    type: record.type,
    value,
    whitelistedParts: [],
    normalized: record.normalized,
    source: SOURCE.name,
    createdAt: NOW,
    modifiedAt: NOW,
    externalIds: [...ids].sort(),
    records: statement.records.map((said) => ({ ...said, source: SOURCE.name })),
    originalIds: [],
    indicates: [],
    score: null,
    group: null,
  };
}
