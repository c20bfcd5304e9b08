import { blocksOf, rangeOf, withoutParts } from '../model/address-ranges.ts';
import type { ExportIndicator } from './format.ts';
import type { Skipped } from './skipped.ts';

/**
 * Returns the addresses and CIDR blocks that a list or rule contains for an address or network: it, without its
 * whitelisted parts, which are counted.
 */
export function listedBlocks(
  { value, whitelistedParts }: Pick<ExportIndicator, 'value' | 'whitelistedParts'>,
  skipped: Pick<Skipped, 'addParts'>,
): string[] {
  if (whitelistedParts.length === 0) return [value];
  skipped.addParts(whitelistedParts.length);
  return withoutParts(rangeOf(value), whitelistedParts.map(rangeOf)).flatMap((rest) => blocksOf(rest));
}
