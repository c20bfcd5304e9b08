import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { together } from '../../src/kv/together.ts';

describe('counting together', () => {
  it('tells each its own place, whatever comes while the store is asked', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.record({ key: fc.constantFrom('a', 'b'), afterTurns: fc.nat(4) }), { maxLength: 40 }),
      fc.nat(5),
      async (requests, storeTurns) => {
        const counts: Record<string, number> = {};
        const turns = async (count: number) => {
          for (let i = 0; i < count; i++) await null;
        };
        const count = together(async (key, points) => {
          await turns(storeTurns);
          counts[key] = (counts[key] ?? 0) + points;
          await turns(storeTurns);
          return { consumed: counts[key], msBeforeNext: 5 };
        });
        const told: Record<string, Promise<{ consumed: number }>[]> = { a: [], b: [] };
        for (const { key, afterTurns } of requests) {
          await turns(afterTurns);
          told[key]?.push(count(key));
        }
        for (const of of Object.values(told))
          expect((await Promise.all(of)).map(({ consumed }) => consumed)).toEqual(of.map((_, i) => i + 1));
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });

  it('asks once for all that come while it is being asked', async () => {
    const asked: number[] = [];
    const count = together(async (_, points) => {
      asked.push(points);
      await null;
      return { consumed: points, msBeforeNext: 1 };
    });
    await Promise.all(Array.from({ length: 10 }, () => count('key')));
    expect(asked).toEqual([1, 9]);
  });

  it('a failure is told to those it befell alone', async () => {
    let asked = 0;
    const count = together(async (_, points) => {
      asked++;
      await null;
      if (asked === 1) throw new Error('down');
      return { consumed: points, msBeforeNext: 1 };
    });
    const [first, second, third] = await Promise.allSettled([count('key'), count('key'), count('key')]);
    expect(first).toMatchObject({ status: 'rejected' });
    expect([second, third]).toMatchObject([{ value: { consumed: 1 } }, { value: { consumed: 2 } }]);
  });
});
