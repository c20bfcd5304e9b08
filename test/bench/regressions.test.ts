import { describe, expect, it } from 'vitest';
// @ts-expect-error: JavaScript without types
import { baselineFor, findRegressions, mergeRuns, withRepeated } from '../../bench/regressions.mjs';

const PARAMETERS = { rows: 30_000, large: 30_000, rounds: 1, seconds: 1, quick: true };
const MACHINE = { cores: 2, generator: 'wrk' };
const higherIsBetter = { row: 1, work: 'list', minRatio: 0.6 };
const lowerIsBetter = { row: 10, work: 'memory', maxRatio: 1 };

const runOf = (...results: object[]) => ({ ...PARAMETERS, machine: MACHINE, results });
const repeated = (target: object, ratios: number[]) =>
  mergeRuns(ratios.map((ratio) => runOf({ ...target, ratio })));
const compared = (target: object, ratios: number[], ratio: number) =>
  findRegressions(repeated(target, ratios), [{ ...target, ratio }]).worse;

describe('findRegressions', () => {
  it('accepts a ratio that is worse by no more than the runs differ', () => {
    expect(compared(higherIsBetter, [0.9, 1, 1.1, 1.05, 0.95], 0.81)).toEqual([]);
    expect(compared(lowerIsBetter, [0.9, 1, 1.1, 1.05, 0.95], 1.19)).toEqual([]);
  });

  it('reports a ratio that is worse than the median by more than the runs differ', () => {
    const [list] = compared(higherIsBetter, [0.9, 1, 1.1, 1.05, 0.95], 0.79);
    expect(list).toMatchObject({ row: 1, work: 'list', ratio: 0.79, median: 1 });
    expect(list?.noise).toBeCloseTo(0.2);
    expect(compared(lowerIsBetter, [0.9, 1, 1.1, 1.05, 0.95], 1.21)).toMatchObject([
      { row: 10, work: 'memory' },
    ]);
  });

  it('never reports a better ratio', () => {
    expect(compared(higherIsBetter, [1, 1, 1, 1, 1], 9)).toEqual([]);
    expect(compared(lowerIsBetter, [1, 1, 1, 1, 1], 0.1)).toEqual([]);
  });

  it('accepts a loss of 5 % where the runs do not differ', () => {
    expect(compared(higherIsBetter, [1, 1, 1, 1, 1], 0.951)).toEqual([]);
    expect(compared(higherIsBetter, [1, 1, 1, 1, 1], 0.949)).toHaveLength(1);
  });

  it('compares ratios at and below zero, as memory over idle may be', () => {
    expect(compared(lowerIsBetter, [-0.01, 0, 0.01, 0, 0], 0.015)).toEqual([]);
    expect(compared(lowerIsBetter, [-0.01, 0, 0.01, 0, 0], 0.03)).toHaveLength(1);
  });

  it('lists rows that the repeated runs lack, and figures without a ratio', () => {
    const other = { row: 4, work: 'lists', minRatio: 0.6, ratio: 0.1 };
    const broken = { ...higherIsBetter, ratio: Number.NaN };
    const { worse, notCompared } = findRegressions(repeated(higherIsBetter, [1, 1]), [other, broken]);
    expect({ worse, notCompared }).toEqual({ worse: [], notCompared: ['4 lists', '1 list'] });
  });
});

describe('mergeRuns', () => {
  it('keeps the rows that every run has, with a ratio of each', () => {
    const list = (ratio: number) => ({ ...higherIsBetter, ratio });
    const memory = { ...lowerIsBetter, ratio: 1 };
    expect(mergeRuns([runOf(list(1), memory), runOf(list(2))]).results).toEqual([
      { ...higherIsBetter, maxRatio: undefined, ratios: [1, 2] },
    ]);
  });
});

describe('baselineFor', () => {
  const quick = repeated(higherIsBetter, [1, 1]);
  const larger = { ...quick, rows: 60_000 };

  it('finds the repeated runs with the same parameters', () => {
    const file = withRepeated(withRepeated({}, larger), quick);
    expect(baselineFor(file, { ...PARAMETERS, generator: 'wrk' })).toEqual(quick);
  });

  it.each([{ rows: 1_000_000 }, { seconds: 5 }, { quick: false }, { generator: 'node:http' }])(
    'refuses runs with other parameters: %o',
    (change) => {
      const file = withRepeated({}, quick);
      expect(() => baselineFor(file, { ...PARAMETERS, generator: 'wrk', ...change })).toThrow(
        'no repeated runs',
      );
    },
  );

  it('replaces the rows that are measured again, and keeps the rest of the file', () => {
    const memory = repeated(lowerIsBetter, [2, 2]);
    const again = repeated(higherIsBetter, [3, 3]);
    const file = withRepeated(withRepeated(withRepeated({ rows: 1 }, quick), memory), again);
    expect(file).toEqual({
      rows: 1,
      repeated: [{ ...again, results: [...again.results, ...memory.results] }],
    });
  });
});
