import type { AuditActor } from '../../audit/audit.queries.ts';
import { writeAudit } from '../../audit/audit.queries.ts';
import type { ChangeFeed } from '../../changes/change-feed.ts';
import type { Db } from '../../db/database.ts';
import { endpointUrl } from '../../model/normalize-url.ts';
import { type SecretBox, secretBox } from '../../secrets/secret-box.ts';
import { findFeed, lockFeed } from '../feeds.queries.ts';
import { FeedError, InvalidFeedError, missing } from '../feeds.service.ts';
import { currentCursor } from './current-cursor.ts';
import { newWebhookSecret } from './message.ts';
import { deleteWebhook, findWebhook, makeDue, writeWebhook } from './webhooks.queries.ts';

/** The shortest and the longest interval of a webhook, in seconds. */
export const WEBHOOK_INTERVAL = { min: 5, max: 86_400, default: 60 } as const;

/** @param secret the key from which the keys of sessions derive */
export const webhookSecrets = (secret: string): SecretBox => secretBox(secret, 'webhooks of saved feeds');

/** Returns the URL of a webhook and the key of its signatures. */
export function openWebhook(secrets: SecretBox, sealed: string): { url: string; secret: string } {
  return JSON.parse(secrets.open(sealed));
}

interface WebhookSettings {
  url: string;
  intervalSeconds: number;
}

/**
 * Gives a feed a webhook, instead of the one it has. Messages begin with the next change.
 * @returns the key of its signatures, which is not shown again
 * @throws {FeedError} for a feed that does not exist; {InvalidFeedError} for settings that are not valid
 */
export async function setWebhook(
  { db, changes, secrets }: { db: Db; changes: ChangeFeed; secrets: SecretBox },
  slug: string,
  { url: text, intervalSeconds }: WebhookSettings,
  by: AuditActor,
): Promise<string> {
  const url = endpointUrl(text);
  if ('rejected' in url) throw new InvalidFeedError(`The webhook is not valid: ${url.rejected}.`);
  const { min, max } = WEBHOOK_INTERVAL;
  if (intervalSeconds < min || intervalSeconds > max)
    throw new InvalidFeedError(`The interval of a webhook is from ${min} to ${max} seconds.`);
  const secret = newWebhookSecret();
  // If the feed is changed before it is locked, the first message says so.
  const found = (await findFeed(db, slug)) ?? missing(slug);
  const { tlpCeiling } = found;
  const cursor = await currentCursor(db, changes, found, { tlpCeiling, now: by.now });
  await db.transaction().execute(async (trx) => {
    const feed = (await lockFeed(trx, slug)) ?? missing(slug);
    const before = (await findWebhook(trx, feed.id)) ?? null;
    const after = { host: url.host, intervalSeconds };
    await writeWebhook(trx, {
      ...after,
      feedId: feed.id,
      tlpCeiling,
      sealed: secrets.seal(JSON.stringify({ url: url.href, secret })),
      cursor,
      nextAttemptAt: by.now,
    });
    await writeAudit(trx, by, {
      action: 'feed.webhook',
      object: { kind: 'feed', id: feed.id },
      before: before && { host: before.host, intervalSeconds: before.intervalSeconds },
      after,
      reason: null,
    });
  });
  return secret;
}

/** @throws {FeedError} for a feed that does not exist or has no webhook */
export async function removeWebhook(db: Db, slug: string, by: AuditActor): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const feed = (await lockFeed(trx, slug)) ?? missing(slug);
    const { host, intervalSeconds } = (await findWebhook(trx, feed.id)) ?? without(slug);
    await deleteWebhook(trx, feed.id);
    await writeAudit(trx, by, {
      action: 'feed.webhook',
      object: { kind: 'feed', id: feed.id },
      before: { host, intervalSeconds },
      after: null,
      reason: null,
    });
  });
}

/**
 * Makes the next attempt of a webhook due now, also of one whose receiver answered that it is gone.
 * @throws {FeedError} for a feed that does not exist or has no webhook
 */
export async function retryWebhook(db: Db, slug: string, now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const feed = (await lockFeed(trx, slug)) ?? missing(slug);
    if (!(await findWebhook(trx, feed.id))) without(slug);
    await makeDue(trx, feed.id, now);
  });
}

function without(slug: string): never {
  throw new FeedError(`The feed ${slug} has no webhook.`);
}
