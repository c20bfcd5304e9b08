/** A ratio may always differ by this share of the median, so that figures that hardly vary are not reported for a rounding. */
const MIN_NOISE = 0.05;
/** The parameters of a run, which must be equal for its ratios to be compared. */
const PARAMETERS = ['rows', 'large', 'rounds', 'seconds', 'quick'];

const sorted = (list) => list.toSorted((a, b) => a - b);
const keyOf = ({ row, work }) => `${row} ${work}`;
/** A figure that cannot be divided by its reference has no ratio. */
const isMeasured = ({ ratio }) => Number.isFinite(ratio);

/**
 * Merges the results of several runs with the same parameters.
 * @param runs what each run has returned: parameters, machine and `results`
 * @returns the parameters, and each row with its `ratios`, one a run; rows that a run lacks are left out
 */
export function mergeRuns(runs) {
  const [first] = runs;
  const merged = first.results.filter(isMeasured).map(({ row, work, minRatio, maxRatio }) => {
    const ratios = runs.map(
      ({ results }) => results.find((other) => keyOf(other) === keyOf({ row, work }))?.ratio,
    );
    return { row, work, minRatio, maxRatio, ratios };
  });
  return {
    ...parametersOf(first),
    machine: first.machine,
    results: merged.filter(({ ratios }) => ratios.every(Number.isFinite)),
  };
}

/**
 * Returns the repeated runs of a results file that have the parameters of a run.
 * @throws {Error} when it has none
 */
export function baselineFor(file, run) {
  const { repeated = [] } = file;
  const wanted = JSON.stringify(parametersOf(run));
  const found = repeated.find((one) => JSON.stringify(parametersOf(one)) === wanted);
  if (!found)
    throw new Error(
      `The results to compare with have no repeated runs with the parameters ${wanted}; --repeat 5 makes them.`,
    );
  return found;
}

/** Returns a results file with the rows of these runs in place of the same rows of runs with the same parameters. */
export function withRepeated(file, merged) {
  const same = JSON.stringify(parametersOf(merged));
  const isSame = (one) => JSON.stringify(parametersOf(one)) === same;
  const measured = new Set(merged.results.map(keyOf));
  const kept =
    (file.repeated ?? []).find(isSame)?.results.filter((result) => !measured.has(keyOf(result))) ?? [];
  const results = [...kept, ...merged.results].sort((a, b) => a.row - b.row);
  return {
    ...file,
    repeated: [...(file.repeated ?? []).filter((one) => !isSame(one)), { ...merged, results }],
  };
}

/**
 * Compares the ratios of a run with those of repeated runs. The noise of a row is the difference between its highest and
 * its lowest ratio; a row is worse when it is worse than the median by more than that.
 * @returns {{worse: {row: number, work: string, ratio: number, median: number, noise: number}[], notCompared: string[]}}
 */
export function findRegressions(baseline, results) {
  const before = new Map(baseline.results.map((result) => [keyOf(result), result]));
  const worse = [];
  const notCompared = [];
  for (const result of results) {
    const known = before.get(keyOf(result));
    if (!known || !isMeasured(result)) {
      notCompared.push(keyOf(result));
      continue;
    }
    const ratios = sorted(known.ratios);
    const median = ratios[ratios.length >> 1];
    const noise = Math.max(ratios.at(-1) - ratios[0], MIN_NOISE * Math.abs(median));
    const loss = result.minRatio === undefined ? result.ratio - median : median - result.ratio;
    if (loss > noise) worse.push({ row: result.row, work: result.work, ratio: result.ratio, median, noise });
  }
  return { worse, notCompared };
}

function parametersOf(run) {
  return Object.fromEntries([
    ...PARAMETERS.map((name) => [name, run[name]]),
    // A generator that is the bottleneck brings all ratios closer to 1.
    ['generator', run.generator ?? run.machine.generator],
  ]);
}
