import { type SerializerFactory, SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';
import type { Access } from '../model/account.ts';
import { isUuid } from '../model/uuid.ts';
import { ApiError } from './errors.ts';
import { ErrorBody, ref } from './schema.ts';

export const NO_CACHE = 'private, no-cache';

/** @param example the id of an object in the sample data */
export const idParameter = (example: string) =>
  Type.Object({ id: Type.String({ description: 'The id, a UUID.', examples: [example] }) });

const integerHeader = (description: string) => ({ type: 'integer', description });
/** The OpenAPI description of the headers of every response to a valid key. */
const rateHeaders = {
  'X-RateLimit-Limit': integerHeader('Requests allowed in the current window.'),
  'X-RateLimit-Remaining': integerHeader('Requests left in the current window.'),
  'X-RateLimit-Reset': integerHeader('Unix time, in seconds, when the window resets.'),
};

const etagHeader = { ETag: { type: 'string', description: 'A strong ETag of the content.' } };

/** The OpenAPI description of the header of responses that are files. */
export const FILE_NAME_HEADER = {
  'Content-Disposition': {
    type: 'string',
    description: 'An attachment, with the name of its file (RFC 6266).',
  },
};

const challengeHeader = {
  'WWW-Authenticate': { type: 'string', description: 'How to authenticate (RFC 9110 §11.6.1).' },
};

const DESCRIPTIONS = {
  400: 'A query parameter is not valid.',
  401: 'The API key is missing or not valid.',
  403: 'The API key lacks the scope, or may not be used from this address.',
  404: 'Not found, or not visible to this key.',
  406: 'No available media type matches the Accept header.',
  409: 'Conflicts with the key of the request.',
  410: 'No longer available.',
  413: 'The body is too large.',
  415: 'The media type of the body is not supported.',
  416: 'The range starts beyond the end of the content.',
  429: 'The key has exceeded its rate limit; Retry-After gives the seconds to wait.',
  503: 'The service is temporarily unavailable.',
} as const;

const unchanged = Type.Unsafe({
  type: 'null',
  description: 'The client’s copy is current (If-None-Match).',
  headers: { ...etagHeader, ...rateHeaders },
});

type OwnError = 400 | 404 | 409 | 410 | 413 | 415 | 416;

/** Returns the responses of a route that needs a key: its own, those of all such routes, and these errors. */
export function apiResponses<T extends TSchema>(
  answer: T,
  description: string,
  errors: OwnError[],
  headers: object = {},
) {
  return {
    200: Type.Unsafe<Static<T>>({
      ...ref(answer),
      description,
      headers: { ...etagHeader, ...headers, ...rateHeaders },
    }),
    304: unchanged,
    ...failures(errors),
  };
}

/** The OpenAPI security requirement of a route that has `allowBasicAuth`. */
export const KEY_OR_BASIC: readonly Record<string, string[]>[] = [{ apiKey: [] }, { basicKey: [] }];

/** OpenAPI content, by media type. */
type Content = Record<string, { schema: object; example?: unknown }>;

/** Returns the description of text of a media type. */
export const textContent = (mediaType: string, example: string): Content => ({
  [mediaType]: { schema: { type: 'string' }, example },
});

/**
 * Returns the same as `apiResponses`, for a response in one of several media types.
 * @param errorContent of errors, where a standard prescribes it
 */
export function contentResponses(
  content: Content,
  description: string,
  errors: OwnError[],
  headers: object = {},
  errorContent?: Content,
) {
  return {
    200: { description, headers: { ...etagHeader, ...headers, ...rateHeaders }, content },
    304: unchanged,
    ...failures(errors, errorContent),
  };
}

/** Returns the same as `contentResponses`, for an operation whose response depends on the body of the request. */
export function bodyResponses(content: Content, description: string) {
  return { 200: { description, headers: rateHeaders, content }, ...failures([400, 413, 415]) };
}

/** Returns the same as `contentResponses`, for a file that supports range requests (RFC 9110 §14). */
export function fileResponses(
  content: Content,
  description: string,
  errors: OwnError[],
  headers: object = {},
) {
  const whole = contentResponses(content, description, [...errors, 416], headers);
  const parts = Object.keys(content).map((type) => [type, { schema: { type: 'string' } }] as const);
  return {
    ...whole,
    206: {
      description: 'The requested range of bytes (Range).',
      headers: {
        ...whole[200].headers,
        'Content-Range': {
          type: 'string',
          description: 'The range of the returned bytes and the total size.',
        },
      },
      content: Object.fromEntries(parts),
    },
  };
}

function failures(errors: OwnError[], content?: Content) {
  const statuses = [...errors, 401, 403, 406, 429, 503] as const;
  return Object.fromEntries(statuses.map((status) => [status, failure(status, content)] as const));
}

function failure(status: keyof typeof DESCRIPTIONS, content?: Content) {
  const headers = {
    ...(status === 401 ? challengeHeader : rateHeaders),
    ...(status === 429 || status === 503 ? { 'Retry-After': integerHeader('Seconds to wait.') } : {}),
  };
  const description = DESCRIPTIONS[status];
  return content
    ? { description, headers, content }
    : Type.Unsafe({ ...ref(ErrorBody), description, headers });
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
export type OperationKey = `${Method} /app/${string}`;

/** An operation of the application: schemas of its request and response for the server, and types for the pages. */
export interface Operation<
  Key extends OperationKey = OperationKey,
  Body extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> {
  key: Key;
  body: Body;
  query: Query;
  answer: Answer;
}

/** The maximum size of a JSON body, in bytes; uploads of files have their own limit. */
const MAX_BYTES = 64 * 1024;

/** An instant, sent as ISO 8601. */
export const instant = Type.Unsafe<Date>({ type: 'string', format: 'date-time' });
export const instantOrNull = Type.Unsafe<Date | null>({ type: ['string', 'null'], format: 'date-time' });

const EMPTY = Type.Object({}, { additionalProperties: false });

/** @param key the method and the URL, with parameters as Fastify writes them */
export function operation<
  const Key extends OperationKey,
  Answer extends TSchema,
  Body extends TSchema = typeof EMPTY,
  Query extends TSchema = typeof EMPTY,
>(key: Key, parts: { answer: Answer; body?: Body; query?: Query }): Operation<Key, Body, Query, Answer> {
  const { answer, body = EMPTY, query = EMPTY } = parts;
  return { key, answer, body: body as Body, query: query as Query };
}

/** Returns the Fastify options of an operation. The public OpenAPI description omits it: it covers the API only. */
export function routeOf<Body extends TSchema, Query extends TSchema, Answer extends TSchema>(
  { key, body, query, answer }: Operation<OperationKey, Body, Query, Answer>,
  who: Access,
) {
  const [method, url] = key.split(' ') as [Method, string];
  return {
    method,
    url,
    bodyLimit: MAX_BYTES,
    config: { access: `app:${who}` as const },
    schema: {
      hide: true,
      params: Type.Unsafe<Record<string, string>>({}),
      querystring: Type.Unsafe<Static<Query>>(query),
      // Fastify rejects a body schema for GET.
      ...((method === 'GET' ? {} : { body }) as unknown as { body: TUnsafe<Static<Body>> }),
      response: { 200: Type.Unsafe<Static<Answer>>(answer) },
    },
  };
}

/** Returns the id in the path. @throws {ApiError} 404 when it is not a UUID */
export function idOf({ params }: { params: unknown }): string {
  const { id } = params as { id: string };
  if (!isUuid(id)) throw new ApiError('not_found');
  return id.toLowerCase();
}

const serializers = SerializerSelector();

/**
 * Compiles the serializer of a response at its first use. Fastify would compile those of all routes and statuses
 * before it listens, which takes a fifth of the start-up time.
 */
export const lazySerializers: SerializerFactory = (schemas, options) => (route) => {
  let serialize: ((answer: unknown) => string) | undefined;
  return (answer) => {
    // A compiler that has compiled a named schema removes it from the schemas that later ones can refer to, so each
    // serializer gets its own compiler.
    serialize ??= serializers(schemas, options)(route);
    return serialize(answer);
  };
};
