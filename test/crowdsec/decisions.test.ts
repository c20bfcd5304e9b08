import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type DecisionRow,
  deletionOf,
  matchingBlocks,
  maxDuration,
  mustResend,
  toDecision,
} from '../../src/crowdsec/decisions.ts';
import { dueRenewals, isDue } from '../../src/crowdsec/renewal.ts';
import { runs } from '../properties/runs.ts';

const NOW = new Date('2026-06-01T12:00:00.000Z');
const HOUR = 3_600_000;
const context = { now: NOW, maxMs: maxDuration(30) };

const row = (fields: Partial<DecisionRow> = {}) => ({
  number: 7,
  type: 'IPV4' as const,
  value: '192.0.2.1',
  tags: [],
  expires_at: null,
  for_detection: true,
  whitelisted_parts: null,
  ...fields,
});
const expiring = (ms: number) => row({ expires_at: new Date(NOW.getTime() + ms) });

it.each([
  [1, '1s'],
  [999, '1s'],
  [59_999, '59s'],
  [60_000, '1m0s'],
  [4 * HOUR - 500, '3h59m59s'],
  [2_147_483_000, '596h31m23s'],
  [9 * 365 * 24 * HOUR, '596h31m23s'],
])('a decision that ends in %d ms has the duration %s', (ms, duration) => {
  expect(toDecision('192.0.2.1', expiring(ms), context).duration).toBe(duration);
});

it('no decision outlasts the history', () => {
  const short = { now: NOW, maxMs: maxDuration(1) };
  expect(toDecision('192.0.2.1', expiring(90 * 24 * HOUR), short).duration).toBe('24h0m0s');
});

it.each([
  [['c2', 'botnet'], 'c2,botnet'],
  [[], 'tipline'],
  [['a\nb\u202e\u0000c'], 'abc'],
  [['x'.repeat(255), 'y'], 'x'.repeat(255)],
  [['x'.repeat(256)], 'tipline'],
])('the tags %j are the scenario %s', (tags, scenario) => {
  expect(toDecision('192.0.2.1', row({ tags }), context).scenario).toBe(scenario);
});

it('the id is the number of the indicator, and that of a part follows from the part', () => {
  const network = { ...row({ value: '192.0.2.0/31', whitelisted_parts: ['192.0.2.0'] }) };
  expect(matchingBlocks(network, {})).toEqual(['192.0.2.1']);
  const { id } = toDecision('192.0.2.1', network, context);
  expect(toDecision('192.0.2.1', row(), context).id).toBe(7);
  expect(id).toBeGreaterThan(2 ** 51);
  expect(Number.isSafeInteger(id)).toBe(true);
  expect(deletionOf('192.0.2.1', network)).toEqual({ id, value: '192.0.2.1' });
});

it.each([
  ['the same expiry', 5, 5, false],
  ['an earlier expiry', 5, 4, true],
  ['a later expiry of what ends before it is renewed', 5, 50, true],
  ['a later expiry of what is renewed before it ends', 14, 50, false],
  ['an expiry where there was none', null, 50, true],
  ['no expiry where there was a near one', 5, null, true],
  ['no expiry where there was a far one', 50, null, false],
])('%s: sent again at once', (_, before, after, expected) => {
  const at = (hours: number | null) => (hours === null ? row() : expiring(hours * HOUR));
  expect(mustResend(at(before), at(after), NOW)).toBe(expected);
});

it('each indicator is renewed exactly once in each twelve hours, however often a client polls', () => {
  const minutes = fc.integer({ min: 10, max: 180 });
  fc.assert(
    fc.property(fc.uuid(), fc.array(minutes, { minLength: 1, maxLength: 80 }), (id, steps) => {
      let at = NOW.getTime();
      let times = 0;
      const end = at + 12 * HOUR;
      for (const step of steps) {
        const now = Math.min(at + step * 60_000, end);
        const due = dueRenewals(at, now);
        if (!due) continue;
        if (isDue(due, id)) times++;
        at = now;
      }
      const rest = end - at;
      if (rest >= 600_000 && isDue(dueRenewals(at, end) ?? { from: '', before: '' }, id)) times++;
      expect(times).toBeLessThanOrEqual(1);
      if (rest === 0 || rest >= 600_000) expect(times).toBe(1);
    }),
    runs(300),
  );
});

it('all are renewed after twelve hours without a poll', () => {
  const due = dueRenewals(NOW.getTime(), NOW.getTime() + 12 * HOUR);
  fc.assert(fc.property(fc.uuid(), (id) => due !== null && isDue(due, id)));
});
