import type { IndicatorType } from '../model/vocabulary.ts';
import type { ExportIndicator, ListOptions } from './format.ts';
import type { Skipped, SkipReason } from './skipped.ts';

/** The lines of a value, or why a list cannot hold it. */
export type Lines = string[] | { skipped: SkipReason };

/** How the external lists of one product are written. */
export interface ListStyle {
  types: readonly IndicatorType[];
  /** The types that one list may contain, by kind, if the product takes one kind per list. */
  kinds: readonly (readonly IndicatorType[])[] | null;
  /** Whether the product reads any network, so that adjacent addresses may be joined. */
  networks: boolean;
  /** Returns the first lines, given one of the types of the kind. */
  header?(kind: IndicatorType | null): string;
  /** Returns the last lines, given the last address or CIDR block; null: there is none. */
  footer?(last: string | null): string[];
  /**
   * Returns the lines of an address or CIDR block, given the one before; absent: the block itself. Only with
   * `networks`.
   */
  blockLines?(block: string, previous: string | null): string[];
  /** Returns the lines of one value that is not joined with others. */
  lines(row: ExportIndicator, options: Pick<ListOptions, 'wildcards'>, skipped: Skipped): Lines;
  /** Whether a list of domains has wildcards for the names below each domain. */
  wildcards?: boolean;
  /** Whether the product rejects a list with an entry that another entry includes, a `.name` all names below it. */
  rejectsNested?: boolean;
  /** Whether the product rejects a block that the list has twice, as without `collapse` a part of a whitelisted network may be. */
  rejectsRepeated?: boolean;
  /** Whether the product reads lines that start with `#` as comments. */
  comments: boolean;
  columns: readonly (keyof ExportIndicator)[];
  mediaType: string;
  extension: string;
}

export const ADDRESSES = ['IPV4', 'IPV6'] as const;

export const VALUES = {
  columns: ['type', 'value', 'whitelistedParts'],
  mediaType: 'text/plain; charset=utf-8',
  extension: 'txt',
} as const;

/** For lists whose hashes are compared with those of files. */
export const WITH_HASHES = {
  ...VALUES,
  columns: ['type', 'value', 'whitelistedParts', 'ofCertificate'],
} as const;
export const NOT_OF_A_FILE: Lines = { skipped: 'certificate' };

export const kindsOf = <const K extends readonly (readonly IndicatorType[])[]>(...kinds: K) => ({
  kinds,
  types: kinds.flat(),
});
