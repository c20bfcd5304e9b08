import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { Clock } from '../clock.ts';
import type { Principal } from '../db/visibility.ts';
import { acceptedType } from '../http/accept.ts';
import { sendCompressed, sendCompressedStream } from '../http/compressed.ts';
import { ApiError } from '../http/errors.ts';
import { apiResponses, bodyResponses, NO_CACHE, textContent } from '../http/routes.ts';
import { ref } from '../http/schema.ts';
import { validatorCompiler } from '../http/validation.ts';
import { extractValues } from './extract.ts';
import {
  BULK_BODIES,
  BulkQuery,
  LookupQuery,
  LookupResult,
  LookupResults,
  MAX_BULK_VALUES,
} from './lookup.schema.ts';
import { type LookupSource, lookUp, lookUpTexts, resultOf } from './lookup.service.ts';
import type { LookupFilters } from './questions.ts';
import type { ReadTexts } from './reading.ts';

const JSON_TYPE = 'application/json';
const NDJSON_TYPE = 'application/x-ndjson';
/** The maximum size of the body of a bulk look-up in bytes. */
const MAX_BODY = 2 * 1024 * 1024;
/** Values whose candidates are read at once: other requests are served in between. */
const BATCH = 1_000;

interface Options {
  source: LookupSource & { readTexts: ReadTexts };
  clock: Clock;
}

export const lookupRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { source } = options;
  app.get(
    '/api/v1/lookup',
    {
      config: { access: 'indicators:read' },
      schema: {
        operationId: 'lookUpValues',
        tags: ['Indicators'],
        summary: 'Look up values',
        description:
          'What is known about each of up to 100 values, and about the domains above it, the host and the folders of a ' +
          'URL, and the domain of an e-mail address. A value that is not known is no error. A URL may have 32,768 ' +
          'characters here; keep it below 7,000 where a proxy is in between. QUERY /bulk/lookup takes 10,000 values.',
        querystring: LookupQuery,
        response: apiResponses(LookupResults, 'A result for each value.', [400]),
      },
    },
    async (request, reply) => {
      const { value, ...filters } = request.query;
      const results = await lookUp(source, request.principal, value, filters);
      reply.header('cache-control', NO_CACHE).type(`${JSON_TYPE}; charset=utf-8`);
      return sendCompressed(request, reply, JSON.stringify({ data: results.map(resultOf) }));
    },
  );

  app.route({
    // Under /api there is only GET. QUERY is safe and idempotent, and has a body (RFC 10008).
    method: 'QUERY',
    url: '/bulk/lookup',
    bodyLimit: MAX_BODY,
    preParsing: async ({ headers }) => {
      const coding = headers['content-encoding'] ?? 'identity';
      if (coding.toLowerCase() === 'identity') return;
      // RFC 9110 §12.5.3.
      const allowed = { 'accept-encoding': 'identity' };
      throw new ApiError(
        'unsupported_media_type',
        'The body must not be compressed (Content-Encoding).',
        allowed,
      );
    },
    // A log has NUL bytes where it was truncated while it was written, or after a loss of power: no other value must fail for one.
    validatorCompiler: validatorCompiler('allow'),
    config: { access: 'indicators:read', mediaTypes: [JSON_TYPE, NDJSON_TYPE] },
    schema: {
      operationId: 'lookUpManyValues',
      tags: ['Indicators'],
      summary: 'Look up many values',
      description:
        'The same for up to 10,000 values in a body of up to 2 MiB, sent with the HTTP method QUERY: as JSON, as a value ' +
        'a line, or as a text whose observables are found (extract=true). A request counts once against the rate limit. ' +
        'A client behind a proxy that rejects QUERY (405 or 501) uses GET /api/v1/lookup.',
      querystring: BulkQuery,
      body: { content: BULK_BODIES },
      response: bodyResponses(
        {
          [JSON_TYPE]: { schema: ref(LookupResults), example: exampleOf(LookupResults) },
          ...textContent(NDJSON_TYPE, `${JSON.stringify(exampleOf(LookupResult))}\n`),
        },
        'A result for each value, in their order; as NDJSON one a line.',
      ),
    },
    handler: async (request, reply) => {
      const { extract, ...filters } = request.query;
      const values = await valuesOf(request.body as { values: string[] } | string, extract);
      const isNdjson = acceptedType(request, [JSON_TYPE, NDJSON_TYPE]) === NDJSON_TYPE;
      const results = resultsOf(options, request.principal, values, filters, isNdjson ? '\n' : ',');
      // The first results are read before the response begins, so that an unavailable database is a 503.
      const first = await results.next();
      async function* all() {
        if (!first.done) yield first.value;
        yield* results;
      }
      reply.type(isNdjson ? NDJSON_TYPE : `${JSON_TYPE}; charset=utf-8`).header('cache-control', 'no-store');
      return sendCompressedStream(request, reply, isNdjson ? ndjson(all()) : json(all()));
    },
  });
};

const exampleOf = (schema: object) => (schema as { examples?: unknown[] }).examples?.[0];

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** @throws {ApiError} when there are no values, or too many */
async function valuesOf(body: { values: string[] } | string, extract: boolean): Promise<string[]> {
  const texts = typeof body === 'string' ? linesOf(body) : body.values;
  const values = extract ? await extractValues(texts.join('\n'), MAX_BULK_VALUES) : texts;
  if (texts.length === 0) throw new ApiError('bad_request', 'The body has no values.');
  if (values.length > MAX_BULK_VALUES)
    throw new ApiError(
      'bad_request',
      `The body has ${extract ? `more than ${MAX_BULK_VALUES}` : values.length} values; the maximum is ${MAX_BULK_VALUES}.`,
    );
  return values;
}

/**
 * Yields the results of a batch of values at a time, each as of its own instant: a client may read slowly. The next batch is looked up
 * while one is sent.
 */
async function* resultsOf(
  { source, clock }: Options,
  { tlpCeiling }: Principal,
  values: readonly string[],
  filters: LookupFilters,
  separator: string,
): AsyncGenerator<string, undefined> {
  const begin = (start: number) => {
    const batch = values.slice(start, start + BATCH);
    const results = lookUpTexts(source, { tlpCeiling, now: clock() }, batch, filters, separator);
    // An error is that of its turn, unless the client has gone away before.
    results.catch(() => {});
    return results;
  };
  let next = begin(0);
  for (let start = BATCH; start < values.length; start += BATCH) {
    const results = await next;
    next = begin(start);
    yield results;
  }
  yield await next;
}

async function* json(batches: AsyncIterable<string>): AsyncGenerator<string> {
  let before = '{"data":[';
  for await (const results of batches) {
    yield before + results;
    before = ',';
  }
  yield before === ',' ? ']}' : `${before}]}`;
}

async function* ndjson(batches: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const results of batches) yield `${results}\n`;
}
