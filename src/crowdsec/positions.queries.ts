import { randomUUID } from 'node:crypto';
import { type Insertable, type RawBuilder, sql } from 'kysely';
import type { FeedCursor } from '../changes/cursor.ts';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { DecisionFilter, Deletion } from './decisions.ts';

/** A client is a key at an address with a User-Agent, as crowdsec tells bouncers apart. */
export interface Client {
  keyId: string;
  address: string;
  userAgent: string;
}

/** What a client has been sent. */
export interface Position {
  /** The points of the feeds up to which it has their changes, by the ids of the feeds. */
  cursors: Record<string, FeedCursor>;
  filter: DecisionFilter;
  /** The instant up to which decisions have been sent again, in Unix milliseconds. */
  renewedAt: number;
}

export interface StoredPosition extends Position {
  id: string;
  version: string;
  seenAt: Date;
}

/** The maximum number of positions of a key: another one takes the place of the one that was used longest ago. */
const MAX_POSITIONS = 1_000;
/** Deletions per statement. */
const BATCH = 10_000;

export async function findPosition(db: Db, client: Client): Promise<StoredPosition | undefined> {
  const row = await db
    .selectFrom('crowdsec_position')
    .select(['id', 'version', 'state', 'seen_at'])
    .where('key_id', '=', client.keyId)
    .where('address', '=', client.address)
    .where('user_agent', '=', client.userAgent)
    .executeTakeFirst();
  return row && { ...(row.state as Position), id: row.id, version: row.version, seenAt: row.seen_at };
}

/** Returns the deletions that a client has been sent since an instant. */
export async function findDeletions(db: Db, positionId: string, since: Date): Promise<Deletion[]> {
  return db
    .selectFrom('crowdsec_deletion')
    .select(['value', 'decision_id as id'])
    .where('position_id', '=', positionId)
    .where('deleted_at', '>', since)
    .orderBy('value')
    .execute();
}

export interface Sent {
  position: Position;
  /** Deletions that the client has been sent for the first time. */
  deleted: readonly Deletion[];
  /** Values that are listed again: their earlier deletions are not repeated. */
  restored: readonly string[];
  /** Deletions of before are not repeated any more. */
  repeatedSince: Date;
}

/**
 * Writes what a client has been sent, unless another response to the client has been written since.
 * @param before as the response began; undefined: there was none
 */
export async function writePosition(
  db: Db,
  client: Client,
  before: StoredPosition | undefined,
  { position, deleted, restored, repeatedSince }: Sent,
  now: Date,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = {
      state: sql<string>`${JSON.stringify(position)}::jsonb`,
      version: randomUUID(),
      seen_at: now,
    };
    const id = before?.id ?? randomUUID();
    const isWritten = before ? await update(trx, before, row) : await insert(trx, { id, client }, row);
    if (!isWritten) return;
    await writeDeletions(trx, id, { deleted, restored, repeatedSince }, now);
    if (!before) await dropOldest(trx, client.keyId);
  });
}

type WrittenState = Pick<Insertable<Tables['crowdsec_position']>, 'version' | 'seen_at'> & {
  state: RawBuilder<string>;
};

async function update(trx: Db, { id, version }: StoredPosition, row: WrittenState): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('crowdsec_position')
    .set(row)
    .where('id', '=', id)
    .where('version', '=', version)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

async function insert(
  trx: Db,
  { id, client }: { id: string; client: Client },
  row: WrittenState,
): Promise<boolean> {
  const { keyId, address, userAgent } = client;
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('crowdsec_position')
    .values({ id, key_id: keyId, address, user_agent: userAgent, ...row })
    .onConflict((conflict) => conflict.columns(['key_id', 'address', 'user_agent']).doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

async function writeDeletions(
  trx: Db,
  id: string,
  { deleted, restored, repeatedSince }: Omit<Sent, 'position'>,
  now: Date,
): Promise<void> {
  const ofClient = trx.deleteFrom('crowdsec_deletion').where('position_id', '=', id);
  await ofClient.where('deleted_at', '<=', repeatedSince).execute();
  if (restored.length > 0)
    await ofClient.where(sql<boolean>`value = any(${[...restored]}::text[])`).execute();
  for (let start = 0; start < deleted.length; start += BATCH) {
    const batch = deleted.slice(start, start + BATCH);
    await sql`
      insert into crowdsec_deletion (position_id, value, decision_id, deleted_at)
      select ${id}::uuid, value, decision_id, ${now}::timestamptz
      from unnest(${batch.map(({ value }) => value)}::text[], ${batch.map(({ id: decision }) => decision)}::bigint[])
        as deletion (value, decision_id)
      on conflict (position_id, value) do update set deleted_at = excluded.deleted_at, decision_id = excluded.decision_id
    `.execute(trx);
  }
}

async function dropOldest(trx: Db, keyId: string): Promise<void> {
  await sql`
    delete from crowdsec_position where id in (
      select id from crowdsec_position where key_id = ${keyId}::uuid order by seen_at desc offset ${MAX_POSITIONS})
  `.execute(trx);
}

/** Deletes the positions of clients that have not been seen for so many days: the history does not go back to them. */
export async function forgetPositions(db: Db, now: Date, days: number): Promise<void> {
  await sql`
    delete from crowdsec_position where seen_at < ${now}::timestamptz - make_interval(days => ${days}::int)
  `.execute(db);
}
