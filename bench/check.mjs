import assert from 'node:assert/strict';
import { VISIBLE } from './kinds.mjs';
import { integer, seededRandom } from './random.mjs';

const TLPS = ['CLEAR', 'GREEN', 'AMBER', 'AMBER_STRICT', 'RED'];
const tlpsUpTo = (ceiling) => TLPS.slice(0, TLPS.indexOf(ceiling) + 1);
const ORDER = 'order by last_seen desc, id';

/**
 * Compares the server's responses, under a key's TLP ceiling, with SQL that shares nothing with Tipline's: totals and
 * first pages of every kind of list, random deep pages, details, contexts, and the counts of campaigns.
 * @param {(path: string) => Promise<any>} get returns the parsed body of a response to that key
 * @throws {assert.AssertionError} on a difference; it shows both sides
 */
export async function check({ get, client, kinds, ids, contextIds, ceiling }) {
  const tlps = tlpsUpTo(ceiling);
  const totals = {};
  for (const { name, paths, count } of kinds.filter((kind) => kind.count)) {
    totals[name] = await checkList({ get, client, path: paths[0], ...count, tlps });
  }
  const pages = Math.ceil(totals[kinds[0].name] / 100);
  const random = seededRandom(3);
  for (const page of [0, 1, 2].map(() => integer(random, 2, pages)))
    await checkList({
      get,
      client,
      path: `${kinds[0].paths[0]}&page=${page}`,
      where: VISIBLE,
      values: [],
      tlps,
    });
  await checkFiltered({ get, client, path: kinds[0].paths[0], tlps, random });
  for (const id of ids.slice(0, 50)) await checkDetail(get, client, id, tlps);
  for (const id of contextIds.slice(0, 100)) await checkContext(get, client, id, tlps);
  await checkCampaigns(get, client, tlps);
  const actors = await client.query('select count(*)::int as n from actor where tlp::text = any ($1)', [
    tlps,
  ]);
  assert.equal((await get('/api/v1/actors')).total, actors.rows[0].n, 'actors');
  return totals;
}

/** Compares totals by time, by two filters and by short texts, and pages in the middle of lists. */
async function checkFiltered({ get, client, path, tlps, random }) {
  const since = new Date(Date.now() - integer(random, 5, 700) * 86_400_000).toISOString();
  const filters = [
    ['&type=URL', `type = 'URL'`],
    ['&minConfidence=75', 'confidence >= 75'],
    ['&type=DOMAIN&severity=HIGH', `type = 'DOMAIN' and severity = 'HIGH'`],
    [`&since=${since}`, 'last_seen >= $2::timestamptz', since],
    [`&since=${since}&minConfidence=90`, 'confidence >= 90 and last_seen >= $2::timestamptz', since],
    [`&since=${since}&severity=LOW`, `severity = 'LOW' and last_seen >= $2::timestamptz`, since],
  ];
  for (const [query, condition, ...values] of filters) {
    const list = { get, client, where: `${VISIBLE} and ${condition}`, values, tlps };
    const total = await checkList({ ...list, path: path + query });
    const page = Math.ceil(total / 200);
    if (page > 1) await checkList({ ...list, path: `${path}${query}&page=${page}` });
  }
  for (const q of ['e', '.c', 'zq']) {
    const where = `${VISIBLE} and strpos(lower(normalized), $2) > 0`;
    await checkList({ get, client, path: `${path}&q=${q}`, where, values: [q], tlps });
  }
}

async function checkList({ get, client, path, where, values, tlps }) {
  const body = await get(path);
  const parameters = [tlps, ...values];
  const count = await client.query(`select count(*)::int as n from indicator where ${where}`, parameters);
  assert.equal(body.total, count.rows[0].n, `total of ${path}`);
  const page = await client.query(
    `select id from indicator where ${where} ${ORDER} limit 100 offset ${(body.page - 1) * 100}`,
    parameters,
  );
  const actual = body.data.map(({ id }) => id);
  const expected = page.rows.map(({ id }) => id);
  assert.deepEqual(actual, expected, `page of ${path}`);
  return body.total;
}

async function checkDetail(get, client, id, tlps) {
  const { rows } = await client.query(`select * from indicator where id = $2 and ${VISIBLE}`, [tlps, id]);
  const body = await get(`/api/v1/indicators/${id}`);
  if (!rows[0]) return assert.equal(body.code, 'not_found', id);
  const { type, value, confidence, severity, tlp, tags } = body.data;
  const row = rows[0];
  assert.deepEqual(
    [type, value, confidence, severity, tlp, tags, new Date(body.data.lastSeen)],
    [row.type, row.value, row.confidence, row.severity, row.tlp, row.tags, row.last_seen],
    id,
  );
}

async function checkContext(get, client, id, tlps) {
  const linkedCount = (
    kind,
    indicatorColumn,
    entityColumn,
  ) => `(select count(distinct o.id)::int from ${kind} o, relationship r
    where r.${indicatorColumn} = i.id and r.${entityColumn} = o.id and o.tlp::text = any ($1) and r.tlp::text = any ($1)) as ${kind}`;
  const { rows } = await client.query(
    `select ${linkedCount('actor', 'from_id', 'to_id')}, ${linkedCount('campaign', 'from_id', 'to_id')},
       ${linkedCount('report', 'to_id', 'from_id')},
       (select count(*)::int from enrichment e where e.indicator_id = i.id) as enrichment
     from indicator i where id = $2 and ${VISIBLE}`,
    [tlps, id],
  );
  const body = await get(`/api/v1/indicators/${id}/context`);
  if (!rows[0]) return assert.equal(body.code, 'not_found', id);
  const { actors, campaigns, reports, enrichments } = body;
  const counts = [actors, campaigns, reports, enrichments].map(({ length }) => length);
  const { actor, campaign, report, enrichment } = rows[0];
  assert.deepEqual(counts, [actor, campaign, report, enrichment], id);
}

async function checkCampaigns(get, client, tlps) {
  const body = await get('/api/v1/campaigns?pageSize=200');
  const { rows } = await client.query(
    `select c.id, (select count(distinct i.id)::int from indicator i, relationship r
       where r.from_id = i.id and r.to_id = c.id and r.tlp::text = any ($1)
       and not whitelisted and coalesce(expires_at, 'infinity') > now() and i.tlp::text = any ($1)) as n
     from campaign c where tlp::text = any ($1) order by start_date desc nulls last, id`,
    [tlps],
  );
  const actual = body.data.map(({ id, indicatorCount }) => ({ id, n: indicatorCount }));
  assert.deepEqual([body.total, actual], [rows.length, rows], 'campaigns');
}
