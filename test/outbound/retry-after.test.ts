import { describe, expect, it } from 'vitest';
import { retryAfter } from '../../src/outbound/with-retry.ts';

const now = new Date('2026-06-01T12:00:00.000Z');
const second = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const unix = (at: Date) => String(at.getTime() / 1000);

describe('retryAfter', () => {
  it.each([
    ['seconds', '120', second(120)],
    ['a date', 'Mon, 01 Jun 2026 12:02:00 GMT', second(120)],
    ['a date of RFC 850', 'Monday, 01-Jun-26 12:02:00 GMT', second(120)],
    ['a date gone by', 'Mon, 01 Jun 2026 11:00:00 GMT', second(1)],
    ['no time at all', '0', second(1)],
    ['more than a day', '31536000', second(86_400)],
    ['more than there are dates', '999999999999999', second(86_400)],
  ])('parses %s', (_what, header, expected) => {
    expect(retryAfter({ 'retry-after': header }, undefined, now)).toEqual(expected);
  });

  it.each(['', 'soon', '-5', '1e3', '12.5', 'Mon, 99 Foo 2026 12:02:00 GMT', '9'.repeat(400)])(
    'returns null for %j',
    (header) => {
      expect(retryAfter({ 'retry-after': header }, undefined, now)).toBeNull();
    },
  );

  it("reads the provider's own header, in Unix seconds", () => {
    const headers = { 'x-ratelimit-reset': unix(second(600)) };
    expect(retryAfter(headers, 'x-ratelimit-reset', now)).toEqual(second(600));
  });

  it('prefers Retry-After', () => {
    const headers = { 'retry-after': '60', 'x-ratelimit-reset': unix(second(600)) };
    expect(retryAfter(headers, 'x-ratelimit-reset', now)).toEqual(second(60));
  });

  it('ignores a header that the provider does not document', () => {
    expect(retryAfter({ 'x-ratelimit-reset': unix(second(600)) }, undefined, now)).toBeNull();
  });
});
