import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openJobs } from '../../src/db/jobs.ts';
import { VERSION } from '../../src/version.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, METRICS_TOKEN, NOW, startHarness } from '../support/harness.ts';

const SHARED_MS = 5_000;

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeEach(async () => {
    tipline = await startHarness(engine);
  });
  afterEach(() => tipline.close());

  /** The samples of one metric, as they are written. */
  async function samples(name: string): Promise<string[]> {
    tipline.clock.now = new Date(tipline.clock.now.getTime() + SHARED_MS);
    const { body } = await tipline.get('/metrics', { key: METRICS_TOKEN });
    return body.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  }

  const addSource = (name: string, values: { success: Date | null; failures: number }) =>
    tipline.db
      .insertInto('source')
      .values({
        id: crypto.randomUUID(),
        name,
        kind: 'text',
        default_tlp: 'CLEAR',
        default_confidence: 50,
        default_severity: 'LOW',
        created_at: NOW,
        address: 'https://feed.example/list',
        interval_seconds: 3600,
        last_success_at: values.success,
        errors_in_a_row: values.failures,
      })
      .execute();

  describe('/metrics', () => {
    it('reports the version', async () => {
      expect(await samples('tipline_build_info')).toEqual([
        expect.stringContaining(`version="${VERSION}",commit="`),
      ]);
    });

    it('reports the last success and the consecutive failures of each source', async () => {
      await addSource('good', { success: NOW, failures: 0 });
      await addSource('never', { success: null, failures: 3 });
      expect(await samples('tipline_source_last_success_timestamp_seconds')).toEqual([
        `tipline_source_last_success_timestamp_seconds{source="good"} ${NOW.getTime() / 1000}`,
        'tipline_source_last_success_timestamp_seconds{source="never"} 0',
      ]);
      expect(await samples('tipline_source_consecutive_failures')).toEqual([
        'tipline_source_consecutive_failures{source="good"} 0',
        'tipline_source_consecutive_failures{source="never"} 3',
      ]);
    });

    it('counts visible indicators by type, and all stored ones', async () => {
      const past = new Date(NOW.getTime() - 1000);
      await tipline.load([
        ...Array.from({ length: 600 }, (_, n) => indicatorRecord('DOMAIN', `d${n}.example`)),
        indicatorRecord('IPV4', '198.51.100.1', { tlp: 'RED' }),
        indicatorRecord('IPV4', '198.51.100.2', { expiresAt: past }),
      ]);
      expect(await samples('tipline_indicators_visible')).toEqual([
        'tipline_indicators_visible{type="IPV4"} 1',
        'tipline_indicators_visible{type="DOMAIN"} 600',
      ]);
      expect(await samples('tipline_indicators_stored')).toEqual(['tipline_indicators_stored 602']);
    });

    it('counts queued enrichment requests by provider, up to a bound', async () => {
      await tipline.load([indicatorRecord('DOMAIN', 'a.example')]);
      await sql`insert into provider (name) values ('busy'), ('idle')`.execute(tipline.db);
      await sql`alter table enrichment_request disable trigger all`.execute(tipline.db);
      await sql`insert into enrichment_request (indicator_id, provider, priority, requested_at)
        select gen_random_uuid(), 'busy', 1, now() from generate_series(1, 10050)`.execute(tipline.db);
      await sql`alter table enrichment_request enable trigger all`.execute(tipline.db);
      expect(await samples('tipline_enrichment_requests')).toEqual([
        'tipline_enrichment_requests{provider="busy"} 10000',
        'tipline_enrichment_requests{provider="idle"} 0',
      ]);
    });

    it('counts the jobs in each queue by state', async () => {
      const queue = { name: 'counted', policy: 'standard' as const };
      const boss = await openJobs(tipline, [queue], () => {});
      // Another suite may have left jobs in the shared schema.
      await sql`delete from pgboss.job`.execute(tipline.db);
      for (let i = 0; i < 3; i++) await boss.send(queue.name, {});
      await boss.fetch(queue.name);
      const counted = await samples('tipline_queue_jobs');
      await sql`delete from pgboss.job`.execute(tipline.db);
      await boss.stop({ graceful: false, wait: true, close: false });
      expect(counted).toEqual([
        'tipline_queue_jobs{queue="counted",state="active"} 1',
        'tipline_queue_jobs{queue="counted",state="waiting"} 2',
      ]);
    });

    it('sums the imports of the last day', async () => {
      const rows = [1, 30].map((hours) => ({
        at: new Date(NOW.getTime() - hours * 3_600_000),
        id: crypto.randomUUID(),
      }));
      for (const { id, at } of rows)
        await sql`insert into import_run (id, source, file_name, file_bytes, format, dry_run, who, state, started_at, ended_at,
            heartbeat_at, counts)
          values (${id}, 's', 'f', 1, 'csv', false, 'test', 'done', ${at}, ${new Date(at.getTime() + 7000)}, ${at},
            '{"indicator": {"new": 5, "updated": 1, "unchanged": 2, "rejected": 3}, "actor": {"new": 1}}')`.execute(
          tipline.db,
        );
      expect(await samples('tipline_imports_last_day')).toEqual(['tipline_imports_last_day{state="done"} 1']);
      expect(await samples('tipline_imports_last_day_seconds')).toEqual([
        'tipline_imports_last_day_seconds{state="done"} 7',
      ]);
      expect(await samples('tipline_imports_last_day_records')).toEqual(
        Object.entries({ new: 6, updated: 1, unchanged: 2, rejected: 3 }).map(
          ([outcome, count]) => `tipline_imports_last_day_records{outcome="${outcome}"} ${count}`,
        ),
      );
    });

    it('reports the expiry of keys that expire soon', async () => {
      const expiresAt = new Date(NOW.getTime() + 86_400_000);
      await tipline.newKey({ name: 'soar', expiresAt });
      expect(await samples('tipline_api_key_expiry_timestamp_seconds')).toEqual([
        expect.stringMatching(`{key="soar",id="[^"]+"} ${expiresAt.getTime() / 1000}$`),
      ]);
    });

    it('queries the database once per five seconds', async () => {
      expect(await samples('tipline_indicators_stored')).toEqual(['tipline_indicators_stored 0']);
      await tipline.load([indicatorRecord('DOMAIN', 'a.example')]);
      const { body } = await tipline.get('/metrics', { key: METRICS_TOKEN });
      expect(body).toContain('tipline_indicators_stored 0');
      expect(await samples('tipline_indicators_stored')).toEqual(['tipline_indicators_stored 1']);
    });

    it('responds also when the database cannot be read', async () => {
      await sql`alter table revision rename to revision_elsewhere`.execute(tipline.db);
      const readable = await samples('tipline_state_readable').finally(() =>
        sql`alter table revision_elsewhere rename to revision`.execute(tipline.db),
      );
      expect(readable).toEqual(['tipline_state_readable 0']);
      expect(await samples('tipline_state_readable')).toEqual(['tipline_state_readable 1']);
    });
  });
});
