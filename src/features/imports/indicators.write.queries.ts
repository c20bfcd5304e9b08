import { sql, type Transaction } from 'kysely';
import { laterThan } from '../../db/later-than.ts';
import type { Db } from '../../db/open.ts';
import type { Tables } from '../../db/tables.ts';
import { searchText } from '../../model/search-text.ts';
import type { Shown, SourceStatement, Statement } from '../../model/statement.ts';
import type { IndicatorType } from '../../model/vocabulary.ts';

/** An indicator as the database has it, with all that decides what is shown. */
export interface KnownIndicator {
  /** As shown. Spellings of one identity may differ in case: the first by code point is kept. */
  value: string;
  pinned: number | null;
  /** By source id. */
  statements: Map<string, SourceStatement>;
  /** Of the last answer of each provider that did not fail. */
  scores: number[];
  externalIds: Set<string>;
}

export interface IndicatorWrite {
  id: string;
  /** Given to new ones only. */
  number: number | null;
  type: IndicatorType;
  value: string;
  normalized: string;
  shown: Shown;
}

export interface StatementWrite {
  indicatorId: string;
  sourceId: string;
  statement: Statement;
}

/** What is known of the indicators with these ids, by id. */
export async function loadIndicators(db: Db, ids: string[]): Promise<Map<string, KnownIndicator>> {
  const known = new Map<string, KnownIndicator>();
  if (ids.length === 0) return known;
  const isOneOf = (column: string) => sql<boolean>`${sql.ref(column)} = any(${ids}::uuid[])`;
  const indicators = await db
    .selectFrom('indicator')
    .select(['id', 'value', 'pinned_confidence'])
    .where(isOneOf('id'))
    .execute();
  for (const { id, value, pinned_confidence: pinned } of indicators) {
    known.set(id, { value, pinned, statements: new Map(), scores: [], externalIds: new Set() });
  }
  if (known.size === 0) return known;
  const statements = await db
    .selectFrom('indicator_source as s')
    .innerJoin('source', 'source.id', 's.source_id')
    .selectAll('s')
    .select(['source.name', 'default_tlp', 'default_confidence', 'default_severity'])
    .where(isOneOf('s.indicator_id'))
    .execute();
  for (const row of statements) {
    known.get(row.indicator_id)?.statements.set(row.source_id, {
      source: {
        id: row.source_id,
        name: row.name,
        defaults: {
          tlp: row.default_tlp,
          confidence: row.default_confidence,
          severity: row.default_severity,
        },
      },
      statedAt: row.stated_at,
      firstSeen: row.first_seen,
      lastSeen: row.last_seen,
      importedAt: row.imported_at,
      expiresAt: row.expires_at,
      confidence: row.confidence,
      severity: row.severity,
      tlp: row.tlp,
      tags: row.tags,
      forDetection: row.for_detection,
    });
  }
  const scores = await db
    .selectFrom('enrichment')
    .select(['indicator_id', 'score'])
    .where(isOneOf('indicator_id'))
    .where('error', 'is', null)
    .where('score', 'is not', null)
    .execute();
  for (const { indicator_id, score } of scores) known.get(indicator_id)?.scores.push(score ?? 0);
  const externalIds = await db
    .selectFrom('external_id')
    .select(['entity_id', 'external_id'])
    .where(isOneOf('entity_id'))
    .execute();
  for (const { entity_id, external_id } of externalIds) known.get(entity_id)?.externalIds.add(external_id);
  return known;
}

/** Writes rows sorted by id, so that two writers never wait for each other in a circle. */
export async function writeIndicators(
  trx: Transaction<Tables>,
  writes: readonly IndicatorWrite[],
  revision: number,
  now: Date,
): Promise<void> {
  if (writes.length === 0) return;
  const rows = writes
    .map(({ id, number, type, value, normalized, shown }) => ({
      id,
      number,
      type,
      value,
      normalized,
      search_text: searchText(normalized) === normalized ? null : searchText(normalized),
      confidence: shown.confidence,
      severity: shown.severity,
      tlp: shown.tlp,
      tags: shown.tags,
      source_id: shown.sourceId,
      first_seen: shown.firstSeen,
      last_seen: shown.lastSeen,
      expires_at: shown.expiresAt,
      for_detection: shown.forDetection,
    }))
    .sort(byKey('id'));
  const recordset = sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (id uuid, number bigint,
    type indicator_type, value text, normalized text, search_text text, confidence smallint, severity severity,
    tlp tlp, tags text[], source_id uuid, first_seen timestamptz, last_seen timestamptz, expires_at timestamptz,
    for_detection boolean)`;
  await sql`
    insert into indicator (id, number, type, value, normalized, search_text, confidence, severity, tlp, tags,
      source_id, first_seen, last_seen, expires_at, for_detection, created_at, revision)
    select id, number, type, value, normalized, search_text, confidence, severity, tlp, tags,
      source_id, first_seen, last_seen, expires_at, for_detection, ${now}::timestamptz, ${revision}::bigint
    from ${recordset} where number is not null
  `.execute(trx);
  await sql`
    update indicator set value = x.value, confidence = x.confidence, severity = x.severity, tlp = x.tlp, tags = x.tags,
      source_id = x.source_id, first_seen = x.first_seen, last_seen = x.last_seen, expires_at = x.expires_at,
      for_detection = x.for_detection, revision = ${revision}::bigint, version = indicator.version + 1,
      modified_at = ${laterThan('indicator', now)}
    from ${recordset} where indicator.id = x.id and x.number is null
  `.execute(trx);
}

export async function writeStatements(
  trx: Transaction<Tables>,
  writes: readonly StatementWrite[],
): Promise<void> {
  if (writes.length === 0) return;
  const rows = writes
    .map(({ indicatorId, sourceId, statement }) => ({
      indicator_id: indicatorId,
      source_id: sourceId,
      stated_at: statement.statedAt,
      first_seen: statement.firstSeen,
      last_seen: statement.lastSeen,
      imported_at: statement.importedAt,
      expires_at: statement.expiresAt,
      confidence: statement.confidence,
      severity: statement.severity,
      tlp: statement.tlp,
      tags: statement.tags,
      for_detection: statement.forDetection,
    }))
    .sort(byKey('indicator_id'));
  await sql`
    insert into indicator_source
    select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (indicator_id uuid, source_id uuid,
      stated_at timestamptz, first_seen timestamptz, last_seen timestamptz, imported_at timestamptz,
      expires_at timestamptz, confidence smallint, severity severity, tlp tlp, tags text[], for_detection boolean)
    on conflict (indicator_id, source_id) do update set stated_at = excluded.stated_at,
      first_seen = excluded.first_seen, last_seen = excluded.last_seen, imported_at = excluded.imported_at,
      expires_at = excluded.expires_at, confidence = excluded.confidence, severity = excluded.severity,
      tlp = excluded.tlp, tags = excluded.tags, for_detection = excluded.for_detection
  `.execute(trx);
}

function byKey<K extends string>(key: K) {
  return (a: Record<K, string>, b: Record<K, string>) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0);
}
