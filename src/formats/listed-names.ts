import { type NamePart, readNamePart } from '../model/name-parts.ts';
import type { ExportIndicator } from './format.ts';
import { isPublicSuffix } from './url-parts.ts';

type Domain = Pick<ExportIndicator, 'value' | 'whitelistedParts'>;

/**
 * Returns whether a list or rule without exceptions contains the names below a domain: below a public suffix they belong to
 * others, and of some domains a few are whitelisted.
 */
export function includesNamesBelow({ value, whitelistedParts }: Domain): boolean {
  return whitelistedParts.length === 0 && !isPublicSuffix(value);
}

/** Returns the names below a domain that a list or rule excepts; null: it contains none of the names below. */
export function exceptionsBelow({ value, whitelistedParts }: Domain): NamePart[] | null {
  if (isPublicSuffix(value) || whitelistedParts.includes(`*.${value}`)) return null;
  return whitelistedParts.map(readNamePart);
}
