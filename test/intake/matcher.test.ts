import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { changePin } from '../../src/indicators/confidence/confidence.service.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { currentMatcher } from '../../src/whitelist/current-matcher.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeEach(async () => {
    tipline = await startHarness(engine);
  });
  afterEach(() => tipline.close());

  it('the whitelist matcher and concurrent transactions do not deadlock', async () => {
    await tipline.load(Array.from({ length: 40 }, (_, i) => indicatorRecord('IPV4', `45.61.49.${i + 1}`)));
    await sql`update whitelist_state set edition = gen_random_uuid()`.execute(tipline.db);
    const pins = Array.from({ length: 40 }, (_, i) =>
      changePin(
        tipline.db,
        indicatorId('IPV4', `45.61.49.${i + 1}`),
        { kind: 'pin', confidence: 7 },
        { who: 'test', reason: null, now: NOW },
      ),
    );
    await Promise.all([currentMatcher(tipline.db), ...pins, currentMatcher(tipline.db)]);
    const { total } = (await tipline.get('/api/v1/indicators')).json();
    expect(total).toBe(40);
  });
});
