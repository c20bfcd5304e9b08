import { expect, it } from 'vitest';
import { relativeTime } from '../../web/src/parts/format.ts';

it.each([
  ['2026-11-29T10:00:00Z', '2026-11-27T23:00:00Z', '1 day ago'],
  ['2026-11-29T10:00:00Z', '2026-11-30T23:00:00Z', 'in 2 days'],
  ['2026-03-01T00:00:00Z', '2026-01-16T00:00:00Z', '1 month ago'],
  ['2026-11-29T10:00:00Z', '2025-11-01T00:00:00Z', '1 year ago'],
  ['2026-11-29T10:00:00.000Z', '2026-11-29T09:59:59.600Z', 'now'],
  ['2026-11-29T10:00:00.000Z', '2026-11-29T10:00:00.400Z', 'now'],
])('at %s, %s is "%s"', (now, instant, text) => {
  expect(relativeTime(instant, Date.parse(now))).toBe(text);
});
