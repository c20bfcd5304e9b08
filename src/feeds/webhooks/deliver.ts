import { bulkhead } from 'cockatiel';
import type { ChangeFeed, Changes } from '../../changes/change-feed.ts';
import type { Change } from '../../changes/indicator-changes.ts';
import type { Clock } from '../../clock.ts';
import type { Db } from '../../db/database.ts';
import { ApiError } from '../../http/errors.ts';
import { type Outbound, OutboundError } from '../../outbound/outbound.ts';
import { retryAfter } from '../../outbound/with-retry.ts';
import { type SecretBox, SecretError } from '../../secrets/secret-box.ts';
import { collectionOf, type Feed, readerOf } from '../feed.ts';
import { findFeeds } from '../feeds.queries.ts';
import { currentCursor } from './current-cursor.ts';
import { type FeedChange, feedChange, nextAttemptAt, webhookMessage } from './message.ts';
import { dueWebhooks, findWebhook, type Webhook, writeOutcome } from './webhooks.queries.ts';
import { openWebhook } from './webhooks.service.ts';

export interface DeliveryDeps {
  db: Db;
  changes: ChangeFeed;
  outbound: Pick<Outbound, 'send'>;
  /** Decrypts URLs and keys of signatures. */
  secrets: SecretBox;
  clock: Clock;
  log: Record<'warn' | 'error', (details: object, message: string) => void>;
}

/** Messages that are sent at once: a slow receiver must not delay the others. */
const MAX_AT_ONCE = 8;
/** The maximum number of ids in a message. */
const MAX_IDS = 10_000;
const TIMEOUT_MS = 15_000;

/** Sends a message for each due webhook whose feed has changed since the last one that was delivered. */
export async function deliverWebhooks(
  deps: DeliveryDeps,
  stopped: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  const turns = bulkhead(MAX_AT_ONCE, Number.POSITIVE_INFINITY);
  const due = await dueWebhooks(deps.db, deps.clock());
  const results = await Promise.allSettled(
    due.map((id) => turns.execute(async () => (stopped() ? undefined : deliver(deps, id, signal)))),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

async function deliver(deps: DeliveryDeps, feedId: string, signal: AbortSignal): Promise<void> {
  const { db, clock } = deps;
  const webhook = await findWebhook(db, feedId);
  const [feed] = await findFeeds(db, [feedId]);
  if (!webhook || !feed) return;
  const now = clock();
  try {
    const target = openWebhook(deps.secrets, webhook.sealed);
    const change = await changeSince(deps, feed, webhook, now, signal);
    if (change.isComplete && change.upserted.length + change.removed.length === 0) {
      // A cursor is renewed every day; and a message that could not be delivered may have become needless.
      if (change.cursor !== webhook.cursor || webhook.failures > 0) {
        const { nextAttemptAt: due } = webhook;
        const { cursor } = change;
        await writeOutcome(db, webhook, {
          cursor,
          nextAttemptAt: due,
          failures: 0,
          lastError: null,
          gone: false,
        });
      }
      return;
    }
    const answer = await send(deps, feed, target, change, signal);
    if (answer.status < 200 || answer.status > 299)
      return await writeFailure(deps, feed, webhook, now, {
        reason: `the receiver answered ${answer.status}`,
        gone: answer.status === 410,
        notBefore: retryAfter(answer.headers, undefined, now),
      });
    await writeOutcome(db, webhook, {
      cursor: change.cursor,
      nextAttemptAt: new Date(now.getTime() + webhook.intervalSeconds * 1000),
      failures: 0,
      lastAttemptAt: now,
      lastSuccessAt: now,
      lastError: null,
      gone: false,
    });
  } catch (error) {
    if (signal.aborted) return;
    const reason = reasonOf(error);
    if (reason === null) deps.log.error({ err: error, feed: feed.slug }, 'a webhook failed');
    await writeFailure(deps, feed, webhook, now, {
      reason: reason ?? 'internal error; see the log',
      gone: false,
      notBefore: null,
    });
  }
}

/** Returns the reason of a failure for an operator; null: it is an internal error. */
function reasonOf(error: unknown): string | null {
  if (error instanceof SecretError) return 'TIPLINE_SECRET has changed: set the webhook again';
  return error instanceof OutboundError || error instanceof ApiError ? error.message : null;
}

async function writeFailure(
  { db, log }: DeliveryDeps,
  feed: Feed,
  webhook: Webhook,
  now: Date,
  { reason, gone, notBefore }: { reason: string; gone: boolean; notBefore: Date | null },
): Promise<void> {
  const failures = webhook.failures + 1;
  const next = nextAttemptAt(failures, now);
  await writeOutcome(db, webhook, {
    cursor: webhook.cursor,
    nextAttemptAt: notBefore && notBefore > next ? notBefore : next,
    failures,
    lastAttemptAt: now,
    lastError: reason,
    gone,
  });
  const { host } = webhook;
  log.warn({ feed: feed.slug, host, failures, reason }, 'a webhook could not be delivered');
}

/**
 * Returns the changes of a feed that follow a cursor. Those of a failed attempt are found anew, so that nothing is named that has
 * been hidden since.
 * @throws {ApiError} 400 for a feed whose query is not valid any more
 */
async function changeSince(
  { db, changes }: DeliveryDeps,
  feed: Feed,
  { cursor, tlpCeiling }: Webhook,
  now: Date,
  signal: AbortSignal,
): Promise<FeedChange> {
  const reader = readerOf(feed, { tlpCeiling, now });
  const collection = collectionOf(feed);
  const end = () => currentCursor(db, changes, feed, reader);
  try {
    let found: Changes<Change> = { changes: [], cursor, hasMore: true };
    // A page may have few changes if there are many that the feed does not have.
    while (found.hasMore && found.changes.length < MAX_IDS && !signal.aborted) {
      const limit = MAX_IDS - found.changes.length;
      const next = await changes.next(
        { ...collection, cursor: found.cursor, limit },
        reader,
        0,
        () => true,
        (change) => change,
      );
      found = { ...next, changes: [...found.changes, ...next.changes] };
    }
    return feedChange(cursor, found, found.hasMore ? await end() : null);
  } catch (error) {
    // The feed has been changed, or its history is lost: the receiver must read it anew.
    if (!(error instanceof ApiError && error.code === 'gone')) throw error;
    return feedChange(cursor, { changes: [], cursor, hasMore: false }, await end());
  }
}

async function send(
  { outbound, clock }: DeliveryDeps,
  feed: Feed,
  { url, secret }: ReturnType<typeof openWebhook>,
  change: FeedChange,
  signal: AbortSignal,
) {
  const { body, headers } = webhookMessage(feed, change, secret, clock());
  return outbound.send({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    credentials: headers,
    body,
    redirect: 'return',
    timeoutMs: TIMEOUT_MS,
    signal,
  });
}
