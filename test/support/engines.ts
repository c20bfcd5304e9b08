import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, inject } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openDatabase, openInMemory } from '../../src/db/open.ts';

import { checkStatement } from './executed-statements.ts';

export interface TestEngine {
  name: 'embedded' | 'postgresql';
  open(): Promise<Database>;
  /** One that nobody has used before. */
  openNew(): Promise<Database>;
}

/** The engines that are here: the embedded one always, PostgreSQL where it is installed. */
export const EMBEDDED: TestEngine = {
  name: 'embedded',
  open: reusing(openEmbedded),
  openNew: openEmbedded,
};
export const ENGINES: TestEngine[] = [EMBEDDED];
const POSTGRES_URL = inject('postgresUrl');
if (POSTGRES_URL) {
  const openNew = () => openFreshPostgres(POSTGRES_URL);
  ENGINES.push({ name: 'postgresql', open: reusing(openNew), openNew });
}

/** In memory, with the tables that the run made once. */
async function openEmbedded(): Promise<Database> {
  return openInMemory(await openAsBlob(inject('emptyStore').snapshot), checkStatement);
}

/** Open databases that nobody uses, of each engine. */
const MAX_IDLE = 2;

/** Opening takes a second; emptying does not. A closed database is emptied and opened again, also by the next test file. */
function reusing(open: () => Promise<Database>): () => Promise<Database> {
  const idle: Database[] = [];
  return async () => {
    const database = idle.pop() ?? (await open());
    await sql.raw(SUM_ALL).execute(database.db);
    return {
      ...database,
      async close() {
        if (idle.length === MAX_IDLE) return database.close();
        await empty(database);
        idle.push(database);
      },
    };
  };
}

/** The tables that tests write to; those that reference them are among them. */
const WRITTEN =
  `app_user, app_session, app_pending_sign_in, app_two_factor, app_identity, indicator, indicator_source, enrichment, actor, campaign, technique, software, report, attribute,
  relationship, external_id, entity_source, entity_key, import_change, import_batch, import_relationship_change, record_withdrawal, api_key, crowdsec_position, crowdsec_deletion, feed_webhook, feed, feed_day_count, feed_hold, source_hold, source, response_version, import_run, whitelist,
  whitelist_entry, whitelist_hit, provider, enrichment_request, audit, revision_log, change_date, indicator_history, link_history, entity_history, epss_score,
  network_prefix, list_segment, list_segment_state, list_gram, list_tag, list_segment_tag, first_seen_segment, first_seen_segment_tag, first_seen_segment_week, first_seen_change, list_source,
  list_segment_source, first_seen_segment_source, statement_change, lost_period`.split(/,\s+/);

/** The sums that triggers update. */
const SUMS =
  'indicator_summary, indicator_tag_summary, campaign_summary, source_summary, indicator_campaign'.split(
    ', ',
  );

/** A table with more rows is truncated. That makes new files for it and its indexes, and its statements are planned again. */
const MANY = 300;

/** The sums of a new store leave out what expires before the present time, which is after the time of the tests. */
const SUM_ALL = `update indicator_summary_expiry set expires_at = '-infinity', next_expires_at = '-infinity', next_id = id`;

const EMPTY = `
  do $$
  declare
    large text;
  begin
    perform set_config('session_replication_role', 'replica', true);
    select string_agg(name, ', ') into large
    from (${[...WRITTEN, ...SUMS].map((table) => `select '${table}' as name where exists (select from ${table} offset ${MANY})`).join(' union all ')}) as written;
    if large is not null then execute 'truncate ' || large || ' cascade'; end if;
    ${[...WRITTEN, ...SUMS].map((table) => `delete from ${table};`).join(' ')}
    update app_role set tlp_ceiling = (case name when 'viewer' then 'AMBER' when 'analyst' then 'AMBER_STRICT' else 'RED' end)::tlp;
    delete from meta where name <> 'installation';
    update whitelist_state set edition = gen_random_uuid(), lists_edition = gen_random_uuid(), applied = null, position = null;
    update revision set value = 0, last_number = 0;
    perform setval('change_number', 0);
    insert into change_date (first_number, last_number, first_date, revision) values (0, 0, 0, 0);
  end $$`;

async function empty({ db }: Database): Promise<void> {
  await sql.raw(EMPTY).execute(db);
}

/** The same suite on every engine. */
export function onEveryEngine(suite: (engine: TestEngine) => void): void {
  describe.each(ENGINES)('on $name', suite);
}

/** A database of its own; it goes with the server. */
async function openFreshPostgres(url: string): Promise<Database> {
  const fresh = await freshPostgresUrl(url);
  return openDatabase({
    url: fresh.url,
    dataDirectory: '',
    allowRemote: false,
    onIdleError: () => {},
    log: checkStatement,
  });
}

/** @param options of `create database` */
export async function freshPostgresUrl(
  url: string,
  options = '',
): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const admin = async (statement: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  await admin(`create database ${name} ${options}`);
  return {
    url: url.replace(/\/[^/]*$/, `/${name}`),
    drop: () => admin(`drop database ${name} with (force)`),
  };
}
