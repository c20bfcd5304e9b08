import assert from 'node:assert/strict';
import { SEEN } from './kinds.mjs';
import { integer, seededRandom } from './random.mjs';

const TLPS = ['CLEAR', 'GREEN', 'AMBER', 'AMBER_STRICT', 'RED'];
const under = (ceiling) => TLPS.slice(0, TLPS.indexOf(ceiling) + 1);
const ORDER = 'order by last_seen desc, id';

/**
 * Compares what the server answers with SQL that shares nothing with it, under a key's ceiling: totals and first
 * pages of every kind of list, random deep pages, details, contexts, and the counts on campaigns.
 * @param {(path: string) => Promise<any>} get the parsed body of an answer to that key
 * @throws an AssertionError that shows both
 */
export async function check({ get, client, kinds, ids, contextIds, ceiling }) {
  const seen = under(ceiling);
  const totals = {};
  for (const { name, paths, count } of kinds.filter((kind) => kind.count)) {
    totals[name] = await checkList({ get, client, path: paths[0], ...count, seen });
  }
  const pages = Math.ceil(totals[kinds[0].name] / 100);
  const random = seededRandom(3);
  for (const page of [0, 1, 2].map(() => integer(random, 2, pages)))
    await checkList({
      get,
      client,
      path: `${kinds[0].paths[0]}&page=${page}`,
      where: SEEN,
      values: [],
      seen,
    });
  for (const id of ids.slice(0, 50)) await checkDetail(get, client, id, seen);
  for (const id of contextIds.slice(0, 100)) await checkContext(get, client, id, seen);
  await checkCampaigns(get, client, seen);
  const actors = await client.query('select count(*)::int as n from actor where tlp::text = any ($1)', [
    seen,
  ]);
  assert.equal((await get('/api/v1/actors')).total, actors.rows[0].n, 'actors');
  return totals;
}

async function checkList({ get, client, path, where, values, seen }) {
  const answer = await get(path);
  const parameters = [seen, ...values];
  const counted = await client.query(`select count(*)::int as n from indicator where ${where}`, parameters);
  assert.equal(answer.total, counted.rows[0].n, `total of ${path}`);
  const page = await client.query(
    `select id from indicator where ${where} ${ORDER} limit 100 offset ${(answer.page - 1) * 100}`,
    parameters,
  );
  const listed = answer.data.map(({ id }) => id);
  const expected = page.rows.map(({ id }) => id);
  assert.deepEqual(listed, expected, `page of ${path}`);
  return answer.total;
}

async function checkDetail(get, client, id, seen) {
  const { rows } = await client.query(`select * from indicator where id = $2 and ${SEEN}`, [seen, id]);
  const answer = await get(`/api/v1/indicators/${id}`);
  if (!rows[0]) return assert.equal(answer.code, 'not_found', id);
  const { type, value, confidence, severity, tlp, tags } = answer.data;
  const row = rows[0];
  assert.deepEqual(
    [type, value, confidence, severity, tlp, tags, new Date(answer.data.lastSeen)],
    [row.type, row.value, row.confidence, row.severity, row.tlp, row.tags, row.last_seen],
    id,
  );
}

async function checkContext(get, client, id, seen) {
  const linked = (kind, near, far) => `(select count(distinct o.id)::int from ${kind} o, relationship r
    where r.${near} = i.id and r.${far} = o.id and o.tlp::text = any ($1) and r.tlp::text = any ($1)) as ${kind}`;
  const { rows } = await client.query(
    `select ${linked('actor', 'from_id', 'to_id')}, ${linked('campaign', 'from_id', 'to_id')},
       ${linked('report', 'to_id', 'from_id')},
       (select count(*)::int from enrichment e where e.indicator_id = i.id) as enrichment
     from indicator i where id = $2 and ${SEEN}`,
    [seen, id],
  );
  const answer = await get(`/api/v1/indicators/${id}/context`);
  if (!rows[0]) return assert.equal(answer.code, 'not_found', id);
  const { actors, campaigns, reports, enrichments } = answer;
  const counts = [actors, campaigns, reports, enrichments].map(({ length }) => length);
  const { actor, campaign, report, enrichment } = rows[0];
  assert.deepEqual(counts, [actor, campaign, report, enrichment], id);
}

async function checkCampaigns(get, client, seen) {
  const answer = await get('/api/v1/campaigns?pageSize=200');
  const { rows } = await client.query(
    `select c.id, (select count(distinct i.id)::int from indicator i, relationship r
       where r.from_id = i.id and r.to_id = c.id and r.tlp::text = any ($1)
       and not whitelisted and coalesce(expires_at, 'infinity') > now() and i.tlp::text = any ($1)) as n
     from campaign c where tlp::text = any ($1) order by start_date desc nulls last, id`,
    [seen],
  );
  const listed = answer.data.map(({ id, indicatorCount }) => ({ id, n: indicatorCount }));
  assert.deepEqual([answer.total, listed], [rows.length, rows], 'campaigns');
}
