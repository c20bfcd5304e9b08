import { GCProfiler, getHeapStatistics } from 'node:v8';
import { AROUND, hostileTexts } from './hostile-texts.ts';

const RUNS = Number(process.env.PROPERTY_RUNS ?? 1);
/** Sizes are so many times as large where PROPERTY_RUNS asks for more, or for less. */
const FACTOR = RUNS > 1 ? 4 : RUNS < 1 ? 0.5 : 1;

/** @param most the largest size of a usual run */
export const upTo = (most: number) => [most / 64, most * FACTOR] as const;

/** Characters, records or levels: the least and the most. */
const SIZES = upTo(32_768);
/**
 * Of twice the input 2 is linear, 2.8 is n^1.5 and 4 is quadratic. While what is alive outgrows the young generation of the heap, some
 * doublings of linear work may take many times as much, but not each of them.
 */
const MAX_RATIO = 2.4;
/** So many doublings in a row are steep. */
const DOUBLINGS = 4;
/** Less than this is not judged: large strings have pages of their own, which cost more than the work. */
const NEGLIGIBLE_MS = 20;
/** What is measured again takes at least so long. */
const MEASURABLE_MS = 2;
/** Bytes allocated, which are nearly the same in every run: of eight times the input 23 is n^1.5. */
const MEMORY_STEP = 8;
const MAX_MEMORY_RATIO = MEMORY_STEP ** 1.35;
/** Arrays grow by leaps. */
const NEGLIGIBLE_BYTES = 32 * 1024 * 1024;

/** Of a suite of these: hundreds of texts, on a busy machine. */
export const LONG = { timeout: 600_000 };

type Run = () => unknown;

export interface Growth {
  of: 'time' | 'memory';
  from: number;
  to: number;
  /** Milliseconds of processor time, or bytes allocated, for one run. */
  before: number;
  after: number;
}

/**
 * Measures how the processor time of a run and what it allocates grow with the size of its input, doubled again and again. Processor
 * time in place of the time of day: other programs on the machine do not count. It stops at the first that is steep, so that
 * quadratic work ends early.
 * @param prepare makes the input of that size, which is not measured
 * @param sizes the first and the last count
 * @returns where it grows faster than n log n allows; null when it does not
 */
export async function steepGrowth(
  prepare: (size: number) => Run,
  sizes: readonly number[] = SIZES,
): Promise<Growth | null> {
  return (await steepTime(prepare, doubled(sizes))) ?? (await steepMemory(prepare, sizes.at(-1) ?? 0));
}

function doubled(sizes: readonly number[]): number[] {
  const all: number[] = [];
  for (let size = sizes.at(-1) ?? 0; size >= (sizes[0] ?? 0); size = Math.floor(size / 2)) all.unshift(size);
  return all;
}

async function steepTime(prepare: (size: number) => Run, sizes: readonly number[]): Promise<Growth | null> {
  const measured: number[] = [];
  for (const [at, size] of sizes.entries()) {
    measured.push(await cpuOfAll([prepare(size)]));
    const last = measured.slice(-DOUBLINGS - 1);
    if (last.length <= DOUBLINGS || (last.at(-1) ?? 0) <= NEGLIGIBLE_MS || !areSteep(last)) continue;
    // What is compiled by now, and what other programs took, does not count.
    const again: number[] = [];
    for (const one of sizes.slice(at - DOUBLINGS, at + 1)) {
      again.push(Math.min(await cpuOf(prepare, one), await cpuOf(prepare, one)));
    }
    if (areSteep(again)) {
      const [before = 0, after = 0] = [again.at(0), again.at(-1)];
      return { of: 'time', from: sizes[at - DOUBLINGS] ?? 0, to: size, before, after };
    }
  }
  return null;
}

/** Whether each is so much more than the one before: one doubling alone may be the heap's or another program's. */
export function areSteep(times: readonly number[]): boolean {
  return times.slice(1).every((time, at) => time > MAX_RATIO * (times[at] ?? 0));
}

async function steepMemory(prepare: (size: number) => Run, to: number): Promise<Growth | null> {
  const after = await allocatedAgain(prepare, to);
  if (after <= NEGLIGIBLE_BYTES) return null;
  const from = Math.floor(to / MEMORY_STEP);
  const before = await allocatedBy(prepare(from));
  return after / before > MAX_MEMORY_RATIO ? { of: 'memory', from, to, before, after } : null;
}

/** The less of two runs, when it counts: one alone may be the first to load something. */
async function allocatedAgain(prepare: (size: number) => Run, size: number): Promise<number> {
  const first = await allocatedBy(prepare(size));
  return first <= NEGLIGIBLE_BYTES ? first : Math.min(first, await allocatedBy(prepare(size)));
}

/** @returns bytes on the heap, collected since or not */
async function allocatedBy(run: Run): Promise<number> {
  const profiler = new GCProfiler();
  profiler.start();
  const used = getHeapStatistics().used_heap_size;
  await run();
  let allocated = getHeapStatistics().used_heap_size - used;
  for (const { beforeGC, afterGC } of profiler.stop().statistics) {
    allocated += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
  }
  return Math.max(1, allocated);
}

/**
 * Repeats until it has taken long enough to be measured, each time with an input of its own: V8 keeps what it has made of a string by
 * `split` and `replace`.
 * @returns milliseconds of one run
 */
async function cpuOf(prepare: (size: number) => Run, size: number): Promise<number> {
  for (let times = 1; ; times *= 4) {
    const spent = await cpuOfAll(Array.from({ length: times }, () => prepare(size)));
    if (spent >= MEASURABLE_MS) return spent / times;
  }
}

async function cpuOfAll(runs: readonly Run[]): Promise<number> {
  const began = process.cpuUsage();
  for (const run of runs) {
    const result = run();
    if (result instanceof Promise) await result;
  }
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
