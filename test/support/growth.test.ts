import { describe, expect, it } from 'vitest';
import { areSteep, steepGrowth } from './growth.ts';

function work(steps: number): number {
  let sum = 0;
  for (let i = 0; i < steps; i++) sum = (sum * 31 + i) | 0;
  return sum;
}

describe('growth measurement', () => {
  it.each<[string, (n: number) => number]>([
    ['constant', () => 1_000],
    ['linear', (n) => n * 20],
    ['n log n', (n) => n * Math.log2(n)],
  ])('is not steep for %s work', async (_, steps) => {
    expect(await steepGrowth((n) => () => work(steps(n)))).toBeNull();
  });

  it.each<[string, (n: number) => number]>([
    ['quadratic', (n) => n * n],
    ['quadratic with a small factor', (n) => (n * n) / 50],
  ])('is steep for %s work', { retry: 3 }, async (_, steps) => {
    // A disturbed doubling hides the others: several measurements find steep work, as several texts do in the suites.
    expect(await steepGrowth((n) => () => work(steps(n)))).not.toBeNull();
  });

  it.each<[string, (n: number) => number]>([
    ['quadratic up to a limit', (n) => Math.min(n, 16_384) ** 2],
    ['cubic', (n) => (n / 16) ** 3],
  ])('is steep for %s work', { retry: 3, tags: ['nightly'] }, async (_, steps) => {
    expect(await steepGrowth((n) => () => work(steps(n)))).not.toBeNull();
  });

  const SIZES_OF_TIMES = [1, 2, 4, 8, 16];
  it.each<[string, (n: number) => number, boolean]>([
    ['linear', (n) => n, false],
    ['n log n', (n) => n * Math.log2(n + 512), false],
    ['linear with one leap of the heap', (n) => (n < 8 ? n : n * 5), false],
    ['linear with a disturbance', (n) => (n === 16 ? n * 10 : n), false],
    ['n^1.5', (n) => n ** 1.5, true],
    ['n^1.5 with a disturbance', (n) => (n === 4 ? 1.15 : 1) * n ** 1.5, true],
    ['quadratic', (n) => n * n, true],
  ])('judges by timings that work is %s', (_, time, isSteep) => {
    expect(areSteep(SIZES_OF_TIMES.map(time))).toBe(isSteep);
  });

  const SIZES = [512, 4_096, 32_768];
  it.each<[string, (n: number) => number, boolean]>([
    ['linear', (n) => n * 100, false],
    ['n log n', (n) => n * 6 * Math.log2(n), false],
    ['n^1.5', (n) => n ** 1.5 / 2, true],
    ['quadratic', (n) => n ** 2 / 400, true],
  ])('in memory: %s', async (_, objects, isSteep) => {
    const allocate = (n: number) => () => {
      for (let i = 0; i < objects(n); i++) kept = { i };
      return kept;
    };
    let kept: unknown;
    expect((await steepGrowth(allocate, SIZES)) !== null).toBe(isSteep);
  });
});
