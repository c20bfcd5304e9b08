import { createHmac, randomBytes } from 'node:crypto';
import type { Changes } from '../../changes/change-feed.ts';
import type { Change } from '../../changes/indicator-changes.ts';
import { uuidv5 } from '../../model/identity.ts';
import type { Feed } from '../feed.ts';

const PREFIX = 'whsec_';
/** Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32;

/** Returns a new key for signatures, as Standard Webhooks writes it. */
export const newWebhookSecret = () => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/** The changes of a feed since the last message that was delivered. */
export interface FeedChange {
  upserted: string[];
  removed: string[];
  /** false: the ids are not all of them. */
  isComplete: boolean;
  /** The point of the feed before the changes. */
  previousCursor: string;
  /** The point after them. */
  cursor: string;
}

/**
 * Returns the changes that follow a cursor, by the ids of the indicators.
 * @param end the cursor of the end, if more changes follow than these
 */
export function feedChange(
  previousCursor: string,
  { changes, cursor }: Changes<Change>,
  end: string | null,
): FeedChange {
  return {
    upserted: changes.flatMap((change) => (change.op === 'upsert' ? [change.indicator.id] : [])),
    removed: changes.flatMap((change) => (change.op === 'remove' ? [change.id] : [])),
    isComplete: end === null,
    previousCursor,
    cursor: end ?? cursor,
  };
}

/**
 * Returns the body and headers of a message, as Standard Webhooks 1.0.0 says. The id is the same for the same changes of a
 * feed: the cursor of their end may be newer at the next attempt.
 */
export function webhookMessage(
  feed: Pick<Feed, 'id' | 'slug'>,
  change: FeedChange,
  secret: string,
  now: Date,
): { body: string; headers: Record<string, string> } {
  const data = { feed: feed.slug, ...change };
  const body = JSON.stringify({ type: 'feed.changed', timestamp: now.toISOString(), data });
  const { cursor: _, ...changes } = change;
  const id = `msg_${uuidv5(JSON.stringify(changes), feed.id)}`;
  const timestamp = String(Math.floor(now.getTime() / 1000));
  return {
    body,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature(`${id}.${timestamp}.${body}`, secret)}`,
    },
  };
}

function signature(text: string, secret: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(text).digest('base64');
}

/** The seconds after which a message is sent again: the schedule that Standard Webhooks recommends, then every 10 hours. */
const BACK_OFF = [5, 300, 1_800, 7_200, 18_000, 36_000] as const;

/** @param failures how many attempts have failed, at least 1 */
export function nextAttemptAt(failures: number, now: Date): Date {
  const seconds = BACK_OFF[Math.min(failures, BACK_OFF.length) - 1] ?? BACK_OFF[0];
  return new Date(now.getTime() + seconds * 1000);
}
