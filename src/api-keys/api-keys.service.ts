import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import { type AuditActor, writeAudit } from '../audit/audit.queries.ts';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { redactKeys } from '../http/redact-keys.ts';
import type { Scope } from '../model/account.ts';
import { type ApiKey, isUsable, keyState, newApiKey } from '../model/api-key.ts';
import type { Tlp } from '../model/vocabulary.ts';
import {
  claimDailyWarning,
  endKeyBy,
  findExpiringKeys,
  findFeedSlugs,
  findKey,
  findOriginalEnd,
  findOwnCeiling,
  insertKey,
  listKeys,
  restoreEnd,
  revokeKey,
} from './api-keys.queries.ts';

export interface NewKey {
  name: string;
  scopes: Scope[];
  tlpCeiling: Tlp;
  networks: string[];
  expiresAt: Date | null;
  /** Slugs of the feeds to which it is bound; then it has no other scopes. */
  feeds?: string[];
}

/** A new key. Only its hash is stored, so the whole key is returned only here. */
export interface CreatedKey {
  key: string;
  record: ApiKey;
}

export class KeyError extends Error {
  override name = 'KeyError';
}

/**
 * @param owner the account that creates the key; null: a command does
 * @throws {KeyError} for a feed that does not exist or is above the ceiling of the account, or scopes beside feeds
 */
export async function createKey(
  db: Db,
  wanted: NewKey,
  by: AuditActor,
  owner: { id: string; tlpCeiling: Tlp } | null = null,
): Promise<CreatedKey> {
  return db.transaction().execute(async (trx) => {
    const feeds = await feedIds(trx, wanted, owner?.tlpCeiling ?? 'RED');
    const created = await insert(trx, { ...wanted, feeds }, by, owner?.id ?? null);
    await audit(trx, 'key.create', created.record, null, by);
    return created;
  });
}

async function feedIds(
  trx: Transaction<Tables>,
  { feeds = [], scopes }: NewKey,
  tlpCeiling: Tlp,
): Promise<string[]> {
  if (feeds.length === 0) return [];
  if (scopes.length > 0) throw new KeyError('A key that is bound to feeds has no other scopes.');
  const idsBySlug = new Map([...(await findFeedSlugs(trx, tlpCeiling))].map(([id, slug]) => [slug, id]));
  return feeds.map((slug) => {
    const id = idsBySlug.get(slug);
    if (id === undefined) throw new KeyError(`There is no feed ${slug}.`);
    return id;
  });
}

/** @param wanted its feeds by their ids */
async function insert(
  trx: Transaction<Tables>,
  wanted: Required<NewKey>,
  by: AuditActor,
  ownerId: string | null,
): Promise<CreatedKey> {
  const secret = newApiKey();
  const record: ApiKey = {
    id: randomUUID(),
    name: wanted.name,
    prefix: secret.prefix,
    // For a process of an earlier version, which has no feeds, a key without scopes would open everything.
    scopes: wanted.feeds.length > 0 ? ['feeds:read'] : wanted.scopes,
    tlpCeiling: wanted.tlpCeiling,
    networks: wanted.networks,
    expiresAt: wanted.expiresAt,
    createdAt: by.now,
    revokedAt: null,
    lastUsedAt: null,
    feeds: wanted.feeds,
    ownerId,
    isOwnerDisabled: false,
  };
  await insertKey(trx, record, secret.hash);
  return { key: secret.key, record };
}

/**
 * Returns the keys with an id or a name, the newest first: the usable ones, else those that are not revoked,
 * else the revoked ones.
 * @throws {KeyError} when there is none
 */
async function findKeys(db: Db, idOrName: string, now: Date): Promise<[ApiKey, ...ApiKey[]]> {
  const all = (await listKeys(db)).reverse();
  const byId = all.filter((key) => key.id === idOrName.toLowerCase());
  const found = byId.length > 0 ? byId : all.filter((key) => key.name === idOrName);
  const usable = found.filter((key) => isUsable(key, now));
  const notRevoked = found.filter((key) => key.revokedAt === null);
  const [first, ...more] = [usable, notRevoked, found].find((keys) => keys.length > 0) ?? [];
  if (!first) throw new KeyError(`There is no API key with the id or name "${idOrName}".`);
  return [first, ...more];
}

/**
 * Returns the key with an id or a name; if none is usable, the newest.
 * @throws {KeyError} when there is none, or several usable keys have the name, as they do while a rotation
 *   overlaps
 */
