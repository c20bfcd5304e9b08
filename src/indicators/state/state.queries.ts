import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely';
import type { Db } from '../../db/database.ts';
import { nextModifiedAt } from '../../db/expressions.ts';
import { type Column, recordset, uuidArray } from '../../db/recordset.ts';
import type { RevisionLock } from '../../db/revision/revision.ts';
import type { Tables } from '../../db/tables.ts';
import { isBlock, prefixLength } from '../../model/address-ranges.ts';
import { markedRecords } from '../../model/source-record.ts';
import type { ResolvedIndicator, SourceStatement, Statement } from '../../model/statement.ts';
import { searchText } from '../../model/text.ts';
import type { IndicatorType } from '../../model/vocabulary.ts';
import { loadSources, type Source } from '../../sources/store/sources.queries.ts';
import type { WhitelistHit } from '../../whitelist/matching/matcher.ts';
import { SCORE_OF_NEW } from './scores.queries.ts';

/** A stored indicator with all data that determine its row. */
export interface LoadedIndicator {
  type: IndicatorType;
  normalized: string;
  /** As displayed. Spellings of one indicator may differ in case: the first by code point is stored. */
  value: string;
  pinned: number | null;
  /** By source id. */
  statements: Map<string, SourceStatement>;
  /** The source of its row if no source states it any more. */
  lastSource: Source | null;
  /** The score of each provider's latest successful response. */
  scores: number[];
  externalIds: Set<string>;
  /** The state in its row; null: it has no row yet. */
  stored: StoredState | null;
}

/** The derived state of an indicator. */
export interface StoredState extends ResolvedIndicator {
  /** The confidence that an analyst has pinned; null: none. */
  pinned: number | null;
  /** The whitelist entry that suppresses it; null: none. */
  suppressedBy: WhitelistHit | null;
  /** The whitelisted addresses and CIDR blocks within a network. */
  whitelistedParts: readonly string[];
}

export interface IndicatorWrite extends Pick<LoadedIndicator, 'type' | 'value' | 'normalized'> {
  id: string;
  /** The place of a new indicator among those of its transaction, from 1; null: it has a row. */
  newPlace: number | null;
  shown: StoredState;
  /** Whether the whitelist entry that suppresses it has changed. */
  whitelistHitChanged: boolean;
}

export interface StatementWrite {
  indicatorId: string;
  sourceId: string;
  statement: Statement;
}

const isOneOf = (column: string, ids: readonly string[]) =>
  sql<boolean>`${sql.ref(column)} = any(${uuidArray(ids)})`;

/** Returns which of these ids indicators have. */
export async function findExisting(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.selectFrom('indicator').select('id').where(isOneOf('id', ids)).execute();
  return new Set(rows.map(({ id }) => id));
}

/**
 * Returns the ids of the indicators that have this value, all of these external ids, and a statement of this source that is equal in all
 * but the time of its import.
 */
export async function findSameStatements(
  db: Db,
  statements: readonly (StatementWrite & { value: string; externalIds: readonly string[] })[],
): Promise<Set<string>> {
  if (statements.length === 0) return new Set();
  const { indicator_id: _indicator, imported_at: _time, ...compared } = STATEMENT_COLUMNS;
  const item = recordset(statements, {
    ...compared,
    indicator_id: STATEMENT_COLUMNS.indicator_id,
    value: ['text', ({ value }) => value],
    external_ids: ['text[]', ({ externalIds }) => unlessEmpty(externalIds)],
  });
  const columns = (alias: string) =>
    sql.join(Object.keys(compared).map((column) => sql.ref(`${alias}.${column}`)));
  const { rows: same } = await sql<{ id: string }>`
    select x.indicator_id as id
    from ${item},
      lateral (select number, value from indicator where id = x.indicator_id offset 0) as i,
      lateral (select * from indicator_source where indicator_number = i.number and source_id = x.source_id offset 0) as s
    where i.value = x.value and (${columns('s')}) is not distinct from (${columns('x')})
      and not exists (
        select from unnest(x.external_ids) as stated (external_id)
        where not exists (select from external_id as e where e.external_id = stated.external_id and e.entity_id = x.indicator_id))
  `.execute(db);
  return new Set(same.map(({ id }) => id));
}

/** Returns the indicators with these ids, by id. */
export async function loadIndicators(db: Db, ids: readonly string[]): Promise<Map<string, LoadedIndicator>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('indicator')
    .leftJoin('whitelist_hit as hit', 'hit.indicator_id', 'indicator.id')
    .selectAll('indicator')
    .select(['hit.list_id', 'hit.entry'])
    .where(isOneOf('indicator.id', ids))
    .execute();
  const known = new Map(rows.map((row) => [row.id, knownOf(row)]));
  if (known.size === 0) return known;
  await addStatements(db, new Map(rows.map(({ number, id }) => [number, known.get(id)])));
  await addLastSources(db, known);
  await addScores(db, ids, known);
  await addExternalIds(db, ids, known);
  return known;
}

