import type { Selectable } from 'kysely';
import { CLOCK_DIFFERENCE_MS } from '../../clock.ts';
import type { Db } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import type { Tlp } from '../../model/vocabulary.ts';

/** A URL that is called when a feed changes. */
export interface Webhook {
  feedId: string;
  /** The URL and the key of the signatures, encrypted. */
  sealed: string;
  /** The host and port of the URL. */
  host: string;
  /** There is no more than one message in so many seconds. */
  intervalSeconds: number;
  /** That of the feed when the webhook was set. */
  tlpCeiling: Tlp;
  cursor: string;
  nextAttemptAt: Date;
  /** Attempts that have failed since the last success. */
  failures: number;
  lastAttemptAt: Date | null;
  lastSuccessAt: Date | null;
  lastError: string | null;
  /** The receiver answered 410: there are no more attempts. */
  gone: boolean;
}

/** The members of a webhook that people see: the URL may have a token in its path. */
export type ShownWebhook = Omit<Webhook, 'feedId' | 'sealed' | 'tlpCeiling' | 'cursor'>;

export function shownWebhook({
  feedId: _,
  sealed: _sealed,
  cursor: _cursor,
  ...shown
}: Webhook): ShownWebhook {
  return shown;
}

type Outcome = Pick<Webhook, 'cursor' | 'nextAttemptAt' | 'failures' | 'lastError' | 'gone'> &
  Partial<Pick<Webhook, 'lastAttemptAt' | 'lastSuccessAt'>>;

function toWebhook(row: Selectable<Tables['feed_webhook']>): Webhook {
  return {
    feedId: row.feed_id,
    sealed: row.sealed,
    host: row.host,
    intervalSeconds: row.interval_seconds,
    tlpCeiling: row.tlp_ceiling,
    cursor: row.cursor,
    nextAttemptAt: row.next_attempt_at,
    failures: row.failures,
    lastAttemptAt: row.last_attempt_at,
    lastSuccessAt: row.last_success_at,
    lastError: row.last_error,
    gone: row.gone,
  };
}

/** Returns the webhooks, by the id of their feed. */
export async function listWebhooks(db: Db): Promise<Map<string, Webhook>> {
  const rows = await db.selectFrom('feed_webhook').selectAll().execute();
  return new Map(rows.map((row) => [row.feed_id, toWebhook(row)]));
}

export async function findWebhook(db: Db, feedId: string): Promise<Webhook | undefined> {
  const row = await db
    .selectFrom('feed_webhook')
    .selectAll()
    .where('feed_id', '=', feedId)
    .executeTakeFirst();
  return row && toWebhook(row);
}

/**
 * Returns the ids of the feeds whose webhook is due, the longest due first. A webhook is due whose last attempt is in the future, or that
 * was set there: the clock has been set back since, and the time of its next attempt is as wrong.
 */
export async function dueWebhooks(db: Db, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('feed_webhook')
    .select('feed_id')
    .where('gone', '=', false)
    .where(({ or, eb, fn }) =>
      or([
        eb('next_attempt_at', '<=', now),
        eb(
          fn.coalesce('last_attempt_at', 'next_attempt_at'),
          '>',
          new Date(now.getTime() + CLOCK_DIFFERENCE_MS),
        ),
      ]),
    )
    .orderBy('next_attempt_at')
    .execute();
  return rows.map(({ feed_id }) => feed_id);
}

/** Writes a webhook, instead of the one that the feed has. */
export async function writeWebhook(
  db: Db,
  {
    feedId,
    sealed,
    host,
    intervalSeconds,
    tlpCeiling,
    cursor,
    nextAttemptAt,
  }: Pick<
    Webhook,
    'feedId' | 'sealed' | 'host' | 'intervalSeconds' | 'tlpCeiling' | 'cursor' | 'nextAttemptAt'
  >,
): Promise<void> {
  await db.deleteFrom('feed_webhook').where('feed_id', '=', feedId).execute();
  await db
    .insertInto('feed_webhook')
    .values({
      feed_id: feedId,
      sealed,
      host,
      interval_seconds: intervalSeconds,
      tlp_ceiling: tlpCeiling,
      cursor,
      next_attempt_at: nextAttemptAt,
    })
    .execute();
}

export async function deleteWebhook(db: Db, feedId: string): Promise<void> {
  await db.deleteFrom('feed_webhook').where('feed_id', '=', feedId).execute();
}

/** Makes a webhook due. */
export async function makeDue(db: Db, feedId: string, now: Date): Promise<void> {
  await db
    .updateTable('feed_webhook')
    .set({ next_attempt_at: now, gone: false })
    .where('feed_id', '=', feedId)
    .execute();
}

/** Writes the outcome of an attempt, unless the webhook has been replaced or made due meanwhile. */
export async function writeOutcome(
  db: Db,
  { feedId, sealed, nextAttemptAt: due }: Webhook,
  outcome: Outcome,
): Promise<void> {
  const { cursor, nextAttemptAt, failures, lastError, gone, lastAttemptAt, lastSuccessAt } = outcome;
  await db
    .updateTable('feed_webhook')
    .set({
      cursor,
      next_attempt_at: nextAttemptAt,
      failures,
      last_error: lastError,
      gone,
      ...(lastAttemptAt && { last_attempt_at: lastAttemptAt }),
      ...(lastSuccessAt && { last_success_at: lastSuccessAt }),
    })
    .where('feed_id', '=', feedId)
    .where('sealed', '=', sealed)
    .where('next_attempt_at', '=', due)
    .execute();
}
