import { withoutHostDot } from '../model/normalize-url.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../model/vocabulary.ts';
import { hashOf, openBloomFilter, type SharedWords } from './bloom-filter.ts';

/** The values that may be visible. It can be posted to a worker thread, which then reads the same memory. */
export interface Listed {
  /** The content of the filters that have values. */
  filters: SharedWords[];
  /** The lengths of the prefixes of networks, descending, by type. */
  prefixLengths: ReadonlyMap<IndicatorType, number[]>;
}

/** Whether a value may be visible, which is the text or the part of it from `start` to `end`; false is certain. */
export type MayBeListed = (type: IndicatorType, text: string, start?: number, end?: number) => boolean;

export function mayBeListed({ filters }: Pick<Listed, 'filters'>): MayBeListed {
  const opened = filters.map((words) => openBloomFilter(words));
  return (type, text, start, end) => {
    const hash = hashOfValue(type, text, start, end);
    for (const filter of opened) if (filter.mayHave(hash)) return true;
    return false;
  };
}

const SEEDS = Object.fromEntries(INDICATOR_TYPES.map((type, index) => [type, index + 1])) as Record<
  IndicatorType,
  number
>;

/** Returns the hashes under which filters have a listed value: of a URL with a dot after its host also the one without the dot. */
export function hashesOf(type: IndicatorType, normalized: string): number[] {
  const bare = type === 'URL' ? withoutHostDot(normalized) : normalized;
  const hash = hashOfValue(type, normalized);
  return bare === normalized ? [hash] : [hash, hashOfValue(type, bare)];
}

/** Returns the hash of a value: the text, or the part of it from `start` to `end`. */
const hashOfValue = (type: IndicatorType, text: string, start?: number, end?: number): number =>
  hashOf(text, SEEDS[type], start, end);
