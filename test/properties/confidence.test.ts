import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { saveAnswer } from '../../src/enrichment/enrichments.service.ts';
import { greynoise } from '../../src/enrichment/providers/greynoise.ts';
import type { Provider } from '../../src/enrichment/providers/provider.ts';
import { failed, judged } from '../../src/enrichment/providers/provider.ts';
import { changePin } from '../../src/indicators/confidence/confidence.service.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { runs } from './runs.ts';

/** A provider that says what the test has it say. */
const provider = (name: string): Provider => ({
  ...greynoise,
  name,
  assess: (raw) => (raw === 'failure' ? failed('no answer') : judged(raw as number | null, 3600)),
});

type Step =
  | { do: 'import'; source: string; confidence: number | null }
  | { do: 'enrich'; provider: string; score: number | null | 'failure' }
  | { do: 'pin'; confidence: number }
  | { do: 'unpin' };

const percent = fc.integer({ min: 0, max: 100 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('import' as const),
    source: fc.constantFrom('a', 'b'),
    confidence: fc.option(percent),
  }),
  fc.record({
    do: fc.constant('enrich' as const),
    provider: fc.constantFrom('x', 'y'),
    score: fc.oneof(percent, fc.constantFrom(null, 'failure' as const)),
  }),
  fc.record({ do: fc.constant('pin' as const), confidence: percent }),
  fc.record({ do: fc.constant('unpin' as const) }),
);

/** The contract's lock table, said once more and otherwise than in the product. */
function model() {
  const stated = new Map<string, number>();
  const scores = new Map<string, number | null>();
  let pinned: number | null = null;
  return {
    apply(one: Step) {
      if (one.do === 'import') stated.set(one.source, one.confidence ?? 50);
      else if (one.do === 'enrich' && one.score !== 'failure') scores.set(one.provider, one.score);
      else if (one.do === 'pin') pinned = one.confidence;
      else if (one.do === 'unpin') pinned = null;
    },
    get shown() {
      const given = [...scores.values()].filter((score) => score !== null);
      return {
        confidence: pinned ?? (given.length > 0 ? Math.max(...given) : Math.max(...stated.values())),
        confidenceLocked: pinned !== null,
      };
    },
  };
}

onEveryEngine((engine) => {
  let tipline: Harness;
  let serial = 0;
  beforeAll(async () => {
    tipline = await startHarness(engine);
  });
  afterAll(() => tipline.close());

  async function world() {
    const value = `203.0.113.${serial % 250}`.replace('113', String((serial++ / 250) | 0));
    const id = indicatorId('IPV4', value);
    const at = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000);
    let time = 0;
    const apply = async (one: Step) => {
      const now = at(++time);
      const why = { who: 'test', reason: null, now };
      if (one.do === 'import') {
        await tipline.load(
          [indicatorRecord('IPV4', value, { confidence: one.confidence, statedAt: now })],
          one.source,
        );
      } else if (one.do === 'enrich') {
        const answer = { type: 'IPV4' as const, value, fetchedAt: now, raw: one.score };
        await saveAnswer(tipline.db, provider(one.provider), answer, now);
      } else if (one.do === 'pin') {
        await changePin(tipline.db, id, { kind: 'pin', confidence: one.confidence }, why);
      } else await changePin(tipline.db, id, { kind: 'unpin' }, why);
    };
    const shown = async () => {
      const { confidence, confidenceLocked } = (await tipline.get(`/api/v1/indicators/${id}/context`)).json();
      return { confidence, confidenceLocked };
    };
    return { id, apply, shown };
  }
  const first: Step = { do: 'import', source: 'a', confidence: null };

  it('the confidence follows the precedence rules after any sequence of operations', async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { apply, shown } = await world();
      const expected = model();
      for (const one of [first, ...steps]) {
        await apply(one);
        expected.apply(one);
        expect(await shown()).toEqual(expected.shown);
      }
    });
    await fc.assert(property, runs(10));
  });

  it('concurrent imports and enrichments never override a pin', async () => {
    const automatic = fc.array(
      step.filter(({ do: what }) => what === 'import' || what === 'enrich'),
      { minLength: 1, maxLength: 4 },
    );
    const property = fc.asyncProperty(automatic, percent, async (steps, confidence) => {
      const { apply, shown } = await world();
      await apply(first);
      await Promise.all([...steps.map(apply), apply({ do: 'pin', confidence })]);
      expect(await shown()).toEqual({ confidence, confidenceLocked: true });
    });
    await fc.assert(property, runs(10));
  });

  it('audits exactly the pins, changes and unpins, with before and after', async () => {
    const { id, apply } = await world();
    for (const one of [
      first,
      { do: 'pin', confidence: 80 },
      { do: 'pin', confidence: 80 },
      { do: 'pin', confidence: 20 },
      { do: 'unpin' },
      { do: 'unpin' },
    ] as Step[])
      await apply(one);
    const rows = await tipline.db
      .selectFrom('audit')
      .select(['action', 'who', 'before', 'after'])
      .where('object_id', '=', id)
      .orderBy('id')
      .execute();
    expect(rows).toEqual([
      {
        action: 'confidence.pin',
        who: 'test',
        before: { confidence: 50, pinned: null },
        after: { confidence: 80, pinned: 80 },
      },
      {
        action: 'confidence.change',
        who: 'test',
        before: { confidence: 80, pinned: 80 },
        after: { confidence: 20, pinned: 20 },
      },
      {
        action: 'confidence.unpin',
        who: 'test',
        before: { confidence: 20, pinned: 20 },
        after: { confidence: 50, pinned: null },
      },
    ]);
  });
});
