import { parseArgs } from 'node:util';
import pg from 'pg';
import { countSegments, openDatabase } from '../dist/bench.js';
import { copyRows, openCopy } from './copy.mjs';
import { enrichmentRows } from './enrichments.mjs';
import { entities, linkRow, sources } from './entities.mjs';
import { indicators } from './indicators.mjs';
import { seededRandom } from './random.mjs';

export const SEED = 20_260_101;
/** As a sweep at this time would leave it. */
const SUMMED_UNTIL =
  'update indicator_summary_expiry set expires_at = $1, next_expires_at = $1, next_id = id';
/** The summaries are filled afterwards, because triggers are disabled during COPY. */
const SUMMARY = `insert into indicator_summary
  select type, severity, tlp, confidence, for_detection, count(*),
    bit_xor(indicator_hash(i.id, version, created_at, modified_at))
  from indicator as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
  group by type, severity, tlp, confidence, for_detection`;
const TAG_SUMMARY = `insert into indicator_tag_summary
  select tag, type, severity, tlp, count(*)
  from indicator as i, indicator_summary_expiry as last, unnest(array_prepend(''::text, tags)) as tag
  where is_summed(whitelisted, i.expires_at, i.id, last)
  group by tag, type, severity, tlp`;
const CAMPAIGNS = `insert into indicator_campaign
  select to_id, from_id, min(tlp) from relationship where from_kind = 'indicator' and to_kind = 'campaign' group by to_id, from_id`;
const CAMPAIGN_SUMMARY = `insert into campaign_summary
  select c.campaign_id, greatest(c.tlp, i.tlp), count(*)
  from indicator_summary_expiry as last, indicator_campaign as c join indicator as i on i.id = c.indicator_id
  where is_summed(i.whitelisted, i.expires_at, i.id, last) group by 1, 2`;
const SOURCE_SUMMARY = `insert into source_summary
  select s.source_id, i.type, i.severity, greatest(s.tlp, i.tlp), i.confidence, count(*)
  from indicator_summary_expiry as last, indicator_source as s join indicator as i on i.number = s.indicator_number
  where is_summed(i.whitelisted, i.expires_at, i.id, last) group by 1, 2, 3, 4, 5`;
const SOURCE_COLUMNS = 'id name kind default_tlp default_confidence default_severity created_at';
export const INDICATOR_COLUMNS =
  'id number type value normalized search_text confidence severity tlp tags source_id first_seen last_seen expires_at for_detection whitelisted created_at revision';
const ENRICHMENT_COLUMNS = 'indicator_id provider verdict score fetched_at expires_at error raw revision';

/**
 * Fills an empty PostgreSQL database with `count` indicators and the objects linked to them. The same day gives the same
 * data: times count back from the last midnight (UTC), so that some indicators have expired and others have not.
 */
export async function generate(url, count, log = () => {}) {
  const now = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000);
  const database = await openDatabase({ url, dataDirectory: '', allowRemote: false, onIdleError: () => {} });
  await database.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const indexes = await dropIndexes(client);
  await copyRows(url, 'source', SOURCE_COLUMNS, sources.rows(now));
  const tables = entities(now, SEED);
  for (const [table, { columns, rows }] of Object.entries(tables)) await copyRows(url, table, columns, rows);
  await copyIndicators(url, count, now, tables.relationship.columns, log);
  await writeSourceStatements(client, now);
  await client.query('update revision set value = 1, last_number = $1', [count]);
  await client.query('insert into revision_log (revision) values (1)');
  log('building indexes');
  await client.query("set maintenance_work_mem = '1GB'");
  for (const definition of indexes) await client.query(definition);
  await client.query(SUMMED_UNTIL, [now]);
  await client.query(SUMMARY);
  await client.query(TAG_SUMMARY);
  await client.query(CAMPAIGNS);
  await client.query(CAMPAIGN_SUMMARY);
  await client.query(SOURCE_SUMMARY);
  // As autovacuum would: index-only scans need pages that are marked as all-visible.
  await client.query('vacuum (analyze)');
  const filled = await openDatabase({ url, dataDirectory: '', allowRemote: false, onIdleError: () => {} });
  await countSegments(filled.db, new Date());
  await filled.close();
  await client.end();
}

async function copyIndicators(url, count, now, linkColumns, log) {
  const random = seededRandom(SEED + 2);
  const copies = {
    indicator: openCopy(url, 'indicator', INDICATOR_COLUMNS),
    relationship: openCopy(url, 'relationship', linkColumns),
    enrichment: openCopy(url, 'enrichment', ENRICHMENT_COLUMNS),
  };
  for (const indicator of indicators({ count, now, seed: SEED, sources })) {
    await copies.indicator.write(indicatorRow(indicator, now));
    for (const link of indicator.links) await copies.relationship.write(linkRow(indicator, link));
    if (indicator.enriched)
      for (const row of enrichmentRows(indicator, now, random)) await copies.enrichment.write(row);
    if (indicator.number % 100_000 === 0) log(`${indicator.number} indicators`);
  }
  for (const copy of Object.values(copies)) await copy.end();
}

export function indicatorRow(indicator, now) {
  const lower = indicator.normalized.toLowerCase();
  return [
    indicator.id,
    indicator.number,
    indicator.type,
    indicator.value,
    indicator.normalized,
    lower === indicator.normalized ? null : lower,
    indicator.confidence,
    indicator.severity,
    indicator.tlp,
    indicator.tags,
    indicator.sourceId,
    indicator.firstSeen,
    indicator.lastSeen,
    indicator.expiresAt,
    indicator.forDetection,
    indicator.whitelisted,
    now,
    1,
  ];
}

/** Writes one statement by one source for each indicator. */
async function writeSourceStatements(client, now) {
  await client.query('set session_replication_role = replica');
  await client.query(
    `insert into indicator_source select number, source_id, last_seen, first_seen, last_seen, $1, expires_at, confidence,
       severity, tlp, tags, for_detection from indicator`,
    [now],
  );
}

/** Drops the indexes that no constraint needs, which are faster to build afterwards. @returns their definitions */
async function dropIndexes(client) {
  const { rows } = await client.query(
    `select indexname, indexdef from pg_indexes where schemaname = 'public'
     and tablename in ('indicator', 'indicator_source', 'relationship')
     and indexname not in (select conname from pg_constraint)`,
  );
  for (const { indexname } of rows) await client.query(`drop index ${indexname}`);
  return rows.map(({ indexdef }) => indexdef);
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: { rows: { type: 'string', default: '1000000' }, url: { type: 'string' } },
  });
  if (!values.url) throw new Error('Usage: node bench/generate.mjs --url postgres://… [--rows N]');
  await generate(values.url, Number(values.rows), (line) => console.log(line));
}
