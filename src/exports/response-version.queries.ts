import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** A response, identified by its request and caller; equal digests stand for equal responses. */
export interface ResponseDigest {
  request: string;
  digest: string;
}

/** Without requests for so long, the state of a response is deleted: the next response counts as changed. */
const KEPT_DAYS = 90;

/**
 * Returns since when each response has been what it is now: in whole seconds, increasing with each change,
 * the same on every node. Only a changed response is written, or one that was last recorded over a day ago.
 */
export async function recordResponseVersion(
  db: Db,
  responses: readonly ResponseDigest[],
  now: Date,
): Promise<Map<string, Date>> {
  const requests = responses.map(({ request }) => request);
  const { rows: known } = await sql<{ request: string; digest: string; changed_at: Date }>`
    select request, digest, changed_at from response_version
    where request = any(${requests}::text[]) and requested_at > ${now}::timestamptz - interval '1 day'
  `.execute(db);
  const since = new Map(known.map((row) => [row.request, row]));
  const others = responses.filter(({ request, digest }) => since.get(request)?.digest !== digest);
  const changed = others.length > 0 ? await writeResponses(db, others, now) : [];
  return new Map([...known, ...changed].map((row) => [row.request, row.changed_at]));
}

async function writeResponses(db: Db, responses: readonly ResponseDigest[], now: Date) {
  await sql`delete from response_version where requested_at < ${now}::timestamptz - make_interval(days => ${KEPT_DAYS})`.execute(
    db,
  );
  const { rows } = await sql<{ request: string; changed_at: Date }>`
    insert into response_version as before (request, digest, changed_at, requested_at)
    select request, digest, date_trunc('second', ${now}::timestamptz), ${now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(responses)}::jsonb) as x (request text, digest text)
    order by request
    on conflict (request) do update set digest = excluded.digest, requested_at = excluded.requested_at,
      changed_at = case when before.digest = excluded.digest then before.changed_at
        else greatest(excluded.changed_at, before.changed_at + interval '1 second') end
    returning request, changed_at
  `.execute(db);
  return rows;
}
