import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { Consumed, KeyValueStore, RateLimit } from '../kv/kv.ts';
import { type ApiKey, hashApiKey } from '../model/api-key.ts';
import type { Scope } from '../model/scopes.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { rateHeaders } from './authenticate.ts';
import { matchesEtag } from './etag.ts';
import type { KeptAnswer, KeptAnswers } from './kept-answers.ts';
import type { Metrics } from './metrics.ts';

/**
 * Gives out again what was answered before, without the way through plugins, hooks and routes: the same status, headers
 * and bytes to the same address under the same ceiling. Whatever is not plainly that goes the whole way.
 */
export interface FastLane {
  /** This address asks this question, and these headers went with the answer. */
  learn(request: FastifyRequest, reply: FastifyReply, question: string): void;
  /** In front of the service's own listener. */
  before(listener: RequestListener): RequestListener;
  /** How often a key was counted already for a request that was sent on. */
  counted(request: IncomingMessage): Consumed | undefined;
}

interface FastLaneOptions {
  answers: Pick<KeptAnswers, 'peek'>;
  peekKey(hash: string, now: Date): ApiKey | undefined;
  noteUse(keyId: string, at: Date): void;
  kv: Pick<KeyValueStore, 'consume'>;
  rateLimit: RateLimit;
  clock: Clock;
  metrics: Pick<Metrics, 'observe'>;
  log: { isLevelEnabled?(level: string): boolean; info(line: object, message: string): void };
}

/** What an address asks, and of whom. */
interface Place {
  question: string;
  scope: Scope;
  route: string;
  /** Names and values in turn: those that are the same in every answer. */
  headers: string[];
}

interface Way {
  key: ApiKey;
  place: Place;
  answer: KeptAnswer;
}

/** What clients send that take JSON as it comes; any other list of types is weighed the whole way. */
const TAKES_JSON = new Set<string | undefined>([undefined, '*/*', 'application/json']);
/** Others in each answer. */
const OWN_HEADERS = /^(x-request-id|x-ratelimit-.*|etag|content-length)$/;
const MOST_PLACES = 10_000;
const LONGEST_ADDRESS = 500;

export function fastLane(options: FastLaneOptions): FastLane {
  const { answers, peekKey, noteUse, kv, rateLimit, clock, metrics, log } = options;
  const places = new LRUCache<string, Place>({ max: MOST_PLACES });
  const counts = new WeakMap<IncomingMessage, Consumed>();

  const wayOf = ({ method, url = '', headers, httpVersion }: IncomingMessage, now: Date): Way | undefined => {
    const { authorization = '', accept, host } = headers;
    if (method !== 'GET' || httpVersion !== '1.1' || !host || !TAKES_JSON.has(accept)) return undefined;
    if (!authorization.startsWith('Bearer ')) return undefined;
    const key = peekKey(hashApiKey(authorization.slice('Bearer '.length)), now);
    // From where a request comes is looked at the whole way.
    if (!key || key.networks.length > 0) return undefined;
    const place = places.get(placeName(key.tlpCeiling, url));
    if (!place || (key.scopes.length > 0 && !key.scopes.includes(place.scope))) return undefined;
    const answer = answers.peek(place.question, now.getTime());
    return answer && { key, place, answer };
  };

  const pass = async (
    way: Way,
    request: IncomingMessage,
    response: ServerResponse,
    onward: () => void,
  ): Promise<void> => {
    const started = performance.now();
    const { key, place, answer } = way;
    noteUse(key.id, clock());
    const consumed = await kv.consume(`key:${key.id}`, rateLimit).catch(() => undefined);
    if (consumed) counts.set(request, consumed);
    if (!consumed || consumed.consumed > rateLimit.points) return onward();
    const isKnown = matchesEtag(request.headers['if-none-match'], answer.etag);
    const id = randomUUID();
    const own = ['x-request-id', id, 'etag', answer.etag];
    for (const [name, value] of Object.entries(rateHeaders(rateLimit, consumed, clock())))
      own.push(name, value);
    if (isKnown) {
      response.writeHead(304, [...withoutType(place.headers), ...own]);
      response.end();
    } else {
      response.writeHead(200, [...place.headers, ...own, 'content-length', String(answer.body.length)]);
      response.end(answer.body);
    }
    const took = performance.now() - started;
    metrics.observe('GET', place.route, isKnown ? 304 : 200, took / 1000);
    if (log.isLevelEnabled?.('info'))
      log.info(
        { reqId: id, req: request, res: { statusCode: response.statusCode }, responseTime: took },
        'request completed',
      );
  };

  return {
    learn(request, reply, question) {
      const { access } = request.routeOptions.config;
      const address = request.originalUrl;
      if (address.length > LONGEST_ADDRESS) return;
      const headers = Object.entries(reply.getHeaders())
        .filter(([name]) => !OWN_HEADERS.test(name))
        .flatMap(([name, value]) => [name, String(value)]);
      places.set(placeName(request.viewer.tlpCeiling, address), {
        question,
        scope: access as Scope,
        route: request.routeOptions.url ?? '',
        headers,
      });
    },
    before: (listener) => (request, response) => {
      const way = wayOf(request, clock());
      if (!way) return listener(request, response);
      pass(way, request, response, () => listener(request, response)).catch((error: Error) =>
        response.destroy(error),
      );
    },
    counted: (request) => counts.get(request),
  };
}

const placeName = (ceiling: Tlp, address: string) => `${ceiling} ${address}`;

/** A 304 has no content to tell the type of. */
function withoutType(headers: readonly string[]): string[] {
  const at = headers.indexOf('content-type');
  return headers.filter((_, i) => i !== at && i !== at + 1);
}
