/**
 * Spaces, underscores, hyphens and dashes: reports write one name as `APT 28`, `APT-28`, `apt_28` and
 * `APT28`.
 */
const SEPARATORS = /[\s_\-\u2010-\u2015\u2212]+/gu;
const DIGIT = /\p{Nd}/u;

/** Longer texts are not names; an index holds no more. */
const MAX_LENGTH = 200;

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
  return key === '' || key.length > MAX_LENGTH ? null : key;
}
