import { sql, type Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import { likeContains } from '../db/expressions.ts';
import type { Tables } from '../db/tables.ts';
import type { Principal } from '../db/visibility.ts';
import { wellFormed } from '../model/text.ts';
import type { AuditAction } from './audit.schema.ts';

/** Actor, address and time of a change. */
export interface AuditActor {
  /** An account, or the operating-system user who ran a command. */
  who: string;
  /** The client's address; null or absent: a command on the host itself. */
  address?: string | null;
  now: Date;
}

interface AuditEntry {
  action: AuditAction;
  object: {
    kind:
      | 'indicator'
      | 'campaign'
      | 'source'
      | 'whitelist'
      | 'provider'
      | 'user'
      | 'key'
      | 'import'
      | 'role'
      | 'feed'
      | 'store';
    id: string;
  };
  before: unknown;
  after: unknown;
  reason: string | null;
}

/** Writes an audit entry in the transaction of the change. `before` and `after` must not hold secrets. */
export async function writeAudit(
  trx: Transaction<Tables>,
  { who, address = null, now }: AuditActor,
  entry: AuditEntry,
): Promise<void> {
  await trx
    .insertInto('audit')
    .values({
      at: now,
      who,
      address,
      action: entry.action,
      object_kind: entry.object.kind,
      object_id: entry.object.id,
      before: entry.before === null ? null : asJson(entry.before),
      after: entry.after === null ? null : asJson(entry.after),
      reason: entry.reason,
    })
    .execute();
}

/** Returns a value as JSON that PostgreSQL accepts: half a surrogate pair is replaced, as it is in columns of text. */
function asJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => (typeof item === 'string' ? wellFormed(item) : item));
}

export interface AuditFilters {
  /** A part of the actor's name. */
  who?: string;
  /** An action, or the part before its dot. */
  action?: string;
  objectId?: string;
  /** ISO 8601, inclusive. */
  since?: string;
  /** ISO 8601, exclusive. */
  until?: string;
}

export interface AuditRow {
  id: number;
  at: Date;
  who: string;
  address: string | null;
  action: string;
  objectKind: string;
  objectId: string;
  before: unknown;
  after: unknown;
  reason: string | null;
}

function matching(db: Db, { who, action, objectId, since, until }: AuditFilters) {
  return db
    .selectFrom('audit')
    .$if(who !== undefined, (query) => query.where('who', 'ilike', likeContains(who ?? '')))
    .$if(action !== undefined, (query) =>
      query.where((eb) =>
        eb.or([
          eb('action', '=', action ?? ''),
          eb(sql<string>`split_part(action, '.', 1)`, '=', action ?? ''),
        ]),
      ),
    )
    .$if(objectId !== undefined, (query) => query.where('object_id', '=', objectId ?? ''))
    .$if(since !== undefined, (query) => query.where('at', '>=', new Date(since ?? 0)))
    .$if(until !== undefined, (query) => query.where('at', '<', new Date(until ?? 0)));
}

const COLUMNS = [
  'id',
  'at',
  'who',
  'address',
  'action',
  'before',
  'after',
  'reason',
  'object_kind as objectKind',
  'object_id as objectId',
] as const;

/** Returns audit entries, the latest first; `before`: only those older than the entry with this id. */
export async function findAudit(
  db: Db,
  filters: AuditFilters,
  { limit, offset = 0, before }: { limit: number; offset?: number; before?: number | undefined },
): Promise<AuditRow[]> {
  return matching(db, filters)
    .select(COLUMNS)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
}

/**
 * Returns the changes of one indicator, and of the whitelist entries of its value up to the TLP ceiling; the
 * latest first.
 */
export async function findHistory(
  db: Db,
  { id, normalized }: { id: string; normalized: string },
  { tlpCeiling }: Principal,
  limit: number,
): Promise<AuditRow[]> {
  // The whitelist stores an address as a network of one address.
  const entries = [normalized, `${normalized}/32`, `${normalized}/128`];
  const ofEntry = sql<boolean>`(object_kind = 'whitelist'
    and coalesce(after->>'entry', before->>'entry') = any(${entries}::text[])
    and coalesce(after->>'tlp', before->>'tlp', 'CLEAR')::tlp <= ${tlpCeiling}::tlp)`;
  return db
    .selectFrom('audit')
    .select(COLUMNS)
    .where((eb) => eb.or([eb('object_id', '=', id), ofEntry]))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export async function countAudit(db: Db, filters: AuditFilters): Promise<number> {
  const { count } = await matching(db, filters)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
