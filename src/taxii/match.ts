import { ApiError } from '../http/errors.ts';
import { parseInstant } from '../model/dates.ts';

/** The filters of TAXII 2.1 §3.4.1; of each, any of the values. Absent: all. */
export interface Match {
  id?: string[];
  type?: string[];
  /** `first`, `last`, `all` or timestamps in UTC with milliseconds. */
  version?: string[];
  spec_version?: string[];
}

const MATCH_FIELDS = ['id', 'type', 'version', 'spec_version'] as const;
const VERSION_WORDS = ['first', 'last', 'all'];
/** Values are separated by a comma alone (§3.4). */
const VALUE = /^\S+$/;
/** The maximum number of values of a filter. */
const MAX_VALUES = 100;

/**
 * Reads the filters of a query.
 * @throws {ApiError} 400 for too many values, malformed ones, or versions that must not be requested together
 */
export function readMatch(query: Readonly<Record<string, string | undefined>>): Match {
  const match: Match = {};
  for (const field of MATCH_FIELDS) {
    const values = query[`match[${field}]`]?.split(',');
    if (values === undefined) continue;
    if (!values.every((value) => VALUE.test(value)))
      throw new ApiError(
        'invalid_parameter',
        `match[${field}] must be values that are separated by commas, without spaces.`,
      );
    if (values.length > MAX_VALUES)
      throw new ApiError('invalid_parameter', `match[${field}] must have at most ${MAX_VALUES} values.`);
    match[field] = field === 'version' ? readVersions(values) : values;
  }
  return match;
}

function readVersions(values: readonly string[]): string[] {
  const versions = values.map(readVersion);
  if (new Set(versions).size < versions.length)
    throw new ApiError('invalid_parameter', 'match[version] must not have a version twice.');
  if (versions.includes('all') && versions.length > 1)
    throw new ApiError('invalid_parameter', 'match[version]=all must not be combined with other versions.');
  return versions;
}

/** Returns whether a version is a word: one version of each object is kept, so the words mean the same. */
export const isAnyVersion = (version: string): boolean => VERSION_WORDS.includes(version);

function readVersion(text: string): string {
  const version = isAnyVersion(text) ? text : parseInstant(text);
  if (version === null)
    throw new ApiError(
      'invalid_parameter',
      `match[version] must be ${VERSION_WORDS.join(', ')} or timestamps.`,
    );
  return version;
}
