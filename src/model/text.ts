import { refang } from './refang.ts';

/** The longest accepted value, in UTF-16 units. */
export const MAX_LENGTH = 8192;

const PRINTABLE_ASCII = /^[ -~]*$/;
// Line and paragraph separators break lines in logs and exports just as control characters do.
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const LONE_SURROGATE = /\p{Cs}/u;

/**
 * Returns the trimmed text, or why no indicator of any type can be made of it: it is empty, over-long, or
 * contains characters that PostgreSQL cannot store (NUL, lone surrogates) or that would break a line of an
 * export.
 */
export function readText(raw: string): { text: string } | { rejected: string } {
  if (raw.length > MAX_LENGTH) return { rejected: `longer than ${MAX_LENGTH} characters` };
  const text = raw.trim();
  if (text === '') return { rejected: 'empty' };
  if (PRINTABLE_ASCII.test(text)) return { text };
  if (CONTROL.test(text)) return { rejected: 'control characters' };
  if (LONE_SURROGATE.test(text)) return { rejected: 'malformed Unicode' };
  return { text };
}

/** Returns a text with halves of surrogate pairs replaced, which PostgreSQL does not store. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/**
 * Returns a name for URLs: lower-case ASCII letters, digits and single hyphens; at most 80 long, never empty.
 * It derives from the name alone: avoiding collisions would disclose hidden objects. Ids distinguish objects.
 */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();
  const slug = plain
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .join('-')
    .slice(0, 80)
    .replace(/-$/, '');
  return slug || 'unnamed';
}

/**
 * Spaces, underscores, hyphens and dashes: reports write one name as `APT 28`, `APT-28`, `apt_28` and
 * `APT28`.
 */
const SEPARATORS = /[\s_\-\u2010-\u2015\u2212]+/gu;
const DIGIT = /\p{Nd}/u;

/** Longer texts are not names; an index holds no more. */
const MAX_NAME_LENGTH = 200;

/**
 * Returns the key by which a name is compared: in NFKC, lower case, without separators. Separators between
 * two digits are kept as one hyphen: `Group 7-2` is not `Group 72`. Nothing else is ignored: accents, dots
 * and words such as `Group` distinguish names.
 * @returns null if it is not a name: nothing but separators, or too long
 */
export function nameKey(name: string): string | null {
  const lower = name.normalize('NFKC').toLowerCase().trim();
  const key = lower.replace(SEPARATORS, (separators, at: number) => {
    const [before, after] = [lower.charAt(at - 1), lower.charAt(at + separators.length)];
    return DIGIT.test(before) && DIGIT.test(after) ? '-' : '';
  });
  return key === '' || key.length > MAX_NAME_LENGTH ? null : key;
}

/**
 * Returns text as `q` compares it: in lower case, such that a part of a word remains a part of the whole.
 * Unicode lower-cases a capital sigma at a word's end to another letter than within it (Final_Sigma, the only
 * rule that depends on context).
 */
export function searchText(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

/**
 * Returns the refanged form of a search, for `hxxp://evil[.]example` as reports write it; null: it equals the
 * search.
 */
export function refangedSearch(q: string): string | null {
  const refanged = refang(q);
  return refanged === null || refanged === '' || refanged === q ? null : refanged;
}

/**
 * Returns the texts that a search looks for: the search as written and, if different, its refanged form. If the one contains the
 * other (`evil ` and `evil`), the shorter one finds all.
 */
export function searchForms(q: string): string[] {
  const refanged = refangedSearch(q);
  if (refanged === null || refanged.includes(q)) return [q];
  return q.includes(refanged) ? [refanged] : [q, refanged];
}

/** Further apart than this, two names are not a slip of the keyboard. */
const MAX_DISTANCE_RATIO = 0.3;

/** Returns the candidate that a mistyped name most likely means, or undefined when none is close. */
export function closestName(name: string, candidates: Iterable<string>): string | undefined {
  let closest: string | undefined;
  let least = Math.floor(name.length * MAX_DISTANCE_RATIO) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance < least) [closest, least] = [candidate, distance];
  }
  return closest;
}

/** Returns how many single letters have to be inserted, removed or replaced (Levenshtein). */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...b].entries()) {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1);
      current.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    above = current;
  }
  return above[b.length] ?? 0;
}
