import { blocksOf, isBlock, prefixLength, rangeOf, withoutParts } from '../model/address-ranges.ts';
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

/** Returns addresses and CIDR blocks of one family, those with the most addresses first. */
export function widestFirst(blocks: readonly string[]): string[] {
  const lengthOf = (block: string) => (isBlock(block) ? prefixLength(block) : Number.POSITIVE_INFINITY);
  return blocks
    .map((block) => ({ block, length: lengthOf(block) }))
    .sort((a, b) => (a.length === b.length ? 0 : a.length - b.length))
    .map(({ block }) => block);
}

/** Returns the widest ones of these blocks, so many of them, in their order. */
export function widestOf(blocks: readonly string[], count: number): readonly string[] {
  if (blocks.length <= count) return blocks;
  const chosen = new Set(widestFirst(blocks).slice(0, Math.max(0, count)));
  return blocks.filter((block) => chosen.has(block));
}
