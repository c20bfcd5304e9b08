/** Spaces, underscores, hyphens and dashes: `APT 28`, `APT-28`, `apt_28` and `APT28` are one name in the field. */
const SEPARATORS = /[\s_\-\u2010-\u2015\u2212]+/gu;
const DIGIT = /\p{Nd}/u;

/** Longer ones are texts that slipped in; an index holds no more. */
const MAX_LENGTH = 200;

/**
 * What a name is compared by: in NFKC, lower case, without separators. Between two digits they are kept as one
 * hyphen: `Group 7-2` is not `Group 72`. Nothing else is let go: accents, dots and words such as `Group` tell apart.
 * @returns null for what is no name: nothing but separators, or a text
 */
export function nameKey(name: string): string | null {
  const lower = name.normalize('NFKC').toLowerCase().trim();
  const key = lower.replace(SEPARATORS, (separators, at: number) => {
    const [before, after] = [lower.charAt(at - 1), lower.charAt(at + separators.length)];
    return DIGIT.test(before) && DIGIT.test(after) ? '-' : '';
  });
  return key === '' || key.length > MAX_LENGTH ? null : key;
}
