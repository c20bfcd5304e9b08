import { refang } from './refang.ts';

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

/** Returns the texts that a search looks for: the search as written and, if different, its refanged form. */
export function searchForms(q: string): string[] {
  const refanged = refangedSearch(q);
  return refanged === null ? [q] : [q, refanged];
}
