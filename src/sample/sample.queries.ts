import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

export async function readMeta(db: Db, name: string): Promise<string | undefined> {
  const row = await db.selectFrom('meta').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value;
}

export async function writeMeta(db: Db, name: string, value: string): Promise<void> {
  await db
    .insertInto('meta')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

/** Returns the name of a source that is not part of the sample; undefined: there is none. */
export async function findOtherSource(db: Db): Promise<string | undefined> {
  const query = db.selectFrom('source').select('name').where('kind', '<>', 'sample').orderBy('created_at');
  return (await query.limit(1).executeTakeFirst())?.name;
}

/** Returns the id of the enriched indicator that has relationships with the most kinds of objects. */
export async function findExample(db: Db): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select e.indicator_id as id from enrichment as e
    left join relationship as r on r.from_id = e.indicator_id or r.to_id = e.indicator_id
    group by e.indicator_id
    order by count(distinct case when r.from_kind = 'indicator' then r.to_kind else r.from_kind end) desc,
      count(r.type) desc, e.indicator_id
    limit 1
  `.execute(db);
  return rows[0]?.id;
}