type IndicatorRow = Selectable<Tables['indicator']> & { list_id: string | null; entry: string | null };

function knownOf(row: IndicatorRow): LoadedIndicator {
  return {
    type: row.type,
    normalized: row.normalized,
    value: row.value,
    pinned: row.pinned_confidence,
    statements: new Map(),
    lastSource: null,
    scores: [],
    externalIds: new Set(),
    stored: {
      confidence: row.confidence,
      severity: row.severity,
      tlp: row.tlp,
      tags: row.tags,
      sourceId: row.source_id,
      firstSeen: row.first_seen,
      lastSeen: row.last_seen,
      expiresAt: row.expires_at,
      forDetection: row.for_detection,
      ofCertificate: row.of_certificate,
      hasRecords: row.has_records,
      kev: row.kev,
      pinned: row.pinned_confidence,
      suppressedBy: row.list_id && row.entry !== null ? { listId: row.list_id, entry: row.entry } : null,
      whitelistedParts: row.whitelisted_parts ?? [],
    },
  };
}

type Known = Map<string, LoadedIndicator>;

async function addStatements(
  db: Db,
  byNumber: ReadonlyMap<number, LoadedIndicator | undefined>,
): Promise<void> {
  const rows = await db
    .selectFrom('indicator_source')
    .selectAll()
    .where(
      sql<boolean>`${sql.ref('indicator_number')} = any(${`{${[...byNumber.keys()].join()}}`}::bigint[])`,
    )
    .execute();
  const sources = await loadSources(db, new Set(rows.map(({ source_id }) => source_id)));
  for (const row of rows) {
    const source = sources.get(row.source_id);
    if (source)
      byNumber.get(row.indicator_number)?.statements.set(row.source_id, { source, ...statementOf(row) });
  }
}

async function addLastSources(db: Db, known: Known): Promise<void> {
  const unstated = [...known.values()].filter(({ statements }) => statements.size === 0);
  if (unstated.length === 0) return;
  const sources = await loadSources(db, new Set(unstated.flatMap(({ stored }) => stored?.sourceId ?? [])));
  for (const indicator of unstated)
    indicator.lastSource = sources.get(indicator.stored?.sourceId ?? '') ?? null;
}

/** Returns the statement of a row, also of one that was stored as JSON, whose dates are text. */
export function statementOf(row: Tables['indicator_source']): Statement {
  return {
    statedAt: momentOf(row.stated_at),
    firstSeen: momentOf(row.first_seen),
    lastSeen: momentOf(row.last_seen),
    importedAt: new Date(row.imported_at),
    expiresAt: momentOf(row.expires_at),
    confidence: row.confidence,
    severity: row.severity,
    tlp: row.tlp,
    tags: row.tags,
    forDetection: row.for_detection,
    // Rows that were stored as JSON before a column existed lack it.
    ofCertificate: row.of_certificate ?? false,
    files: row.files ?? [],
    delistedAt: momentOf(row.delisted_at),
    // Rows that were stored before records were marked have the mark of the whole statement.
    records: markedRecords(row.records ?? [], { forDetection: row.for_detection }),
    kev: row.kev ?? null,
  };
}

const momentOf = (moment: Date | null) => moment && new Date(moment);

async function addScores(db: Db, ids: readonly string[], known: Known): Promise<void> {
  const rows = await db
    .selectFrom('enrichment')
    .select(['indicator_id', 'score'])
    .where(isOneOf('indicator_id', ids))
    .where('error', 'is', null)
    .where('score', 'is not', null)
    .execute();
  for (const { indicator_id, score } of rows) known.get(indicator_id)?.scores.push(score ?? 0);
}

async function addExternalIds(db: Db, ids: readonly string[], known: Known): Promise<void> {
  const rows = await db
    .selectFrom('external_id')
    .select(['entity_id', 'external_id'])
    .where(isOneOf('entity_id', ids))
    .execute();
  for (const { entity_id, external_id } of rows) known.get(entity_id)?.externalIds.add(external_id);
}

/** Rows to write, in the form in which they are sent. Making it takes longest, and needs no lock. */
export interface PreparedIndicators {
  writes: readonly IndicatorWrite[];
  /** null: there are none. */
  fresh: RawBuilder<unknown> | null;
  changed: RawBuilder<unknown> | null;
}

