import { AROUND, hostileTexts } from './hostile-texts.ts';

/** Characters, records or levels; eight times as many from one to the next. */
const SIZES = [512, 4_096, 32_768, 262_144] as const;
const STEP = 8;
/** Of eight times the input: 8 is linear, about 10 is n log n, 64 is quadratic. */
const MAX_RATIO = STEP ** 1.6;
/** So little says nothing, and costs nobody anything. */
const NEGLIGIBLE_MS = 2;
const ATTEMPTS = 4;

/** Of a suite of these: hundreds of texts, on a busy machine. */
export const LONG = { timeout: 600_000 };

type Run = () => unknown;

export interface Growth {
  from: number;
  to: number;
  /** Milliseconds of processor time for one run. */
  before: number;
  after: number;
}

/**
 * Measures how the processor time of a run grows with the size of its input, in place of the time of day: other programs on the
 * machine do not count. A step that looks too steep is measured again; only one that always does counts. It stops there, so that
 * quadratic work ends early.
 * @param prepare makes the input of that size, which is not measured
 * @returns the first step that grows faster than n log n allows; null when there is none
 */
export async function steepGrowth(
  prepare: (size: number) => Run,
  sizes: readonly number[] = SIZES,
): Promise<Growth | null> {
  for (const [at, to] of sizes.slice(1).entries()) {
    const from = sizes[at] ?? 0;
    const run = prepare(to);
    let after = await cpuOfOne(run);
    if (after <= NEGLIGIBLE_MS) continue;
    const smaller = prepare(from);
    // The first run compiles.
    let before = Math.min(await cpuOf(smaller), await cpuOf(smaller));
    for (let attempt = 1; attempt < ATTEMPTS && isSteep(before, after); attempt++) {
      // The least is what the work takes; the rest is compiling, collecting garbage and the machine.
      after = Math.min(after, await cpuOfOne(run));
    }
    if (isSteep(before, after)) return { from, to, before, after };
  }
  return null;
}

function isSteep(before: number, after: number): boolean {
  return after > NEGLIGIBLE_MS && after / before > MAX_RATIO;
}

/** Repeats until it has taken long enough to be measured. */
async function cpuOf(run: Run): Promise<number> {
  for (let times = 1; ; times *= 4) {
    const spent = await cpuOfOne(async () => {
      for (let i = 0; i < times; i++) await run();
    });
    if (spent >= NEGLIGIBLE_MS) return spent / times;
  }
}

async function cpuOfOne(run: Run): Promise<number> {
  const began = process.cpuUsage();
  const result = run();
  if (result instanceof Promise) await result;
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

/** @returns the hostile texts that take a function steeply more time as they grow, with what was measured */
export async function steepOnes(
  run: (text: string) => unknown,
  sizes: readonly number[] = SIZES,
  around: readonly (readonly [string, string])[] = AROUND,
): Promise<(Growth & { text: string })[]> {
  const steep: (Growth & { text: string })[] = [];
  for (const { name, of } of hostileTexts(around)) {
    const growth = await steepGrowth((size) => {
      const text = of(size);
      return () => run(text);
    }, sizes);
    if (growth) steep.push({ text: name, ...growth });
  }
  return steep;
}
