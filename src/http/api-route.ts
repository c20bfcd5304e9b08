import { Type } from 'typebox';
import { ErrorBody, ref } from './schema.ts';

export const NO_CACHE = 'private, no-cache';

export const idParameter = Type.Object({ id: Type.String({ description: 'The id, a UUID.' }) });

const integerHeader = (description: string) => ({ description, schema: { type: 'integer' } });
/** OpenAPI's description of the headers that stand on every answer to a known key. */
const rateHeaders = {
  'X-RateLimit-Limit': integerHeader('Requests allowed in the current window.'),
  'X-RateLimit-Remaining': integerHeader('Requests left in the current window.'),
  'X-RateLimit-Reset': integerHeader('Unix time, in seconds, when the window resets.'),
};

const DESCRIPTIONS = {
  400: 'A query parameter is not valid.',
  401: 'The API key is missing or not valid.',
  403: 'The API key lacks the scope, or may not be used from this address.',
  404: 'There is no such thing, or none that this key may see.',
  406: 'The Accept header allows no media type that this route has.',
  429: 'The rate limit of the key is spent; Retry-After says how many seconds to wait.',
  503: 'The service cannot answer at the moment.',
} as const;

/** The error answers of a route that needs a key: those of every such route, and the ones given. */
export function apiResponses(...own: (400 | 404)[]) {
  const statuses = [...own, 401, 403, 406, 429, 503] as const;
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      Type.Unsafe({
        ...ref(ErrorBody),
        description: DESCRIPTIONS[status],
        headers: status === 401 ? {} : rateHeaders,
      }),
    ]),
  );
}
