import { describe, expect, it } from 'vitest';
import { type Breaker, openBreaker, type Permit } from '../../src/enrichment/providers/key-pool.ts';
import { testClock } from './provider-server.ts';

const MINUTE = 60_000;
const clock = testClock();

function admitted(breaker: Breaker): Permit {
  const permit = breaker.admit(clock());
  if ('retryAt' in permit) throw new Error('not admitted');
  return permit;
}

function fail(breaker: Breaker, times = 1): void {
  for (let i = 0; i < times; i++) {
    const permit = admitted(breaker);
    permit.down(clock());
    permit.release();
  }
}

function succeed(breaker: Breaker): void {
  const permit = admitted(breaker);
  permit.up();
  permit.release();
}

const minutesShut = (breaker: Breaker): number | null => {
  const permit = breaker.admit(clock());
  if ('retryAt' in permit) return (permit.retryAt.getTime() - clock().getTime()) / MINUTE;
  permit.release();
  return null;
};

describe('a circuit breaker', () => {
  it('stays closed for four failures in a row', () => {
    const breaker = openBreaker();
    fail(breaker, 4);
    expect(minutesShut(breaker)).toBeNull();
  });

  it('resets its count after a success', () => {
    const breaker = openBreaker();
    fail(breaker, 4);
    succeed(breaker);
    fail(breaker, 4);
    expect(minutesShut(breaker)).toBeNull();
  });

  it('opens for a minute at the fifth failure', () => {
    const breaker = openBreaker();
    fail(breaker, 5);
    expect(minutesShut(breaker)).toBe(1);
  });

  it('allows one probe after the timeout, and no second one', () => {
    const breaker = openBreaker();
    fail(breaker, 5);
    clock.pass(MINUTE);
    admitted(breaker);
    expect(minutesShut(breaker)).toBeGreaterThan(0);
  });

  it('closes when the probe succeeds', () => {
    const breaker = openBreaker();
    fail(breaker, 5);
    clock.pass(MINUTE);
    succeed(breaker);
    fail(breaker, 4);
    expect(minutesShut(breaker)).toBeNull();
  });

  it('opens for twice as long when the probe fails, up to half an hour', () => {
    const breaker = openBreaker();
    fail(breaker, 5);
    const shut = [];
    for (let trial = 0; trial < 7; trial++) {
      shut.push(minutesShut(breaker));
      clock.pass((minutesShut(breaker) ?? 0) * MINUTE);
      fail(breaker);
    }
    expect(shut).toEqual([1, 2, 4, 8, 16, 30, 30]);
  });

  it('allows the next probe when one was released without a result', () => {
    const breaker = openBreaker();
    fail(breaker, 5);
    clock.pass(MINUTE);
    admitted(breaker).release();
    expect(minutesShut(breaker)).toBeNull();
  });

  it('does not extend its timeout for requests that were in flight when it opened', () => {
    const breaker = openBreaker();
    const underWay = Array.from({ length: 20 }, () => admitted(breaker));
    for (const permit of underWay) permit.down(clock());
    expect(minutesShut(breaker)).toBe(1);
  });
});
