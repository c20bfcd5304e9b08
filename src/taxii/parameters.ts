import { Type } from 'typebox';
import { ApiError } from '../http/errors.ts';
import { parseInstant } from '../model/dates.ts';
import type { TokenSealer } from '../secrets/sealed-token.ts';
import { type Match, readMatch } from './match.ts';
import type { Reached } from './objects.ts';

const DEFAULT_LIMIT = 1_000;
/** The maximum number of objects of a response; a higher limit is lowered to it (TAXII 2.1 §3.4). */
const MAX_LIMIT = 5_000;

const text = (description: string) => Type.Optional(Type.String({ maxLength: 8_192, description }));
const oneOf = (of: string) => text(`Only ${of}; several with commas.`);

const page = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: `The maximum number of objects: ${DEFAULT_LIMIT} if it is absent, never more than ${MAX_LIMIT}.`,
    }),
  ),
  next: text('Of the last response: goes on after it, with its filters.'),
};
const addedAfter = {
  added_after: text(
    'Only objects that were added later, such as X-TAXII-Date-Added-Last of the last response.',
  ),
};
const specVersion = { 'match[spec_version]': oneOf('objects of these versions of STIX') };
const version = {
  'match[version]': oneOf('these versions: first, last, all (of each object there is one) or timestamps'),
};

/** The query of objects and manifests (§5.3, §5.4). */
export const ObjectsQuery = Type.Object({
  ...addedAfter,
  ...page,
  'match[id]': oneOf('objects with these ids'),
  'match[type]': oneOf('objects of these types'),
  ...version,
  ...specVersion,
});

/** The query of an object (§5.6). */
export const ObjectQuery = Type.Object({ ...addedAfter, ...page, ...version, ...specVersion });

/** The query of the versions of an object (§5.8). */
export const VersionsQuery = Type.Object({ ...addedAfter, ...page, ...specVersion });

export type Query = Readonly<Record<string, string | number | undefined>>;

/** The objects that a request asks for. */
export interface PageQuery {
  match: Match;
  reached: Reached;
  limit: number;
}

/**
 * Reads the query of a request; with `next`, the filters are those of the request before.
 * @param collection the id of the collection, to which `next` belongs
 * @throws {ApiError} 400
 */
export function readPageQuery(sealer: TokenSealer, collection: string, query: Query): PageQuery {
  const { limit = DEFAULT_LIMIT, next, added_after: after } = query;
  const shared = { limit: Math.min(Number(limit), MAX_LIMIT) };
  if (next !== undefined) return { ...shared, ...readNext(sealer, collection, String(next)) };
  const texts = Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, value?.toString()] as const),
  );
  const reached = { after: after === undefined ? null : readTimestamp(String(after)), held: null };
  return { ...shared, match: readMatch(texts), reached };
}

/** Returns `next`: it holds the filters, because some clients do not repeat them. It is encrypted, as it holds revisions. */
export function sealNext(
  sealer: TokenSealer,
  collection: string,
  { match, reached }: Omit<PageQuery, 'limit'>,
): string {
  return sealer.seal(JSON.stringify([collection, match, reached]));
}

function readNext(sealer: TokenSealer, collection: string, text: string): Omit<PageQuery, 'limit'> {
  const opened = sealer.open(text);
  const [of, match, reached] = opened === null ? [] : JSON.parse(opened);
  if (of !== collection)
    throw new ApiError('invalid_parameter', 'next must be that of a response of this collection.');
  return { match, reached };
}

/** Reads a timestamp of any precision (STIX 2.1 §3.2), in microseconds since 1970. */
function readTimestamp(text: string): number {
  const instant = parseInstant(text);
  if (instant === null)
    throw new ApiError(
      'invalid_parameter',
      'added_after must be a timestamp such as 2026-01-31T12:00:00.000000Z.',
    );
  const [, fraction = ''] = /\.(\d+)/.exec(text) ?? [];
  return Date.parse(instant) * 1_000 + Number(fraction.padEnd(6, '0').slice(3, 6));
}