async function findOne(db: Db, idOrName: string, now: Date): Promise<ApiKey> {
  const [key, ...more] = await findKeys(db, idOrName, now);
  if (more.length === 0 || !isUsable(key, now)) return key;
  const ids = [key, ...more].map(({ id, createdAt }) => `  ${id}  created ${createdAt.toISOString()}`);
  throw new KeyError(`Several API keys are called "${idOrName}"; give the id:\n${ids.join('\n')}`);
}

/**
 * Revokes a key.
 * @returns the key with `revokedAt`, also when it was revoked before
 * @throws {KeyError} as `findOne`
 */
export async function revoke(db: Db, idOrName: string, by: AuditActor): Promise<ApiKey> {
  const { now } = by;
  const key = await findOne(db, idOrName, now);
  return db.transaction().execute(async (trx) => {
    if (!(await revokeKey(trx, key.id, now))) return key;
    await audit(trx, 'key.revoke', { ...key, revokedAt: now }, key, by);
    return { ...key, revokedAt: now };
  });
}

/** A new key that replaces an old one, as that was before. */
export interface Rotation extends CreatedKey {
  old: ApiKey;
  oldValidUntil: Date;
}

function notUsable(key: ApiKey | undefined, idOrName: string, now: Date): KeyError {
  return new KeyError(
    key && keyState(key, now) === 'owner-disabled'
      ? `The API key "${idOrName}" is rejected while the account of its owner is disabled, as its replacement would be.`
      : `The API key "${idOrName}" is revoked or expired.`,
  );
}

/**
 * Creates a key with the settings and the lifetime of the old one, which stays valid for `overlapSeconds`
 * more.
 * @throws {KeyError} as `findOne`, and when the old key is no longer usable
 */
export async function rotate(
  db: Db,
  idOrName: string,
  overlapSeconds: number,
  by: AuditActor,
): Promise<Rotation> {
  const { now } = by;
  const old = await findOne(db, idOrName, now);
  if (!isUsable(old, now)) throw notUsable(old, idOrName, now);
  const overlapEnd = new Date(now.getTime() + overlapSeconds * 1000);
  const oldValidUntil = old.expiresAt && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd;
  return db.transaction().execute(async (trx) => {
    const still = await findKey(trx, old.id);
    // It may be revoked at the same time.
    if (!still || !isUsable(still, now) || !(await endKeyBy(trx, old.id, overlapEnd)))
      throw notUsable(still, idOrName, now);
    // The new key gets the lifetime that the old one was created with, also when an earlier rotation has shortened that.
    const end = await findOriginalEnd(trx, old);
    const expiresAt = end && new Date(now.getTime() + end.getTime() - old.createdAt.getTime());
    const tlpCeiling = await findOwnCeiling(trx, old.id);
    const { key, record: stored } = await insert(trx, { ...old, tlpCeiling, expiresAt }, by, old.ownerId);
    // The ceiling of the owner's role may be lower.
    const record = { ...stored, tlpCeiling: old.tlpCeiling };
    await audit(trx, 'key.rotate', record, { ...old, oldValidUntil }, by);
    return { key, record, old, oldValidUntil };
  });
}

/**
 * Revokes a key that replaces another and that nobody has seen; the old key ends when it would have ended without the rotation.
 * @returns whether the old key is valid as before; not if it was revoked meanwhile
 */
export async function undoRotation(
  db: Db,
  { record, old, oldValidUntil }: Rotation,
  by: AuditActor,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const isRestored = await restoreEnd(trx, old.id, oldValidUntil, old.expiresAt);
    if (!(await revokeKey(trx, record.id, by.now))) return isRestored;
    const after = { ...record, revokedAt: by.now };
    const reason = 'The key could not be shown: its rotation is undone.';
    const restored = isRestored ? { oldId: old.id, oldValidUntil: old.expiresAt } : {};
    await audit(trx, 'key.revoke', { ...after, ...restored }, record, by, reason);
    return isRestored;
  });
}

async function audit(
  trx: Transaction<Tables>,
  action: 'key.create' | 'key.rotate' | 'key.revoke',
  after: ApiKey,
  before: object | null,
  by: AuditActor,
  reason: string | null = null,
): Promise<void> {
  const object = { kind: 'key' as const, id: after.id };
  await writeAudit(trx, by, { action, object, before, after, reason });
}

interface WarningLog {
  warn(details: object, message: string): void;
}

/** Logs a warning for each key that expires soon, with its name and id, once a day among all workers. */
export async function warnOfExpiringKeys(db: Db, log: WarningLog, now: Date): Promise<void> {
  if (!(await claimDailyWarning(db, now))) return;
  for (const { id, name, expiresAt } of await findExpiringKeys(db, now))
    log.warn(
      { key: redactKeys(name), id, expiresAt },
      'an API key expires soon: rotate it with tipline keys rotate ID',
    );
}
