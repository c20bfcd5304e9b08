import { refang } from './refang.ts';

/**
 * Text as `q` compares it: in lower case, and so that a part of a word becomes a part of the whole. Unicode lowers
 * a capital sigma at a word's end to another letter than within it (Final_Sigma, the one rule that looks around).
 */
export function searchText(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

/** The refanged form of a search, as reports write `hxxp://evil[.]example`; null: it is no other than the search. */
export function refangedSearch(q: string): string | null {
  const refanged = refang(q);
  return refanged === null || refanged === '' || refanged === q ? null : refanged;
}

/** The texts that a search looks for: what was written, and its refanged form where that is another. */
export function searchForms(q: string): string[] {
  const refanged = refangedSearch(q);
  return refanged === null ? [q] : [q, refanged];
}
