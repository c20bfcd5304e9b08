import { bulkhead } from 'cockatiel';
import type { ChangeFeed } from '../../changes/change-feed.ts';
import type { Clock } from '../../clock.ts';
import type { Db } from '../../db/database.ts';
import type { Principal } from '../../db/visibility.ts';
import { ApiError } from '../../http/errors.ts';
import { type Outbound, OutboundError } from '../../outbound/outbound.ts';
import { retryAfter } from '../../outbound/with-retry.ts';
import type { SecretBox } from '../../secrets/secret-box.ts';
import { collectionOf, type Feed } from '../feed.ts';
import { findFeeds } from '../feeds.queries.ts';
import { currentCursor } from './current-cursor.ts';
import { type FeedChange, feedChange, nextAttemptAt, webhookMessage } from './message.ts';
import { dueWebhooks, findWebhook, type Webhook, writeOutcome } from './webhooks.queries.ts';
import { openWebhook } from './webhooks.service.ts';

export interface DeliveryDeps {
  db: Db;
  changes: ChangeFeed;
  outbound: Pick<Outbound, 'request'>;
  /** Decrypts URLs and keys of signatures. */
  secrets: SecretBox;
  clock: Clock;
  log: { warn(details: object, message: string): void };
}

/** Messages that are sent at once: a slow receiver must not delay the others. */
const MAX_AT_ONCE = 8;
/** The maximum number of ids in a message. */
const MAX_IDS = 10_000;
const TIMEOUT_MS = 15_000;
/** The maximum size of a response, in bytes; its content does not matter. */
const MAX_BYTES = 1_048_576;

/** Sends a message for each due webhook whose feed has changed since the last one that was delivered. */
export async function deliverWebhooks(
  deps: DeliveryDeps,
  stopped: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  const turns = bulkhead(MAX_AT_ONCE, Number.POSITIVE_INFINITY);
  const due = await dueWebhooks(deps.db, deps.clock());
  await Promise.all(
    due.map((id) => turns.execute(async () => (stopped() ? undefined : deliver(deps, id, signal)))),
  );
}

async function deliver(deps: DeliveryDeps, feedId: string, signal: AbortSignal): Promise<void> {
  const { db, clock } = deps;
  const webhook = await findWebhook(db, feedId);
  const [feed] = await findFeeds(db, [feedId]);
  if (!webhook || !feed) return;
  const now = clock();
  try {
    const change = await changeSince(deps, feed, webhook.cursor, now);
    if (change.isComplete && change.upserted.length + change.removed.length === 0) {
      // A cursor is renewed every day.
      if (change.cursor !== webhook.cursor)
        await writeOutcome(db, webhook, { ...webhook, cursor: change.cursor });
      return;
    }
    const answer = await send(deps, feed, webhook, change, signal);
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
    if (!(error instanceof OutboundError || error instanceof ApiError)) throw error;
    await writeFailure(deps, feed, webhook, now, { reason: error.message, gone: false, notBefore: null });
  }
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
  cursor: string,
  now: Date,
): Promise<FeedChange> {
  const principal: Principal = { tlpCeiling: feed.tlpCeiling, now };
  const collection = collectionOf(feed);
  const end = () => currentCursor(db, changes, feed, now);
  try {
    const found = await changes.next({ cursor, limit: MAX_IDS, ...collection }, principal, 0, () => true);
    return feedChange(cursor, found, found.hasMore ? await end() : null);
  } catch (error) {
    // The feed has been changed, or its history is lost: the receiver must read it anew.
    if (!(error instanceof ApiError && error.code === 'gone')) throw error;
    return feedChange(cursor, { changes: [], cursor, hasMore: false }, await end());
  }
}

async function send(
  { outbound, secrets, clock }: DeliveryDeps,
  feed: Feed,
  webhook: Webhook,
  change: FeedChange,
  signal: AbortSignal,
) {
  const { url, secret } = openWebhook(secrets, webhook.sealed);
  const { body, headers } = webhookMessage(feed, change, secret, clock());
  return outbound.request({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    credentials: headers,
    body,
    redirect: 'return',
    maxBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
    signal,
  });
}
