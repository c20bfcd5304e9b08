/**
 * Returns a seeded random number generator (sfc32, public domain): the same seed gives the same data on every machine.
 * @param {number} seed an integer
 * @returns {() => number} at least 0, less than 1
 */
export function seededRandom(seed) {
  let [a, b, c, counter] = [0x9e3779b9, 0x243f6a88, 0xb7e15162 ^ seed, 1];
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 12; i++) next();
  return next;
}

/** Returns a function that picks values with a probability in proportion to their weights. `entries`: [value, weight] pairs. */
export function weighted(entries) {
  const values = entries.map(([value]) => value);
  const cumulative = [];
  let sum = 0;
  for (const [, weight] of entries) {
    sum += weight;
    cumulative.push(sum);
  }
  return (random) => {
    const target = random() * sum;
    let [low, high] = [0, values.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulative[middle] > target) high = middle;
      else low = middle + 1;
    }
    return values[low];
  };
}

/** Returns a function that draws from a distribution given by its quantiles ([share, value] pairs), with linear interpolation. */
export function fromQuantiles(quantiles) {
  return (random) => {
    const share = random();
    const after = Math.max(
      1,
      quantiles.findIndex(([at]) => at >= share),
    );
    const [[from, low], [to, high]] = [quantiles[after - 1], quantiles[after]];
    return Math.round(low + ((share - from) / (to - from)) * (high - low));
  };
}

export const integer = (random, min, max) => min + Math.floor(random() * (max - min + 1));
export const chance = (random, share) => random() < share;
export const oneOf = (random, list) => list[Math.floor(random() * list.length)];