export function prepareIndicators(writes: readonly IndicatorWrite[]): PreparedIndicators {
  const prepared = (rows: IndicatorWrite[]) =>
    rows.length > 0 ? recordset(rows.sort(byKey('id')), INDICATOR_COLUMNS) : null;
  return {
    writes,
    fresh: prepared(writes.filter(({ newPlace }) => newPlace !== null)),
    changed: prepared(writes.filter(({ newPlace }) => newPlace === null)),
  };
}

/** Writes rows sorted by id. Must be called under the lock of the revision; the caller advances it. */
export async function writeIndicators(
  trx: Transaction<Tables>,
  { writes, fresh, changed }: PreparedIndicators,
  lock: Pick<RevisionLock, 'next' | 'lastNumber'>,
  now: Date,
): Promise<void> {
  if (fresh) await insertIndicators(trx, fresh, lock, now);
  await writePrefixes(
    trx,
    writes.filter(({ newPlace }) => newPlace !== null),
  );
  if (changed) await updateIndicators(trx, changed, lock.next, now);
  await writeHits(trx, writes);
}

async function writePrefixes(trx: Transaction<Tables>, fresh: readonly IndicatorWrite[]): Promise<void> {
  const networks = fresh.filter(({ type, value }) => (type === 'IPV4' || type === 'IPV6') && isBlock(value));
  if (networks.length === 0) return;
  const prefixes = networks.map(({ type, value }) => ({ type, length: prefixLength(value) }));
  await trx
    .insertInto('network_prefix')
    .values([...new Map(prefixes.map((prefix) => [`${prefix.type} ${prefix.length}`, prefix])).values()])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

const INDICATOR_COLUMNS: Record<string, Column<IndicatorWrite>> = {
  id: ['uuid', ({ id }) => id],
  new_place: ['bigint', ({ newPlace }) => newPlace],
  type: ['indicator_type', ({ type }) => type],
  value: ['text', ({ value }) => value],
  normalized: ['text', ({ normalized }) => normalized],
  search_text: ['text', ({ normalized }) => ownSearchText(normalized)],
  confidence: ['smallint', ({ shown }) => shown.confidence],
  pinned_confidence: ['smallint', ({ shown }) => shown.pinned],
  severity: ['severity', ({ shown }) => shown.severity],
  tlp: ['tlp', ({ shown }) => shown.tlp],
  tags: ['text[]', ({ shown }) => shown.tags],
  source_id: ['uuid', ({ shown }) => shown.sourceId],
  first_seen: ['timestamptz', ({ shown }) => shown.firstSeen],
  last_seen: ['timestamptz', ({ shown }) => shown.lastSeen],
  expires_at: ['timestamptz', ({ shown }) => shown.expiresAt],
  for_detection: ['boolean', ({ shown }) => shown.forDetection],
  of_certificate: ['boolean', ({ shown }) => shown.ofCertificate],
  has_records: ['boolean', ({ shown }) => shown.hasRecords],
  kev: ['jsonb', ({ shown }) => shown.kev],
  whitelisted: ['boolean', ({ shown }) => shown.suppressedBy !== null],
  whitelisted_parts: ['text[]', ({ shown }) => unlessEmpty(shown.whitelistedParts)],
};

/** Returns the searched text; null: it is the normalized value. */
function ownSearchText(normalized: string): string | null {
  const text = searchText(normalized);
  return text === normalized ? null : text;
}

const unlessEmpty = (values: readonly unknown[]) => (values.length === 0 ? null : values);

async function insertIndicators(
  trx: Transaction<Tables>,
  recordset: RawBuilder<unknown>,
  { next, lastNumber }: Pick<RevisionLock, 'next' | 'lastNumber'>,
  now: Date,
): Promise<void> {
  await sql`
    insert into indicator (id, number, type, value, normalized, search_text, confidence, pinned_confidence, severity, tlp, tags,
      source_id, first_seen, last_seen, expires_at, for_detection, of_certificate, has_records, kev, whitelisted, whitelisted_parts,
      created_at, revision, epss)
    select id, ${lastNumber}::bigint + new_place, type, value, normalized, search_text, confidence, pinned_confidence, severity, tlp, tags,
      source_id, first_seen, last_seen, expires_at, for_detection, of_certificate, has_records, kev, whitelisted, whitelisted_parts,
      ${now}::timestamptz, ${next}::bigint, ${SCORE_OF_NEW}
    from ${recordset}
  `.execute(trx);
}

async function updateIndicators(
  trx: Transaction<Tables>,
  recordset: RawBuilder<unknown>,
  revision: number,
  now: Date,
): Promise<void> {
  await sql`
    update indicator set value = x.value, confidence = x.confidence, pinned_confidence = x.pinned_confidence,
      severity = x.severity, tlp = x.tlp, tags = x.tags, source_id = x.source_id, first_seen = x.first_seen, last_seen = x.last_seen, expires_at = x.expires_at,
      for_detection = x.for_detection, of_certificate = x.of_certificate, has_records = x.has_records, kev = x.kev,
      whitelisted = x.whitelisted, whitelisted_parts = x.whitelisted_parts,
      revision = ${revision}::bigint, version = indicator.version + 1, modified_at = ${nextModifiedAt('indicator', now)}
    from ${recordset} where indicator.id = x.id
  `.execute(trx);
}

const HIT_COLUMNS: Record<string, Column<WhitelistHit & { id: string }>> = {
  indicator_id: ['uuid', ({ id }) => id],
  list_id: ['uuid', ({ listId }) => listId],
  entry: ['text', ({ entry }) => entry],
};

async function writeHits(trx: Transaction<Tables>, writes: readonly IndicatorWrite[]): Promise<void> {
  const changing = writes.filter(({ whitelistHitChanged }) => whitelistHitChanged);
  if (changing.length === 0) return;
  const ids = changing.map(({ id }) => id);
  await trx.deleteFrom('whitelist_hit').where(isOneOf('indicator_id', ids)).execute();
  const hits = changing.flatMap(({ id, shown: { suppressedBy } }) =>
    suppressedBy ? [{ id, ...suppressedBy }] : [],
  );
  await sql`
    insert into whitelist_hit (indicator_id, list_id, entry) select * from ${recordset(hits, HIT_COLUMNS)}
  `.execute(trx);
}

/** Returns statements in the form in which they are sent; null: there are none. */
export function prepareStatements(writes: readonly StatementWrite[]): RawBuilder<unknown> | null {
  return writes.length > 0 ? recordset(writes.toSorted(byKey('indicatorId')), STATEMENT_COLUMNS) : null;
}

/**
 * Writes statements.
 * @param added whether there are none of these sources about these indicators yet
 */
export async function writeStatements(
  trx: Transaction<Tables>,
  statements: RawBuilder<unknown> | null,
  added = false,
): Promise<void> {
  if (statements === null) return;
  const replace = sql`
    on conflict (indicator_number, source_id) do update set stated_at = excluded.stated_at,
      first_seen = excluded.first_seen, last_seen = excluded.last_seen, imported_at = excluded.imported_at,
      expires_at = excluded.expires_at, confidence = excluded.confidence, severity = excluded.severity,
      tlp = excluded.tlp, tags = excluded.tags, for_detection = excluded.for_detection,
      delisted_at = excluded.delisted_at, of_certificate = excluded.of_certificate, records = excluded.records,
      files = excluded.files, kev = excluded.kev`;
  const { indicator_id: _, ...columns } = STATEMENT_COLUMNS;
  const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)));
  // Without a row, the number of its indicator is null, which violates a constraint.
  await sql`
    insert into indicator_source (indicator_number, ${names})
    select (select number from indicator where id = x.indicator_id), ${names}
    from ${statements} ${added ? sql`` : replace}
  `.execute(trx);
}

