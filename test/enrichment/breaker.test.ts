import { describe, expect, it } from 'vitest';
import { type Breaker, openBreaker, type Permit } from '../../src/enrichment/providers/breaker.ts';
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

describe('a breaker', () => {
  it('stays closed for four failures in a row', () => {
    const breaker = openBreaker();
    fail(breaker, 4);
    expect(minutesShut(breaker)).toBeNull();
  });

  it('starts counting from zero after a success', () => {
    const breaker = openBreaker();
    fail(breaker, 4);
    succeed(breaker);
    fail(breaker, 4);
    expect(minutesShut(breaker)).toBeNull();
  });

  it('opens for a minute at the fifth', () => {
    const breaker = openBreaker();
    fail(breaker, 5);
    expect(minutesShut(breaker)).toBe(1);
  });

  it('lets one trial through when the time is over, and no second beside it', () => {
    const breaker = openBreaker();
    fail(breaker, 5);
    clock.pass(MINUTE);
    admitted(breaker);
    expect(minutesShut(breaker)).toBeGreaterThan(0);
  });

  it('closes when the trial succeeds', () => {
    const breaker = openBreaker();
    fail(breaker, 5);
    clock.pass(MINUTE);
    succeed(breaker);
    fail(breaker, 4);
    expect(minutesShut(breaker)).toBeNull();
  });

  it('opens for twice as long when the trial fails, up to half an hour', () => {
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

  it('gives the trial to the next when one told nothing', () => {
    const breaker = openBreaker();
    fail(breaker, 5);
    clock.pass(MINUTE);
    admitted(breaker).release();
    expect(minutesShut(breaker)).toBeNull();
  });

  it('does not wait longer for what was under way when it opened', () => {
    const breaker = openBreaker();
    const underWay = Array.from({ length: 20 }, () => admitted(breaker));
    for (const permit of underWay) permit.down(clock());
    expect(minutesShut(breaker)).toBe(1);
  });
});
