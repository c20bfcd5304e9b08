import { FILE_HASHES, type IndicatorType, isFileHash } from '../model/vocabulary.ts';
import { type Candidate, type ReadValue, readValue, type Visit, visitText } from './candidates.ts';
import { type Listed, mayBeListed } from './listed.ts';

/** A value, and the indicators that would match it and may be listed. */
export interface Question {
  asked: string;
  /** Its reason if it could not be read. */
  read: ReadValue | { unreadable: string };
  candidates: readonly Candidate[];
}

export interface LookupFilters {
  types?: readonly IndicatorType[] | undefined;
  minConfidence?: number | undefined;
  /** Whether indicators count that are not the value itself. */
  related: boolean;
}

/** Values to read, and what is listed. */
export interface Asking {
  values: readonly string[];
  filters: LookupFilters;
  /** null: that is not known, so that everything may be listed. */
  listed: Listed['filters'] | null;
  prefixLengths: Listed['prefixLengths'];
}

/** Most values have no candidates that may be listed. */
const NONE: Candidate[] = [];

/** Returns whether hashes of the same file count, so that every file hash must be looked for. */
export const followsFiles = ({ types, related }: LookupFilters): boolean =>
  related && (types === undefined || FILE_HASHES.some((type) => types.includes(type)));

/** Reads values, in their order. */
export function readQuestions({ values, filters, listed, prefixLengths }: Asking): Question[] {
  const mayBe = listed === null ? () => true : mayBeListed({ filters: listed });
  const { types } = filters;
  const follows = followsFiles(filters);
  let candidates = NONE;
  const visit: Visit = (relation, type, text, start, end) => {
    const isWanted = (types?.includes(type) ?? true) || (follows && isFileHash(type));
    if (!isWanted || !mayBe(type, text, start, end)) return false;
    if (candidates === NONE) candidates = [];
    candidates.push({ relation, type, normalized: text.slice(start, end) });
    return true;
  };
  return values.map((asked) => {
    candidates = NONE;
    const read = readValue(asked);
    visitText(asked, read, filters.related ? prefixLengths : null, visit);
    return { asked, read, candidates };
  });
}
