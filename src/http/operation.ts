import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';
import type { Access } from '../model/account.ts';
import { ApiError } from './errors.ts';
import { isUuid } from './query-validator.ts';

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
