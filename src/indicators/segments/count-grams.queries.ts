import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { TLPS, type Tlp } from '../../model/vocabulary.ts';
import { type CountedGram, createGramCounter } from './gram-counter.ts';

/** The latest indicators of a gram that are listed by their numbers, at least; with four times as many they are chosen again. */
export const KEPT = 500;
/** The share of all indicators from which on none are listed: scanning the list finds a page at once. */
const COMMON = 1 / 50;
const ROWS_AT_ONCE = 10_000;
/** Written by a statement, as JSON. */
const NUMBERS_AT_ONCE = 200_000;

interface TextRow {
  text: string;
  tlp: Tlp;
  n: number;
  number: number;
  seen: number;
}

/** Counts the grams of all indicators that are visible at a time, except for the ceiling. */
export async function countAllGrams(trx: Transaction<Tables>, now: Date, kept: number): Promise<void> {
  await sql`delete from list_gram`.execute(trx);
  const rows = sql`select coalesce(search_text, normalized) as text, tlp, 1 as n, number, ${SEEN} from indicator
    where not whitelisted and (expires_at is null or expires_at > ${sql.lit(now.toISOString())}::timestamptz)`;
  await writeGrams(trx, await countGrams(trx, rows, kept));
  await sql`
    update list_gram set numbers = null
    where (select sum(n) from unnest(counts) as n) > ${COMMON}::float8 * (
      select coalesce(sum(counts[1] + counts[2] + counts[3] + counts[4] + counts[5]), 0) from list_segment)`.execute(
    trx,
  );
}

/** Applies the changes since the grams were counted. */
export async function applyToGrams(
  trx: Transaction<Tables>,
  now: Date,
  most: number,
  kept: number,
): Promise<void> {
  const rows = sql`select text, tlp, n, number, ${SEEN}
    from list_changes(${sql.lit(now.toISOString())}::timestamptz, ${sql.lit(most)})`;
  await writeGrams(trx, await countGrams(trx, rows, kept));
  await sql`
    update list_gram as g set numbers = latest.numbers, newer_than = latest.newer_than
    from list_gram as long, lateral (
      select array_agg(number) filter (where last_seen > bound) as numbers, bound as newer_than
      from (
        select number, last_seen, nth_value(last_seen, ${kept + 1}) over (order by last_seen desc rows between unbounded preceding and unbounded following) as bound
        from indicator where number = any(long.numbers) and not whitelisted
      ) as ordered
      where bound is not null
      group by bound
    ) as latest
    where cardinality(long.numbers) > ${4 * kept} and g.gram = long.gram`.execute(trx);
}

/** In milliseconds since 1970, rounded up. */
const SEEN = sql`ceil(extract(epoch from last_seen) * 1000)::float8 as seen`;

async function countGrams(
  trx: Transaction<Tables>,
  rows: RawBuilder<unknown>,
  kept: number,
): Promise<Iterable<CountedGram>> {
  const counter = createGramCounter(kept);
  // A cursor, because the rows do not fit into memory.
  await sql`declare gram_text no scroll cursor for ${rows}`.execute(trx);
  for (;;) {
    const { rows: some } = await sql<TextRow>`fetch ${sql.lit(ROWS_AT_ONCE)} from gram_text`.execute(trx);
    for (const { text, tlp, n, number, seen } of some)
      counter.count(text, TLPS.indexOf(tlp), n, { number, seen });
    if (some.length < ROWS_AT_ONCE) break;
  }
  await sql`close gram_text`.execute(trx);
  return counter.grams();
}

async function writeGrams(trx: Transaction<Tables>, grams: Iterable<CountedGram>): Promise<void> {
  let pending: object[] = [];
  let size = 0;
  const write = async () => {
    await sql`
      insert into list_gram as known
      select * from json_to_recordset(${JSON.stringify(pending)}::json)
        as x (gram text, counts integer[], numbers bigint[], newer_than timestamptz)
      on conflict (gram) do update set
        counts = array(
          select was + change from unnest(known.counts, excluded.counts) with ordinality as both_of (was, change, place) order by place),
        numbers = case when known.numbers is not null
          then array(select unnest(known.numbers) union select unnest(excluded.numbers)) end,
        newer_than = greatest(known.newer_than, excluded.newer_than)`.execute(trx);
    pending = [];
    size = 0;
  };
  for (const { newerThan, ...gram } of grams) {
    const time = Number.isFinite(newerThan) ? new Date(newerThan).toISOString() : '-infinity';
    pending.push({ ...gram, newer_than: time });
    size += 20 + gram.numbers.length;
    if (size > NUMBERS_AT_ONCE) await write();
  }
  if (pending.length > 0) await write();
}
