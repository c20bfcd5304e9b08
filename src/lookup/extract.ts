import { setImmediate } from 'node:timers/promises';
import { refangText } from '../model/refang.ts';
import { MAX_LENGTH } from '../model/text.ts';
import { readValue } from './candidates.ts';

/** Also control characters, such as NUL, which no observable has. Of Markdown's links, `](` separates the text from the URL. */
const BETWEEN = /[\s\p{Cc}"'`<>|“”‘’«»]+|\]\(|[,;](?=[a-z]{2,5}:\/\/)/giu;
/** Values are separated from each other and from their names; then, as logs write `DIRECT/203.0.113.7`, from more. */
const WITHIN = [/[,;=()[\]{}]+/, /\/+/, /:+/];
/** Not the colon of a URL. */
const WITHIN_URL = [/[,;=()[\]{}]+/, /:(?!\/\/)/];
/** Every observable contains one of these; most words of a text do not. */
const LIKELY = /[\d.:@/\\]/;
/** Numbers, dates and times. */
const NUMERIC = /^[\d.,:+/-]+$/;
/** The only observables that may have nothing but digits and punctuation: addresses, networks and hashes. */
const NUMERIC_OBSERVABLE = /\d\.\d{1,3}\.\d{1,3}\.\d|:\d*:\d*:|::|\d{32}/;

/** Words, and parts of words, that are read before other requests get their turn. */
const PARTS_AT_ONCE = 1_000;

/**
 * Finds the observables in a text such as a report or an e-mail, plain or defanged, each once, in their order. File names
 * and words are not taken for domains, because domains need a known public suffix.
 * @param most if there are more, the rest of the text is not read
 */
export async function extractValues(text: string, most = Number.POSITIVE_INFINITY): Promise<string[]> {
  const found = new Map<string, string>();
  const take = (part: string): boolean => {
    const read = isLikely(part) ? readValue(part) : null;
    if (!read || 'unreadable' in read) return false;
    const key = `${read.type} ${read.normalized}`;
    if (!found.has(key)) found.set(key, part);
    return true;
  };
  let parts = 0;
  for (const word of wordsOf(refangText(text)))
    for (const _ of partsOf(word, word.includes('://') ? WITHIN_URL : WITHIN, take)) {
      if (found.size > most) return [...found.values()];
      if (++parts % PARTS_AT_ONCE === 0) await setImmediate();
    }
  return [...found.values()];
}

function* wordsOf(text: string): Generator<string> {
  let start = 0;
  for (const { 0: between, index } of text.matchAll(BETWEEN)) {
    yield text.slice(start, index);
    start = index + between.length;
  }
  yield text.slice(start);
}

/** Takes a word or, if it is no observable, its parts between separators, one after the other. Yields before each that is read. */
function* partsOf(
  word: string,
  separators: readonly RegExp[],
  take: (part: string) => boolean,
): Generator<void> {
  yield;
  if (!LIKELY.test(word)) return;
  const part = word.length > MAX_LENGTH ? word : withoutPunctuation(word);
  if (take(part)) return;
  for (const [index, separator] of separators.entries()) {
    const inner = part.split(separator);
    if (inner.length === 1) continue;
    for (const each of inner) yield* partsOf(each, separators.slice(index + 1), take);
    return;
  }
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
