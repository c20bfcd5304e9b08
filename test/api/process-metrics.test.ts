import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, METRICS_TOKEN, startHarness } from '../support/harness.ts';

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    await tipline.load(Array.from({ length: 600 }, (_, n) => indicatorRecord('DOMAIN', `d${n}.example`)));
  });
  afterEach(() => tipline.close());

  async function sample(series: string): Promise<number> {
    const { body } = await tipline.get('/metrics', { key: METRICS_TOKEN });
    const line = body.split('\n').find((text) => text.startsWith(`${series} `));
    return Number(line?.slice(series.length));
  }

  describe('/metrics', () => {
    it('counts each list request as a hit, shared or a miss', async () => {
      let requests = 0;
      const list = async () => {
        requests++;
        await tipline.get('/api/v1/indicators');
      };
      const counts = () =>
        Promise.all(
          ['hit', 'shared', 'miss'].map((result) =>
            sample(`tipline_response_cache_requests_total{result="${result}"}`),
          ),
        );
      // A response is sent again once the node knows the latest revision.
      await vi.waitFor(async () => {
        await list();
        expect((await counts())[0]).toBeGreaterThan(0);
      });
      const [, , misses = 0] = await counts();
      await tipline.load([indicatorRecord('DOMAIN', 'new.example')]);
      await list();
      expect((await counts())[2]).toBe(misses + 1);
      expect((await counts()).reduce((sum, count) => sum + count)).toBe(requests);
      expect(await sample('tipline_response_cache_entries')).toBe(1);
      expect(await sample('tipline_response_cache_bytes')).toBeGreaterThan(1_000);
    });

    it('counts each key lookup as a hit or a miss', async () => {
      const key = await tipline.newKey({ scopes: ['indicators:read'] });
      const [hits, misses] = ['hit', 'miss'].map(
        (result) => `tipline_key_cache_lookups_total{result="${result}"}`,
      ) as [string, string];
      let requests = 0;
      await vi.waitFor(async () => {
        requests++;
        await tipline.get('/api/v1/indicators', { key });
        expect(await sample(hits)).toBeGreaterThan(0);
      });
      expect((await sample(hits)) + (await sample(misses))).toBe(requests);
      expect(await sample('tipline_key_cache_entries')).toBe(1);
    });

    it('counts requests to the rate-limit store', async () => {
      for (let i = 0; i < 5; i++) await tipline.get('/api/v1/indicators');
      expect(await sample('tipline_rate_limit_store_requests_total')).toBe(5);
      expect(await sample('tipline_rate_limit_leased_requests_total')).toBe(0);
    });

    it('reports the size of the spool', async () => {
      const before = await sample('tipline_spool_files');
      const { body } = await tipline.get('/api/v1/exports/csv');
      expect(before).toBe(0);
      expect(await sample('tipline_spool_files')).toBe(1);
      expect(await sample('tipline_spool_bytes')).toBe(Buffer.byteLength(body));
    });
  });
});