const STATEMENT_COLUMNS = {
  indicator_id: ['uuid', ({ indicatorId }) => indicatorId],
  source_id: ['uuid', ({ sourceId }) => sourceId],
  stated_at: ['timestamptz', ({ statement }) => statement.statedAt],
  first_seen: ['timestamptz', ({ statement }) => statement.firstSeen],
  last_seen: ['timestamptz', ({ statement }) => statement.lastSeen],
  imported_at: ['timestamptz', ({ statement }) => statement.importedAt],
  expires_at: ['timestamptz', ({ statement }) => statement.expiresAt],
  confidence: ['smallint', ({ statement }) => statement.confidence],
  severity: ['severity', ({ statement }) => statement.severity],
  tlp: ['tlp', ({ statement }) => statement.tlp],
  tags: ['text[]', ({ statement }) => statement.tags],
  for_detection: ['boolean', ({ statement }) => statement.forDetection],
  delisted_at: ['timestamptz', ({ statement }) => statement.delistedAt],
  of_certificate: ['boolean', ({ statement }) => statement.ofCertificate],
  records: ['jsonb', ({ statement }) => unlessEmpty(statement.records)],
  files: ['uuid[]', ({ statement }) => unlessEmpty(statement.files)],
  kev: ['jsonb', ({ statement }) => statement.kev],
} as const satisfies Record<string, Column<StatementWrite>>;

function byKey<K extends string>(key: K) {
  return (a: Record<K, string>, b: Record<K, string>) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0);
}

/** Returns the indicators with these ids for operators, without a visibility predicate. */
export async function findIdentities(
  db: Db,
  ids: readonly string[],
): Promise<{ id: string; type: IndicatorType; value: string }[]> {
  return db
    .selectFrom('indicator')
    .select(['id', 'type', 'value'])
    .where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
    .execute();
}
