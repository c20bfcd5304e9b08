import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordAddressRules } from '../../src/exports/response-version.queries.ts';
import { runs } from '../properties/runs.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, NOW, startHarness } from '../support/harness.ts';

const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

onEveryEngine((engine) => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness(engine);
  });
  afterAll(() => harness.close());

  const record = (request: string, digests: Record<number, string>, seconds: number) =>
    recordAddressRules(harness.db, { key: request, variant: '' }, JSON.stringify(digests), later(seconds));

  it('the time of a rule rises when its addresses change, even within a second, and at no other time', async () => {
    const digests = fc.dictionary(
      fc.constantFrom('4000000000', '4000000004', '4000000008'),
      fc.constantFrom('a', 'b'),
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ digests, seconds: fc.constantFrom(0, 0, 1, 90_000) }), {
          minLength: 2,
          maxLength: 5,
        }),
        async (steps) => {
          run++;
          let now = 0;
          let before: { digests: Record<string, string>; times: Map<number, number> } | undefined;
          for (const { digests: rules, seconds } of steps) {
            now += seconds;
            const times = await record(`request ${run}`, rules, now);
            expect([...times.keys()].sort()).toEqual(Object.keys(rules).map(Number).sort());
            for (const [sid, time] of times) {
              const known = before?.times.get(sid);
              const isSame = before?.digests[sid] === rules[sid];
              if (known) expect(time > known).toBe(!isSame);
            }
            before = { digests: rules, times };
          }
        },
      ),
      runs(60),
    );
  });

  it('concurrent requests for one state have the same times', async () => {
    await record('shared', { 4000000000: 'a' }, 0);
    const [one, other] = await Promise.all([1, 2].map((s) => record('shared', { 4000000000: 'b' }, s)));
    expect(one).toEqual(other);
  });

  it('only the exports that were requested last have versions', { tags: ['nightly'] }, async () => {
    for (let i = 0; i < 203; i++) await record(`export ${i}`, { 4000000000: 'a' }, 100_000 + i);
    const rows = await harness.db.selectFrom('address_rule_version').select('request').execute();
    expect(rows).toHaveLength(200);
    expect(rows.map(({ request }) => request)).toContain('export 202');
    expect(rows.map(({ request }) => request)).not.toContain('export 0');
    // Of a forgotten export all rules count as changed: their times rise.
    expect((await record('export 0', { 4000000000: 'a' }, 200_000)).get(4000000000)).toBe(
      later(200_000).getTime() / 1000,
    );
  });
});
