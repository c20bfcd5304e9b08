import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDryRun } from '../../src/imports/dry-run.ts';
import { createCounts, createOwnCommits, NO_LEASE } from '../../src/imports/import-context.ts';
import { planIndicators } from '../../src/imports/import-indicators.ts';
import { ensureSource } from '../../src/sources/store/sources.queries.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness, WIDEST } from '../support/harness.ts';

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeAll(async () => void (tipline = await startHarness(engine)));
  afterAll(() => tipline.close());

  it('plans new indicators as new although the plan of another batch ends meanwhile, which had no stored ones', async () => {
    const defaults = { tlp: 'CLEAR', confidence: 50, severity: 'MEDIUM' } as const;
    const source = await ensureSource(tipline.db, 'Test', 'import', defaults, NOW);
    let reads = 0;
    const lastBatch = {
      besideReaders: false,
      get mostAreSame() {
        return reads++ === 0;
      },
      set mostAreSame(_) {},
    };
    const context = {
      db: tipline.db,
      source,
      now: NOW,
      counts: createCounts(),
      dryRun: false,
      tlpCeiling: 'RED' as const,
      widest: WIDEST,
      writer: NO_LEASE,
      commits: createOwnCommits(),
      lastBatch,
    };
    const records = [indicatorRecord('DOMAIN', 'new.test-feed.net')];
    const { indicators } = await planIndicators(context, records, createDryRun(source, tmpdir()));
    expect(indicators.writes).toMatchObject([{ newPlace: 1 }]);
  });
});
