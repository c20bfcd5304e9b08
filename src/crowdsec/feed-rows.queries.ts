import { type SqlBool, sql } from 'kysely';
import type { CopiedRows } from '../changes/change-feed.ts';
import type { Collection } from '../changes/cursor.ts';
import type { Db } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import { type Selection, selected, written } from '../exports/selection.queries.ts';
import { collectionOf, type Feed, readerOf } from '../feeds/feed.ts';
import { findPrefixLengths } from '../indicators/read/indicators.queries.ts';
import { blocksAround } from '../model/address-ranges.ts';
import { indicatorId } from '../model/identity.ts';
import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import type { DecisionRow } from './decisions.ts';
import type { DueRenewals } from './renewal.ts';

/** What decisions are made of: addresses and networks that are for detection. */
export const ADDRESSES = { types: ['IPV4', 'IPV6'], detectionOnly: true } as const;

/** The indicators of a saved feed for a reader. */
export interface FeedRows extends CopiedRows {
  collection: Collection;
  principal: Principal;
}

/**
 * Returns the addresses and networks of a feed for a reader: up to the lower one of the two TLP ceilings.
 * @throws {ApiError} 400 for a query that the export does not accept
 */
export function rowsOf(feed: Feed, reader: Principal): FeedRows {
  const { filters, collection } = collectionOf(feed);
  const principal = readerOf(feed, reader);
  // With a limit, indicators that bouncers cannot express take places, too.
  if (collection.limit) return { filters, collection, principal };
  const { types = INDICATOR_TYPES } = filters;
  const addresses = ADDRESSES.types.filter((type) => types.includes(type));
  const wanted = filters.forDetection === false ? [] : addresses;
  return { filters: { ...filters, types: wanted, forDetection: true }, collection, principal };
}

/** Returns the rows as the selection of an export. */
export function selectionOf({ filters, collection: { limit }, principal }: FeedRows): Selection {
  const of = { types: INDICATOR_TYPES, detectionOnly: false };
  return { principal, filters, ...(limit && { limit: { ...limit, of } }) };
}

/** A row that is in a feed now. */
export type FeedRow = DecisionRow & { id: string; number: number };

const feedRows = (db: Db, rows: FeedRows) =>
  written(selected(db, selectionOf(rows)), ADDRESSES).select([
    'indicator.id',
    'indicator.number',
    'indicator.type',
    'indicator.value',
    'indicator.tags',
    'indicator.expires_at',
    'indicator.for_detection',
    'indicator.whitelisted_parts',
  ]);

/** Returns those of these indicators that are in a feed. */
export async function findRows(db: Db, rows: FeedRows, ids: readonly string[]): Promise<FeedRow[]> {
  if (ids.length === 0) return [];
  return feedRows(db, rows)
    .where(sql<SqlBool>`indicator.id = any(${[...ids]}::uuid[])`)
    .execute();
}

/** Returns the rows of a feed whose decisions are due to be sent again. */
export async function findDueRows(db: Db, rows: FeedRows, { from, before }: DueRenewals): Promise<FeedRow[]> {
  const isAfter = sql<SqlBool>`indicator.id >= ${from}::uuid`;
  const isBefore = sql<SqlBool>`indicator.id < ${before}::uuid`;
  const query = feedRows(db, rows);
  if (from < before) return query.where(isAfter).where(isBefore).execute();
  return query.where((eb) => eb.or([isAfter, isBefore])).execute();
}

/** Returns all rows of a feed in pages. */
export async function* allRows(db: Db, rows: FeedRows, pageSize: number): AsyncGenerator<FeedRow[]> {
  for (let last: string | null = null; ; ) {
    const page: FeedRow[] = await feedRows(db, rows)
      .$if(last !== null, (query) => query.where(sql<SqlBool>`indicator.id > ${last}::uuid`))
      .orderBy('indicator.id')
      .limit(pageSize)
      .execute();
    yield page;
    last = page.at(-1)?.id ?? null;
    if (page.length < pageSize) return;
  }
}

/** Returns the rows of feeds that may block one of these blocks, or addresses in it. */
export async function findRowsFor(
  db: Db,
  feeds: readonly FeedRows[],
  blocks: readonly string[],
): Promise<FeedRow[]> {
  if (blocks.length === 0) return [];
  const lengths = await findPrefixLengths(db);
  const ids = blocks.flatMap((block) => {
    const type = block.includes(':') ? 'IPV6' : 'IPV4';
    const around = blocksAround(block, lengths.get(type) ?? []);
    return [block, ...around].map((value) => indicatorId(type, value));
  });
  const found = new Map<string, FeedRow>();
  for (const feed of feeds)
    for (const row of await findRows(db, feed, [...new Set(ids)])) found.set(row.id, row);
  return [...found.values()];
}
