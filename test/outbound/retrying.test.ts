import { describe, expect, it, vi } from 'vitest';
import { type OutboundCode, OutboundError } from '../../src/outbound/outbound-error.ts';
import { type RetryOptions, withRetry } from '../../src/outbound/with-retry.ts';
import { codeOf } from './test-outbound.ts';

const failing = (code: OutboundCode) => new OutboundError(code, 'as the test wants it');

/** Options with pauses that take no time, and how long each would have been. */
function withoutWaiting(more: Partial<RetryOptions> = {}) {
  const pauses: number[] = [];
  const pause = async (milliseconds: number) => void pauses.push(milliseconds);
  return { pauses, options: { attempts: 3, pause, ...more } };
}

describe('withRetry', () => {
  it.each<OutboundCode>(['unreachable', 'timeout', 'broken_transfer'])('retries after %s', async (code) => {
    const { options } = withoutWaiting();
    const attempt = vi.fn(async () => ({ status: 200, headers: {} })).mockRejectedValueOnce(failing(code));
    expect(await withRetry(attempt, options)).toEqual({ status: 200, headers: {} });
    expect(attempt).toHaveBeenCalledTimes(2);
  });

  it.each<OutboundCode>([
    'not_allowed',
    'bad_url',
    'bad_certificate',
    'too_large',
    'bad_encoding',
    'aborted',
  ])('fails immediately after %s', async (code) => {
    const { options } = withoutWaiting();
    const attempt = vi.fn(async () => Promise.reject(failing(code)));
    expect(await codeOf(withRetry(attempt, options))).toBe(code);
    expect(attempt).toHaveBeenCalledTimes(1);
  });

  it('fails immediately after an error that is not an OutboundError', async () => {
    const attempt = vi.fn(async () => Promise.reject(new TypeError('a bug')));
    await expect(withRetry(attempt, withoutWaiting().options)).rejects.toThrow('a bug');
    expect(attempt).toHaveBeenCalledTimes(1);
  });

  it('throws the last error when all attempts are used up', async () => {
    const { options } = withoutWaiting();
    const attempt = vi.fn(async () => Promise.reject(failing('timeout')));
    expect(await codeOf(withRetry(attempt, options))).toBe('timeout');
    expect(attempt).toHaveBeenCalledTimes(3);
  });

  it.each([502, 503, 504])(
    'retries %s only with busyStatuses, and returns the last response',
    async (status) => {
      const attempt = vi.fn(async () => ({ status, headers: {} }));
      expect(await withRetry(attempt, withoutWaiting().options)).toEqual({ status, headers: {} });
      expect(attempt).toHaveBeenCalledTimes(1);
      expect(await withRetry(attempt, withoutWaiting({ busyStatuses: true }).options)).toEqual({
        status,
        headers: {},
      });
      expect(attempt).toHaveBeenCalledTimes(4);
    },
  );

  it.each([200, 304, 404, 429, 500])('returns %s without a retry', async (status) => {
    const attempt = vi.fn(async () => ({ status, headers: {} }));
    await withRetry(attempt, withoutWaiting({ busyStatuses: true }).options);
    expect(attempt).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['503', '7', 7_000],
    ['429', '7', 7_000],
    ['429', 'Mon, 01 Jun 2026 12:00:09 GMT', 9_000],
  ])('after %s honors Retry-After: %s', async (status, header, expected) => {
    const now = () => new Date('2026-06-01T12:00:00.000Z');
    const { options, pauses } = withoutWaiting({ busyStatuses: true, firstDelayMs: 10, now });
    const busy = { status: Number(status), headers: { 'retry-after': header } };
    const attempt = vi.fn(async () => ({ status: 200, headers: {} })).mockResolvedValueOnce(busy);
    expect(await withRetry(attempt, options)).toEqual({ status: 200, headers: {} });
    expect(pauses).toEqual([expected]);
  });

  it.each([429, 503])(
    'returns %s when the server asks for a longer delay than the maximum',
    async (status) => {
      const { options } = withoutWaiting({ busyStatuses: true, maxDelayMs: 5_000 });
      const attempt = vi.fn(async () => ({ status, headers: { 'retry-after': '6' } }));
      expect((await withRetry(attempt, options)).status).toBe(status);
      expect(attempt).toHaveBeenCalledTimes(1);
    },
  );

  describe('with a time limit', () => {
    const busy = { status: 503, headers: {} };
    /** Options whose pauses use up the time. */
    const limited = (ms: number) => {
      let left = ms;
      const pause = async (milliseconds: number) => void (left -= milliseconds);
      const use = (milliseconds: number) => void (left -= milliseconds);
      return { use, options: { attempts: 3, busyStatuses: true, pause, timeLeft: () => left } };
    };

    it('returns the last response when no time is left for the next attempt', async () => {
      const { options, use } = limited(10_000);
      const attempt = vi.fn(async () => {
        use(10_000);
        return busy;
      });
      expect(await withRetry(attempt, options)).toEqual(busy);
      expect(attempt).toHaveBeenCalledTimes(1);
    });

    it('returns the last response when the time ends during a later attempt', async () => {
      const { options, use } = limited(300_000);
      const attempt = vi.fn(async (): Promise<typeof busy> => {
        use(300_000);
        throw failing('timeout');
      });
      attempt.mockResolvedValueOnce(busy);
      expect(await withRetry(attempt, options)).toEqual(busy);
      expect(attempt).toHaveBeenCalledTimes(2);
    });

    it('throws the timeout when there was no response, or time was left', async () => {
      const { options, use } = limited(300_000);
      const attempt = vi.fn(async (): Promise<typeof busy> => {
        use(300_000);
        throw failing('timeout');
      });
      expect(await codeOf(withRetry(attempt, options))).toBe('timeout');
      expect(attempt).toHaveBeenCalledTimes(1);
      const unreachable = vi.fn(async (): Promise<typeof busy> => Promise.reject(failing('timeout')));
      unreachable.mockResolvedValueOnce(busy);
      expect(await codeOf(withRetry(unreachable, limited(600_000).options))).toBe('timeout');
      expect(unreachable).toHaveBeenCalledTimes(3);
    });
  });

  it('delays each retry, within the maximum and with jitter', async () => {
    const { options, pauses } = withoutWaiting({ attempts: 20, firstDelayMs: 100, maxDelayMs: 5_000 });
    await codeOf(withRetry(async () => Promise.reject(failing('unreachable')), options));
    expect(pauses).toHaveLength(19);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(5_000);
    expect(new Set(pauses).size).toBeGreaterThan(3);
  });

  it('aborts a delay on the signal', async () => {
    const caller = new AbortController();
    const attempt = vi.fn(async () => {
      setImmediate(() => caller.abort());
      throw failing('unreachable');
    });
    expect(
      await codeOf(
        withRetry(attempt, { attempts: 2, firstDelayMs: 60_000, maxDelayMs: 60_000, signal: caller.signal }),
      ),
    ).toBe('aborted');
    expect(attempt).toHaveBeenCalledTimes(1);
  });
});
