import { describe, expect, it } from 'vitest';
import { parseDate, parseUnixSeconds, parseUsDate } from '../../src/importers/dates.ts';

describe('parseDate', () => {
  it.each([
    ['2017-01-20T00:00:00.000Z', '2017-01-20T00:00:00.000Z'],
    ['2020-09-05T12:30:00.123456+02:00', '2020-09-05T10:30:00.123Z'],
    ['2020-09-05T12:30:00-0130', '2020-09-05T14:00:00.000Z'],
    ['2020-09-05T12:30:00+23:59', '2020-09-04T12:31:00.000Z'],
    ['2026-02-07 04:31:13', '2026-02-07T04:31:13.000Z'],
    ['2026-02-07 04:31:13 UTC', '2026-02-07T04:31:13.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ])('parses %s', (text, iso) => {
    expect(parseDate(text)?.toISOString()).toBe(iso);
  });

  it.each([
    '2023-02-29',
    '0000-01-01',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '2023-13-01',
    '2023-00-10',
    '2023-01-01T24:00:00Z',
    '2024-05-28T10:00:00-99:99',
    '2024-05-28T10:00:00+24:00',
    '2024-05-28T10:00:00+0060',
    'yesterday',
    '',
    '1/2/2023',
    '2023',
  ])('returns null for %j', (text) => {
    expect(parseDate(text)).toBeNull();
  });
});

describe('parseUsDate', () => {
  it('expects the month first', () => {
    expect(parseUsDate('5/28/2021')?.toISOString()).toBe('2021-05-28T00:00:00.000Z');
  });

  it.each(['19/20/2022', '2/30/2022', '5/28/21'])('returns null for %s', (text) => {
    expect(parseUsDate(text)).toBeNull();
  });
});

describe('parseUnixSeconds', () => {
  it('accepts digit strings and numbers', () => {
    expect(parseUnixSeconds('1500000000')).toEqual(parseUnixSeconds(1_500_000_000));
  });

  it.each(['0', '', 'soon', -5, 1.5, 1e15, null])('returns null for %j', (value) => {
    expect(parseUnixSeconds(value)).toBeNull();
  });
});
