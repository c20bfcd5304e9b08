import { setImmediate } from 'node:timers/promises';
import { refangText } from '../model/refang.ts';
import { readValue } from './candidates.ts';

/** Of Markdown's links, `](` separates the text from the URL. */
const BETWEEN = /[\s"'`<>|“”‘’«»]+|\]\(|[,;](?=[a-z]{2,5}:\/\/)/iu;
/** Not the colon of a URL. */
const WITHIN_URL = /(?::(?!\/\/)|[,;=()[\]{}])+/;
/** Logs write `DIRECT/203.0.113.7`. */
const WITHIN = /[:/,;=()[\]{}]+/;
/** Every observable contains one of these; most words of a text do not. */
const LIKELY = /[\d.:@/\\]/;
/** Numbers, dates and times. */
const NUMERIC = /^[\d.,:+/-]+$/;
/** The only observables that may have nothing but digits and punctuation: addresses, networks and hashes. */
const NUMERIC_OBSERVABLE = /\d\.\d{1,3}\.\d{1,3}\.\d|:\d*:\d*:|::|\d{32}/;

/** Words that are read before other requests get their turn. */
const WORDS_AT_ONCE = 1_000;

/**
 * Finds the observables in a text such as a report or an e-mail, plain or defanged, each once, in their order. File names
 * and words are not taken for domains, because domains need a known public suffix.
 */
export async function extractValues(text: string): Promise<string[]> {
  const found = new Map<string, string>();
  const take = (part: string): boolean => {
    const read = isLikely(part) ? readValue(part) : null;
    if (!read || 'unreadable' in read) return false;
    const key = `${read.type} ${read.normalized}`;
    if (!found.has(key)) found.set(key, part);
    return true;
  };
  for (const [index, word] of refangText(text).split(BETWEEN).entries()) {
    if (index % WORDS_AT_ONCE === WORDS_AT_ONCE - 1) await setImmediate();
    if (!LIKELY.test(word)) continue;
    const trimmed = withoutPunctuation(word);
    if (take(trimmed)) continue;
    const parts = trimmed.split(trimmed.includes('://') ? WITHIN_URL : WITHIN);
    if (parts.length > 1) for (const part of parts) take(withoutPunctuation(part));
  }
  return [...found.values()];
}

const isLikely = (part: string): boolean =>
  LIKELY.test(part) && (!NUMERIC.test(part) || NUMERIC_OBSERVABLE.test(part));

/** Begins and ends with a letter or digit. */
const BARE = /^[a-z\d](?:.*[a-z\d])?$/is;
const PUNCTUATION: ReadonlySet<string> = new Set('.,;:!?*_~–—');
const OPENING: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);
const CLOSING: ReadonlyMap<string, string> = new Map([...OPENING].map(([open, close]) => [close, open]));

/** Removes punctuation, marks of emphasis and brackets without a pair around a word. */
function withoutPunctuation(word: string): string {
  if (BARE.test(word)) return word;
  const counts = new Map<string, number>();
  for (const character of word) counts.set(character, (counts.get(character) ?? 0) + 1);
  const isOuter = (character: string, pairs: ReadonlyMap<string, string>) => {
    const pair = pairs.get(character);
    if (pair === undefined) return PUNCTUATION.has(character);
    const count = counts.get(character) ?? 0;
    if (count <= (counts.get(pair) ?? 0)) return false;
    counts.set(character, count - 1);
    return true;
  };
  let [start, end] = [0, word.length];
  while (start < end && isOuter(word.charAt(start), OPENING)) start++;
  while (start < end && isOuter(word.charAt(end - 1), CLOSING)) end--;
  return word.slice(start, end);
}
