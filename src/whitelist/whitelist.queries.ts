import { sql, type Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import { uuidArray } from '../db/recordset.ts';
import type { Tables } from '../db/tables.ts';
import { type Principal, visible, visibleToAnalyst } from '../db/visibility.ts';
import type { IndicatorType, Tlp } from '../model/vocabulary.ts';
import type { OperatorEntryRule } from './matching/entry.ts';

/** A list as stored in the database. */
export interface StoredList {
  id: string;
  name: string;
  description: string;
  /** The version that MISP gives the list. */
  version: string | null;
  /** Whether the list comes with Tipline. */
  shipped: boolean;
  enabled: boolean;
  /** The list in MISP's format. */
  content: unknown;
  updatedAt: Date;
}

/** An entry that an operator added. */
export interface OperatorEntry extends OperatorEntryRule {
  id: string;
  reason: string;
  addedBy: string;
  addedAt: Date;
  /**
   * Marking of the indicator with this value: callers who may not see that indicator may not see this entry.
   */
  tlp: Tlp;
}

/** Returns the current edition, which changes with every change of the lists and entries. */
export async function readEdition(db: Db): Promise<Edition> {
  return db
    .selectFrom('whitelist_state')
    .select(['edition', 'lists_edition as listsEdition', 'applied', 'position'])
    .executeTakeFirstOrThrow();
}

export interface Edition {
  edition: string;
  /** Changes only with the lists, not with operator entries. */
  listsEdition: string;
  /** The edition that all indicators have been evaluated against. */
  applied: string | null;
  /** The last indicator that has been evaluated against a newer edition. */
  position: string | null;
}

export async function newEdition(trx: Transaction<Tables>): Promise<string> {
  const { edition } = await trx
    .updateTable('whitelist_state')
    .set({ edition: sql`gen_random_uuid()`, position: null })
    .returning('edition')
    .executeTakeFirstOrThrow();
  return edition;
}

async function newListsEdition(trx: Transaction<Tables>): Promise<void> {
  await trx.updateTable('whitelist_state').set({ lists_edition: sql`gen_random_uuid()` }).execute();
}

/**
 * Records that all indicators have been evaluated against `edition`, unless there is a newer edition by now.
 */
export async function markApplied(db: Db, edition: string): Promise<void> {
  await db.updateTable('whitelist_state').set({ applied: edition }).where('edition', '=', edition).execute();
}

export async function markPosition(db: Db, edition: string, position: string): Promise<void> {
  await db.updateTable('whitelist_state').set({ position }).where('edition', '=', edition).execute();
}

const LIST_COLUMNS = [
  'id',
  'name',
  'description',
  'list_version as version',
  'shipped',
  'enabled',
  'updated_at as updatedAt',
] as const;

export async function findLists(db: Db): Promise<Omit<StoredList, 'content'>[]> {
  return db.selectFrom('whitelist').select(LIST_COLUMNS).orderBy('name').execute();
}

/** Returns the enabled lists, by name. */
export async function findEnabledLists(db: Db): Promise<{ id: string; content: unknown }[]> {
  return db
    .selectFrom('whitelist')
    .select(['id', 'content'])
    .where('enabled', '=', true)
    .orderBy('name')
    .execute();
}

/** Returns whether a list is enabled, and its content; undefined: there is none with this id. */
export async function findListContent(
  db: Db,
  id: string,
): Promise<{ enabled: boolean; content: unknown } | undefined> {
  return db.selectFrom('whitelist').select(['enabled', 'content']).where('id', '=', id).executeTakeFirst();
}

/** Inserts a list, or replaces the one with its id; an existing list stays enabled or disabled. */
export async function writeList(trx: Transaction<Tables>, list: StoredList): Promise<void> {
  const values = {
    name: list.name,
    description: list.description,
    list_version: list.version,
    content: JSON.stringify(list.content),
    updated_at: list.updatedAt,
  };
  await trx
    .insertInto('whitelist')
    .values({ id: list.id, shipped: list.shipped, enabled: list.enabled, ...values })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
    .execute();
  await newListsEdition(trx);
}

export async function setEnabled(trx: Transaction<Tables>, id: string, enabled: boolean): Promise<void> {
  await trx.updateTable('whitelist').set({ enabled }).where('id', '=', id).execute();
  await newListsEdition(trx);
}

export async function deleteList(trx: Transaction<Tables>, id: string): Promise<void> {
  await trx.deleteFrom('whitelist').where('id', '=', id).execute();
  await newListsEdition(trx);
}

const ENTRY_COLUMNS = [
  'id',
  'kind',
  'entry',
  'types',
  'reason',
  'added_by as addedBy',
  'added_at as addedAt',
  'tlp',
] as const;

export async function findEntries(db: Db): Promise<OperatorEntry[]> {
  const rows = await db
    .selectFrom('whitelist_entry')
    .select(ENTRY_COLUMNS)
    .orderBy('entry')
    .orderBy('id')
    .execute();
  // The cast is safe: only `writeEntry` writes these rows.
  return rows as unknown as OperatorEntry[];
}

export async function writeEntry(trx: Transaction<Tables>, entry: OperatorEntry): Promise<void> {
  await trx
    .insertInto('whitelist_entry')
    .values({
      id: entry.id,
      kind: entry.kind,
      entry: entry.entry,
      types: [...entry.types],
      reason: entry.reason,
      added_by: entry.addedBy,
      added_at: entry.addedAt,
      tlp: entry.tlp,
    })
    .execute();
}

/** @returns whether there was such an entry */
export async function deleteEntry(trx: Transaction<Tables>, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx.deleteFrom('whitelist_entry').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Returns the number of indicators that each list or operator entry hides. */
export async function countHits(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('whitelist_hit')
    .select(['list_id', (eb) => eb.fn.countAll<number>().as('count')])
    .groupBy('list_id')
    .execute();
  return new Map(rows.map(({ list_id, count }) => [list_id, count]));
}

/** Returns the most restricted marking of these indicators up to the TLP ceiling; null for none. */
export async function findMaxTlp(db: Db, ids: readonly string[], principal: Principal): Promise<Tlp | null> {
  const { tlp } = await db
    .selectFrom('indicator')
    .select(sql<Tlp | null>`max(tlp)`.as('tlp'))
    .where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
    .where(visibleToAnalyst('indicator', principal))
    .executeTakeFirstOrThrow();
  return tlp;
}

/** Returns the indicators that an entry hides, up to the caller's TLP ceiling. */
export async function findHitsOf(db: Db, entryId: string, principal: Principal): Promise<string[]> {
  const rows = await db
    .selectFrom('whitelist_hit as hit')
    .innerJoin('indicator', 'indicator.id', 'hit.indicator_id')
    .select('indicator.id')
    .where('hit.list_id', '=', entryId)
    .where(visibleToAnalyst('indicator', principal))
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns how many of these indicators every caller with the same TLP ceiling may see. */
export async function countVisible(db: Db, ids: readonly string[], principal: Principal): Promise<number> {
  const { count } = await db
    .selectFrom('indicator')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
    .where(visible('indicator', principal))
    .executeTakeFirstOrThrow();
  return count;
}

/** An indicator, and the entry that hides it now. */
export interface IndicatorMatch {
  id: string;
  type: IndicatorType;
  normalized: string;
  list_id: string | null;
  entry: string | null;
  whitelisted_parts: string[] | null;
}

const indicatorMatches = sql`
  select indicator.id, indicator.type, indicator.normalized, hit.list_id, hit.entry, indicator.whitelisted_parts
  from indicator left join whitelist_hit as hit on hit.indicator_id = indicator.id`;

/** Returns the next `most` indicators after the given one, by id. */
export async function indicatorsAfter(db: Db, id: string, most: number): Promise<IndicatorMatch[]> {
  const { rows } = await sql<IndicatorMatch>`
    ${indicatorMatches} where indicator.id > ${id}::uuid order by indicator.id limit ${most}
  `.execute(db);
  return rows;
}

/** Returns the indicators with these ids. */
export async function indicatorsOf(db: Db, ids: readonly string[]): Promise<IndicatorMatch[]> {
  const { rows } = await sql<IndicatorMatch>`
    ${indicatorMatches} where indicator.id = any(${uuidArray(ids)})
  `.execute(db);
  return rows;
}

/** Returns the next `most` indicators after the given one that a list or entry hides, by id. */
export async function findHiddenIds(db: Db, listId: string, after: string, most: number): Promise<string[]> {
  const rows = await db
    .selectFrom('whitelist_hit')
    .select('indicator_id')
    .where('list_id', '=', listId)
    .where('indicator_id', '>', after)
    .orderBy('indicator_id')
    .limit(most)
    .execute();
  return rows.map(({ indicator_id }) => indicator_id);
}
