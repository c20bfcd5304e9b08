import { indicatorId, normalize } from '../dist/bench.js';
import { LINKS } from './entities.mjs';
import { chance, fromQuantiles, integer, oneOf, seededRandom, weighted } from './random.mjs';
import * as spread from './spread.mjs';
import { MAX_INDICATORS, valueAt } from './values.mjs';

export const DAY_MS = 24 * 60 * 60 * 1000;
const TWO_YEARS_MS = 2 * 365 * DAY_MS;

const pick = {
  type: weighted(spread.TYPES),
  tagCount: weighted(spread.TAGS_PER_INDICATOR),
  tag: weighted(spread.TAGS),
  severity: weighted(spread.SEVERITIES),
  tlp: weighted(spread.TLPS),
  confidence: weighted(spread.CONFIDENCES),
};
/** The validity of an indicator in days: the quantiles of the feeds that state it. */
const validityDays = fromQuantiles([
  [0, 2],
  [0.05, 18],
  [0.25, 89],
  [0.6, 199],
  [0.75, 1096],
  [1, 1096],
]);

/**
 * Generates the first `count` indicators in the order of their numbers. The same seed and `now` give the same indicators.
 * @param {{count: number, now: Date, seed: number, sources: {pick: (random: () => number) => string}}} options
 */
export function* indicators({ count, now, seed, sources }) {
  if (count > MAX_INDICATORS) throw new Error(`The number of indicators must be at most ${MAX_INDICATORS}.`);
  const random = seededRandom(seed);
  const events = eventTimes(count, now, random);
  for (let index = 0; index < count; index++) {
    const lastSeen = chance(random, spread.SHARE_WITH_EVENT_TIME)
      ? oneOf(random, events)
      : randomTime(now, random);
    yield {
      number: index + 1,
      ...identity(index, random),
      confidence: pick.confidence(random),
      severity: pick.severity(random),
      tlp: pick.tlp(random),
      tags: tags(random),
      sourceId: sources.pick(random),
      firstSeen: new Date(lastSeen.getTime() - integer(random, 0, 30) * DAY_MS),
      lastSeen,
      expiresAt: expiry(now, random),
      forDetection: chance(random, spread.SHARE_FOR_DETECTION),
      whitelisted: chance(random, spread.SHARE_WHITELISTED),
      enriched: chance(random, spread.SHARE_ENRICHED),
      links: LINKS.flatMap(({ kind, share, pick: pickOne }) =>
        chance(random, share) ? [{ kind, ordinal: pickOne(random) }] : [],
      ),
    };
  }
}

function identity(index, random) {
  const pickedType = pick.type(random);
  const text = valueAt(pickedType, index, random);
  const result = normalize(pickedType, text);
  if ('rejected' in result) throw new Error(`${pickedType} ${text}: ${result.rejected}`);
  const { type, value, normalized } = result;
  return { id: indicatorId(type, normalized), type, value, normalized };
}

/** In feeds, all indicators of an event have the same time. */
function eventTimes(count, now, random) {
  return Array.from({ length: Math.ceil(count / spread.INDICATORS_PER_EVENT) }, () =>
    randomTime(now, random),
  );
}

function randomTime(now, random) {
  return new Date(Math.floor((now.getTime() - random() * TWO_YEARS_MS) / 1000) * 1000);
}

function tags(random) {
  const chosen = new Set();
  for (let count = pick.tagCount(random); count > 0; count--) chosen.add(pick.tag(random));
  return [...chosen].sort();
}

/** Nothing expires within two days of `now`, so that totals do not change while they are compared. */
function expiry(now, random) {
  const share = random();
  if (share < spread.SHARE_EXPIRED) return new Date(now.getTime() - integer(random, 1, 600) * DAY_MS);
  if (share < spread.SHARE_EXPIRED + spread.SHARE_EXPIRES_LATER)
    return new Date(now.getTime() + (validityDays(random) + random()) * DAY_MS);
  return null;
}
