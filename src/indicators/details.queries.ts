import { type SqlBool, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Principal, visibleToAnalyst } from '../db/visibility.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { STATES } from './indicators.app.schema.ts';
import {
  type IndicatorFilters,
  type IndicatorRow,
  matching,
  type SortedPage,
} from './read/indicators.queries.ts';
import { readSortedPage } from './read/sorted-list.queries.ts';

export type State = (typeof STATES)[number];

/** Returns the visibility predicate of a state; undefined: that of the API. */
function visibilityOf(state: State, principal: Principal) {
  if (state === 'visible' || state === 'pinned') return undefined;
  const under = visibleToAnalyst('indicator', principal);
  if (state === 'whitelisted') return sql<SqlBool>`(${under} and indicator.whitelisted)`;
  return sql<SqlBool>`(${under} and not indicator.whitelisted and indicator.expires_at <= ${principal.now}::timestamptz)`;
}

export type AnalystRow = IndicatorRow & { pinned: boolean };

/** Returns a page of the indicators in a state, and their total. */
export async function listInState(
  db: Db,
  principal: Principal,
  filters: IndicatorFilters,
  page: SortedPage,
  state: State,
): Promise<{ total: number; rows: AnalystRow[] }> {
  const wanted = state === 'pinned' ? { ...filters, pinned: true as const } : filters;
  const pinned = sql<{ pinned: boolean }>`indicator.pinned_confidence is not null as pinned`;
  const of = { principal, filters: wanted, page, visibility: visibilityOf(state, principal) };
  const { total, rows } = await readSortedPage(db, of, pinned);
  return { total, rows };
}

/** Returns columns of an indicator that its context lacks. It does not check whether the indicator is visible. */
export async function findAdditionalColumns(db: Db, id: string) {
  return db
    .selectFrom('indicator')
    .select(['created_at as createdAt', 'modified_at as modifiedAt', 'whitelisted'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

/**
 * Returns the whitelist entry, of a list or of an operator, that suppresses the indicator. All columns of an
 * entry above the caller's TLP ceiling are null.
 */
export async function findSuppressingEntry(db: Db, id: string, { tlpCeiling }: Principal) {
  const known = knownUpTo(tlpCeiling);
  return db
    .selectFrom('whitelist_hit as hit')
    .leftJoin('whitelist as list', 'list.id', 'hit.list_id')
    .leftJoin('whitelist_entry as own', (join) => join.on(IS_OWN_ENTRY))
    .select('list.name as list')
    .select([known<string>('hit.entry').as('entry'), known<string>('own.id').as('entryId')])
    .select([known<string>('own.reason').as('reason'), known<string>('own.added_by').as('addedBy')])
    .select(known<Date>('own.added_at').as('addedAt'))
    .where('hit.indicator_id', '=', id)
    .executeTakeFirst();
}

const IS_OWN_ENTRY = sql<SqlBool>`own.id::text = hit.list_id::text`;

/** Returns a function for columns of the whitelist entry `own`, null above the ceiling. */
function knownUpTo(tlpCeiling: Tlp) {
  const mayKnow = sql<boolean>`coalesce(own.tlp <= ${tlpCeiling}::tlp, true)`;
  return <T>(column: string) => sql<T | null>`case when ${mayKnow} then ${sql.ref(column)} end`;
}

/** An indicator that the API hides, and why. */
export type HiddenIndicator = Awaited<ReturnType<typeof findHidden>>[number];

/** Returns those of these indicators that are whitelisted or have expired, for analysts. */
export async function findHidden(db: Db, principal: Principal, ids: readonly string[]) {
  const known = knownUpTo(principal.tlpCeiling);
  const isExpired = sql<SqlBool>`indicator.expires_at <= ${principal.now}::timestamptz`;
  return matching(db, principal, {}, visibleToAnalyst('indicator', principal))
    .leftJoin('whitelist_hit as hit', 'hit.indicator_id', 'indicator.id')
    .leftJoin('whitelist as list', 'list.id', 'hit.list_id')
    .leftJoin('whitelist_entry as own', (join) => join.on(IS_OWN_ENTRY))
    .select([
      'indicator.id',
      'indicator.type',
      'indicator.value',
      'indicator.whitelisted',
      'list.name as list',
    ])
    .select([known<string>('hit.entry').as('entry'), 'indicator.expires_at as expiresAt'])
    .where(sql<SqlBool>`indicator.id = any(${[...ids]}::uuid[])`)
    .where(sql<SqlBool>`(indicator.whitelisted or ${isExpired})`)
    .execute();
}

/** Returns the providers with a queued look-up of the indicator. */
export async function findPendingProviders(db: Db, id: string): Promise<string[]> {
  const rows = await db
    .selectFrom('enrichment_request')
    .select('provider')
    .where('indicator_id', '=', id)
    .orderBy('provider')
    .execute();
  return rows.map(({ provider }) => provider);
}

/**
 * Returns the indicators with these ids, then others whose value contains the text, without a count of all
 * matches.
 * @param seesHidden whether to include whitelisted and expired indicators with these ids
 */
export async function searchIndicators(
  db: Db,
  principal: Principal,
  {
    q,
    ids,
    includeSuppressed,
    most,
  }: { q: string; ids: readonly string[]; includeSuppressed: boolean; most: number },
) {
  const columns = ['id', 'type', 'value'] as const;
  const isHidden = sql<boolean>`(indicator.whitelisted
    or (indicator.expires_at is not null and indicator.expires_at <= ${principal.now}::timestamptz))`;
  const exact = await matching(
    db,
    principal,
    {},
    includeSuppressed ? visibleToAnalyst('indicator', principal) : undefined,
  )
    .select(columns)
    .select(isHidden.as('hidden'))
    .where(sql<SqlBool>`id = any(${[...ids]}::uuid[])`)
    .orderBy('id')
    .execute();
  const others = await matching(db, principal, { q })
    .select(columns)
    .select(sql<boolean>`false`.as('hidden'))
    .limit(most + exact.length)
    .execute();
  const known = new Set(exact.map(({ id }) => id));
  return [...exact, ...others.filter(({ id }) => !known.has(id))].slice(0, most);
}
