import { randomUUID } from 'node:crypto';
import type { Db } from '../../db/open.ts';
import { type ApiKey, isUsable, newApiKey, type Scope } from '../../model/api-key.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import { endKeyBy, insertKey, listKeys, revokeKey } from './api-keys.queries.ts';

export interface NewKey {
  name: string;
  scopes: Scope[];
  tlpCeiling: Tlp;
  networks: string[];
  expiresAt: Date | null;
}

/** The whole key is told here and never again: only its hash is kept. */
export interface CreatedKey {
  key: string;
  record: ApiKey;
}

class KeyError extends Error {
  override name = 'KeyError';
}

export async function createKey(
  db: Db,
  wanted: NewKey,
  now: Date,
  secret = newApiKey(),
): Promise<CreatedKey> {
  const record: ApiKey = {
    id: randomUUID(),
    name: wanted.name,
    prefix: secret.prefix,
    scopes: wanted.scopes,
    tlpCeiling: wanted.tlpCeiling,
    networks: wanted.networks,
    expiresAt: wanted.expiresAt,
    createdAt: now,
    revokedAt: null,
    lastUsedAt: null,
  };
  await insertKey(db, record, secret.hash);
  return { key: secret.key, record };
}

/**
 * The keys that a person means by an id or a name, the newest first: those that are usable, else those that are not
 * revoked, else those that are.
 * @throws {KeyError} when there is none
 */
async function findKeys(db: Db, idOrName: string, now: Date): Promise<[ApiKey, ...ApiKey[]]> {
  const all = (await listKeys(db)).reverse();
  const byId = all.filter((key) => key.id === idOrName.toLowerCase());
  const found = byId.length > 0 ? byId : all.filter((key) => key.name === idOrName);
  const usable = found.filter((key) => isUsable(key, now));
  const kept = found.filter((key) => key.revokedAt === null);
  const [first, ...more] = [usable, kept, found].find((keys) => keys.length > 0) ?? [];
  if (!first) throw new KeyError(`There is no API key with the id or name "${idOrName}".`);
  return [first, ...more];
}

/**
 * @returns the key; `revokedAt` tells when, also when it was revoked before
 * @throws {KeyError} when several usable keys bear the name, as they do while a rotation overlaps
 */
export async function revoke(db: Db, idOrName: string, now: Date): Promise<ApiKey> {
  const [key, ...more] = await findKeys(db, idOrName, now);
  if (more.length > 0 && isUsable(key, now)) {
    const ids = [key, ...more].map(({ id, createdAt }) => `  ${id}  created ${createdAt.toISOString()}`);
    throw new KeyError(`Several API keys are called "${idOrName}"; give the id:\n${ids.join('\n')}`);
  }
  return (await revokeKey(db, key.id, now)) ? { ...key, revokedAt: now } : key;
}

/**
 * A new key with everything as on the old one, which stays valid for `overlapSeconds` more.
 * @throws {KeyError} when the old one is not usable any more
 */
export async function rotate(
  db: Db,
  idOrName: string,
  overlapSeconds: number,
  now: Date,
): Promise<CreatedKey & { oldValidUntil: Date }> {
  // While a rotation overlaps, the newest is the one to go on from.
  const [old] = await findKeys(db, idOrName, now);
  if (!isUsable(old, now)) throw new KeyError(`The API key "${idOrName}" is revoked or expired.`);
  const overlapEnd = new Date(now.getTime() + overlapSeconds * 1000);
  const oldValidUntil = old.expiresAt && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd;
  return db.transaction().execute(async (trx) => {
    const created = await createKey(trx, old, now);
    await endKeyBy(trx, old.id, overlapEnd);
    return { ...created, oldValidUntil };
  });
}
