import { createHash } from 'node:crypto';
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

/** A JSON object: the digest of the addresses of each rule, by the first sid of a block's rules. */
export type RuleDigests = string;

/** Exports whose rules have versions; of any other, all rules count as changed. One takes some 40 bytes a rule. */
const MAX_VERSIONED_EXPORTS = 200;

/**
 * Returns since when the addresses of each rule of an export have been what they are now: in Unix seconds, increasing
 * with each change, the same on every node. The database compares, because there may be thousands of rules.
 * @param request under which the times are stored
 * @param variant distinguishes rules under this key beyond their addresses
 */
export async function recordAddressRules(
  db: Db,
  { key: request, variant }: { key: string; variant: string },
  digests: RuleDigests,
  now: Date,
): Promise<Map<number, number>> {
  const seconds = Math.floor(now.getTime() / 1000);
  const prefix = variant === '' ? '' : createHash('sha256').update(variant).digest('base64url').slice(0, 11);
  const { rows } = await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('address_rule_version')
      .values({ request, rules: '{}', requested_at: now })
      .onConflict((conflict) => conflict.column('request').doUpdateSet({ requested_at: now }))
      .execute();
    await sql`delete from address_rule_version where request in (
      select request from address_rule_version order by requested_at desc, request offset ${MAX_VERSIONED_EXPORTS})`.execute(
      trx,
    );
    // The document is written only if it changes: it may be large, and most requests find nothing new.
    return sql<{ times: string | null }>`
      with fresh as materialized (
        select coalesce(jsonb_object_agg(now.sid, case when was.version ->> 0 = now.digest then was.version
          else jsonb_build_array(now.digest, greatest(${seconds}::bigint, coalesce((was.version ->> 1)::bigint + 1, 0))) end),
          '{}') as rules
        from (select sid, ${prefix}::text || digest as digest from jsonb_each_text(${digests}::jsonb) as given (sid, digest)) as now
          left join (select one.* from address_rule_version, jsonb_each(rules) as one (sid, version)
            where request = ${request}) as was on was.sid = now.sid
      ), changed as (
        update address_rule_version as stored set rules = fresh.rules from fresh
        where stored.request = ${request} and stored.rules <> fresh.rules
      )
      select string_agg(sid || ' ' || (version ->> 1), ',' order by sid::bigint) as times
      from fresh, jsonb_each(fresh.rules) as one (sid, version)`.execute(trx);
  });
  const pairs = (rows[0]?.times ?? '').split(',').filter(Boolean);
  return new Map(pairs.map((pair) => pair.split(' ').map(Number) as [number, number]));
}
