import type { IncomingMessage } from 'node:http';
import type { FastifyContextConfig, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { Db } from '../db/database.ts';
import type { Spool, Spooled } from '../exports/spool.ts';
import { findFeeds } from '../feeds/feeds.queries.ts';
import { addressOf } from '../http/admit.ts';
import { acceptsGzip, sendCompressed } from '../http/compressed.ts';
import type { ErrorFormat } from '../http/error-handler.ts';
import { ApiError } from '../http/errors.ts';
import { type DecisionContext, matchingBlocks, maxDuration, toDecision } from './decisions.ts';
import { writeDecisions } from './everything.ts';
import { type FeedRows, findRowsFor, rowsOf } from './feed-rows.queries.ts';
import { filterOf, isStartup, type Query, type Wanted, wantedOf } from './request.ts';
import type { StreamDeps } from './request-context.ts';
import { fill, openDecisionStream } from './stream.ts';

interface Options extends StreamDeps {
  spool: Spool;
  trustedProxies: readonly string[];
  /** How many days the history for the change feed goes back. */
  changeDays: number;
  onError(error: Error): void;
}

/** Usage metrics of a bouncer may be so large, in bytes. */
const MAX_METRICS = 1024 * 1024;
/** The bouncer that does not change the timeout of an element that is in its nftables set. */
const FIREWALL_BOUNCER = /^crowdsec-firewall-bouncer\//;
/** Longer ones are cut. */
const MAX_USER_AGENT = 256;

const CONFIG = {
  access: 'feeds:read',
  keyHeader: 'x-api-key',
  ignoresAccept: () => true,
} as const satisfies FastifyContextConfig;

/** Errors as crowdsec's local API has them (`ErrorResponse` in its localapi_swagger.yaml): a key that is not valid is 403 there. */
export const CROWDSEC_ERRORS: ErrorFormat = {
  prefix: '/v1/',
  mediaType: 'application/json; charset=utf-8',
  statusOf: ({ statusCode }) => (statusCode === 401 ? 403 : statusCode),
  write: ({ message, code }) => ({ message, errors: code }),
};

/** The part of crowdsec's local API that bouncers use, for the addresses of the saved feeds to which the key is bound. */
export const crowdsecRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const { database, spool, trustedProxies, onError } = options;
  const maxMs = maxDuration(options.changeDays);
  const stream = openDecisionStream(options);
  app.addHook('onClose', stream.close);
  // Usage metrics are read and dropped, whatever their encoding.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => drop(payload, done));
  const schema = { hide: true };

  app.get('/v1/decisions/stream', { config: CONFIG, schema }, async (request, reply) => {
    const feeds = await feedsOf(database.db, request);
    sendJson(reply);
    // crowdsec answers HEAD without reading decisions: clients find out whether the key is valid.
    if (request.method === 'HEAD') return reply.send('');
    const userAgent = (request.headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT);
    const client = {
      keyId: request.keyId ?? '',
      address: addressOf(request, { trustedProxies }),
      userAgent,
    };
    const query = request.query as Query;
    const context = {
      now: request.principal.now,
      maxMs,
      feeds,
      filter: filterOf(query),
      deletesBeforeRenewal: FIREWALL_BOUNCER.test(userAgent),
    };
    const { body, record } = await stream.next(client, context, isStartup(query));
    // Not emitted for a response that is aborted.
    reply.raw.once('finish', () => void (reply.statusCode === 200 && record()));
    return 'text' in body
      ? sendCompressed(request, reply, body.text)
      : sendSpooled(request, reply, spool, body.spooled);
  });

  app.get('/v1/decisions', { config: CONFIG, schema }, async (request, reply) => {
    const feeds = await feedsOf(database.db, request);
    const wanted = wantedOf(request.query as Query);
    const context = { now: request.principal.now, maxMs };
    sendJson(reply);
    if (wanted.isNone) return reply.send('null');
    if (wanted.within !== null) {
      const found = await findDecisions(database.db, feeds, wanted, context, wanted.within);
      // crowdsec's response without decisions.
      return sendCompressed(request, reply, found.length === 0 ? 'null' : JSON.stringify(found));
    }
    if (request.method === 'HEAD') return reply.send('');
    const pieces = writeDecisions(
      options,
      { feeds, filter: wanted.filter, ...context },
      { wants: wanted.matches },
    );
    return sendSpooled(request, reply, spool, await fill(spool, asArray(pieces), 1, onError));
  });

  app.post(
    '/v1/usage-metrics',
    { config: CONFIG, schema, bodyLimit: MAX_METRICS },
    async (request, reply) => {
      await feedsOf(database.db, request);
      return reply.code(201).send();
    },
  );
};

/**
 * Returns the feeds to which the key is bound.
 * @throws {ApiError} 403 for a key that is bound to none: a bouncer blocks all that it gets, so that nothing is chosen for it
 */
async function feedsOf(db: Db, { boundFeeds = [], principal }: FastifyRequest): Promise<FeedRows[]> {
  if (boundFeeds.length === 0)
    throw new ApiError(
      'insufficient_scope',
      'The API key is bound to no saved feed: create a key that is bound to those which the bouncer enforces.',
    );
  return (await findFeeds(db, boundFeeds)).map((feed) => rowsOf(feed, principal));
}

async function findDecisions(
  db: Db,
  feeds: readonly FeedRows[],
  { filter, matches }: Wanted,
  context: DecisionContext,
  within: string,
) {
  const rows = await findRowsFor(db, feeds, [within]);
  return rows.flatMap((row) =>
    matchingBlocks(row, filter)
      .filter(matches)
      .map((block) => toDecision(block, row, context)),
  );
}

/** Yields a JSON array of what is inside of it; `null` if that is nothing, as crowdsec does. */
async function* asArray(inside: AsyncIterable<string>): AsyncGenerator<string> {
  let isEmpty = true;
  for await (const piece of inside) {
    yield isEmpty ? `[${piece}` : piece;
    isEmpty = false;
  }
  yield isEmpty ? 'null' : ']';
}

function sendJson(reply: FastifyReply): void {
  reply.type('application/json; charset=utf-8').header('cache-control', 'no-store');
}

/** Sends a response that no other client gets. */
function sendSpooled(
  request: FastifyRequest,
  reply: FastifyReply,
  spool: Spool,
  spooled: Spooled,
): FastifyReply {
  const encoding = acceptsGzip(request) ? 'gzip' : 'identity';
  const text = spooled.file(encoding).read();
  text.once('close', () => spool.drop(spooled));
  if (encoding === 'gzip') reply.header('content-encoding', encoding);
  return reply.header('vary', 'accept-encoding').send(text);
}

function drop(payload: IncomingMessage, done: (error: Error | null) => void): void {
  let size = 0;
  payload.on('data', (chunk: Buffer) => {
    size += chunk.length;
  });
  payload.once('end', () => done(size > MAX_METRICS ? new ApiError('content_too_large') : null));
  payload.once('error', done);
}
