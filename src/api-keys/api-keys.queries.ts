import { type Selectable, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { Scope } from '../model/account.ts';
import type { ApiKey } from '../model/api-key.ts';
import type { Tlp } from '../model/vocabulary.ts';

type Row = Selectable<Tables['api_key']> & { is_owner_disabled: boolean };

function toApiKey(row: Row): ApiKey {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes as Scope[],
    tlpCeiling: row.tlp_ceiling,
    networks: row.networks,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    ownerId: row.owner_id,
    feeds: row.feeds,
    isOwnerDisabled: row.is_owner_disabled,
  };
}

/**
 * Returns a key and the access revision at which it was read. A key sees no more than the role of its owner.
 */
export async function findKeyByHash(db: Db, hash: string): Promise<{ key: ApiKey; access: number } | null> {
  const row = await withOwners(db)
    .select(sql<number>`(select value from access_revision)`.as('access'))
    .where('api_key.hash', '=', hash)
    .executeTakeFirst();
  return row ? { key: toApiKey(row), access: row.access } : null;
}

export async function findKey(db: Db, id: string): Promise<ApiKey | undefined> {
  const row = await withOwners(db).where('api_key.id', '=', id).executeTakeFirst();
  return row && toApiKey(row);
}

/** Returns the e-mail addresses of all owners of keys, by their ids. */
export async function findOwners(db: Db): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('app_user')
    .select(['id', 'email'])
    .where(
      'id',
      'in',
      db
        .selectFrom('api_key')
        .select('owner_id')
        .where('owner_id', 'is not', null)
        .$castTo<{ owner_id: string }>(),
    )
    .execute();
  return new Map(rows.map(({ id, email }) => [id, email]));
}

/** Returns the slugs of the feeds whose TLP ceiling is not above this one, by their ids. */
export async function findFeedSlugs(db: Db, tlpCeiling: Tlp): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('feed')
    .select(['id', 'slug'])
    .where(sql<boolean>`tlp_ceiling <= ${tlpCeiling}::tlp`)
    .execute();
  return new Map(rows.map(({ id, slug }) => [id, slug]));
}

/** Returns all keys, each with its effective TLP ceiling. */
export async function listKeys(db: Db): Promise<ApiKey[]> {
  const rows = await withOwners(db).orderBy('api_key.created_at').orderBy('api_key.id').execute();
  return rows.map(toApiKey);
}

/** The effective TLP ceiling is the lower one of the key's own and that of its owner's role. */
const withOwners = (db: Db) =>
  db
    .selectFrom('api_key')
    .leftJoin('app_user', 'app_user.id', 'api_key.owner_id')
    .leftJoin('app_role', 'app_role.name', 'app_user.role')
    .selectAll('api_key')
    .select(sql<Tlp>`least(api_key.tlp_ceiling, app_role.tlp_ceiling)`.as('tlp_ceiling'))
    .select(sql<boolean>`app_user.disabled_at is not null`.as('is_owner_disabled'));

export async function insertKey(db: Db, key: ApiKey, hash: string): Promise<void> {
  await db
    .insertInto('api_key')
    .values({
      id: key.id,
      name: key.name,
      prefix: key.prefix,
      hash,
      scopes: key.scopes,
      tlp_ceiling: key.tlpCeiling,
      networks: key.networks,
      created_at: key.createdAt,
      expires_at: key.expiresAt,
      revoked_at: key.revokedAt,
      last_used_at: key.lastUsedAt,
      owner_id: key.ownerId,
      feeds: key.feeds,
    })
    .execute();
}

/** @returns whether this call revoked it */
export async function revokeKey(db: Db, id: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_key')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns the TLP ceiling that a key was created with, which its owner's role may lower. */
export async function findOwnCeiling(db: Db, id: string): Promise<Tlp> {
  const key = db.selectFrom('api_key').select('tlp_ceiling').where('id', '=', id);
  return (await key.executeTakeFirstOrThrow()).tlp_ceiling;
}

/** Returns when a key was to expire before it was first rotated; null: not at all. */
export async function findOriginalEnd(db: Db, { id, expiresAt }: ApiKey): Promise<Date | null> {
  const { rows } = await sql<{ end: Date | null }>`
    select (before->>'expiresAt')::timestamptz as "end" from audit
    where action = 'key.rotate' and before->>'id' = ${id} order by id limit 1
  `.execute(db);
  return rows[0] ? rows[0].end : expiresAt;
}

/**
 * Makes a key expire at `end` at the latest; never extends it.
 * @returns whether it has not been revoked
 */
export async function endKeyBy(db: Db, id: string, end: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_key')
    .set({ expires_at: sql<Date>`least(coalesce(expires_at, ${end}::timestamptz), ${end}::timestamptz)` })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Makes a key expire at `expiresAt` again (null: not at all), if it expires at `end` now.
 * @returns whether it does, and has not been revoked
 */
export async function restoreEnd(db: Db, id: string, end: Date, expiresAt: Date | null): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_key')
    .set({ expires_at: expiresAt })
    .where('id', '=', id)
    .where('expires_at', '=', end)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Writes the last use of all keys in one statement. */
export async function writeLastUsed(db: Db, used: ReadonlyMap<string, Date>): Promise<void> {
  const rows = JSON.stringify([...used].map(([id, at]) => ({ id, at })));
  await sql`
    update api_key set last_used_at = used.at
    from jsonb_to_recordset(${rows}::jsonb) as used (id uuid, at timestamptz)
    where api_key.id = used.id and (last_used_at is null or last_used_at < used.at)
  `.execute(db);
}

/** Keys that expire within this time are reported. */
export const KEY_WARNING_DAYS = 14;
const MAX_KEYS = 100;

/** A usable key that expires soon. */
export interface ExpiringKey {
  id: string;
  name: string;
  expiresAt: Date;
  /** Whether no other usable key has the name; otherwise commands require the id. */
  isNameUnique: boolean;
}

/**
 * Returns the usable keys that expire soon, the first to expire first, without those that a usable key replaces.
 * The audit entry of a rotation alone says which key replaces which: two keys of one name may be of two clients.
 */
export async function findExpiringKeys(db: Db, now: Date): Promise<ExpiringKey[]> {
  const { rows } = await sql<ExpiringKey>`
    with usable as (
      select api_key.id, api_key.name, expires_at from api_key left join app_user on app_user.id = owner_id
      where revoked_at is null and (expires_at is null or expires_at > ${now}::timestamptz) and disabled_at is null
    )
    select id, name, expires_at as "expiresAt",
      not exists (select from usable as other where other.name = usable.name and other.id <> usable.id) as "isNameUnique"
    from usable
    where expires_at <= ${now}::timestamptz + make_interval(days => ${KEY_WARNING_DAYS})
      and not exists (
        select from usable as successor
          join audit on audit.object_id = successor.id::text and audit.action = 'key.rotate'
        where successor.name = usable.name and audit.before->>'id' = usable.id::text)
    order by expires_at, id limit ${MAX_KEYS}
  `.execute(db);
  return rows;
}

/** Returns true to one caller per day (UTC) among all workers, so that the warnings are logged once. */
export async function claimDailyWarning(db: Db, now: Date): Promise<boolean> {
  const day = now.toISOString().slice(0, 10);
  const { rows } = await sql`
    insert into meta (name, value) values ('expiring keys warned of', ${day})
    on conflict (name) do update set value = excluded.value where meta.value < excluded.value returning name
  `.execute(db);
  return rows.length > 0;
}
