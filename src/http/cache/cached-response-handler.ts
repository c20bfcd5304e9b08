import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../clock.ts';
import type { Principal } from '../../db/visibility.ts';
import { type ApiKey, hashApiKey } from '../../model/api-key.ts';
import type { Scope } from '../../model/scopes.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import type { Consumed, RateLimit, RateLimitStore } from '../../rate-limit/store.ts';
import { rateHeaders } from '../authenticate.ts';
import { goesWith304, matchesEtag, strongEtag } from '../etag.ts';
import type { Metrics } from '../metrics.ts';
import { redactKeys } from '../redact.ts';
import { isRepeated } from '../routing.ts';
import type { ResponseCache } from './response-cache.ts';

/**
 * Answers what was answered before without the way through plugins, hooks and routes: the same status, headers and bytes
 * to the same address under the same ceiling, or what another object of the same route holds. Whatever is not plainly
 * that takes the full pipeline.
 */
export interface CachedResponseHandler {
  /** This address asks this question, and these headers went with the answer. */
  remember(request: FastifyRequest, reply: FastifyReply, subject: Source): void;
  /** In front of the service's own listener. */
  wrap(listener: RequestListener): RequestListener;
  /** How often a key was counted already for a request that was sent on. */
  consumedQuota(request: IncomingMessage): Consumed | undefined;
  /** What is being read already for a request that was sent on. */
  inFlightRead(request: IncomingMessage): Promise<object | undefined> | undefined;
}

interface CachedResponseHandlerOptions {
  answers: Pick<ResponseCache, 'getStale'>;
  peekKey(hash: string, now: Date): ApiKey | undefined;
  noteUse(keyId: string, at: Date): void;
  kv: Pick<RateLimitStore, 'consume' | 'consumeLeased'>;
  rateLimit: RateLimit;
  clock: Clock;
  metrics: Pick<Metrics, 'observe'>;
  /** Aborted: connections are to be closed, which the full pipeline does. */
  stopping: AbortSignal;
  log: { isLevelEnabled?(level: string): boolean; info(line: object, message: string): void };
}

/** What is answered again: a question of which the answer may be kept, or an object that is read anew for each request. */
type Source =
  | { question: string }
  | {
      read(principal: Principal, id: string): Promise<object | undefined>;
      write(object: object): string;
    };

/** What an address asks, or a route of one of its objects, and of whom. */
interface CacheEntry {
  subject: Source;
  scope: Scope;
  route: string;
  /** Names and values in turn: those that are the same in every answer. */
  headers: string[];
  headersOf304: string[];
}

/** What goes out: kept, or still to be read. */
interface Answer {
  /** Text goes out in one piece with the headers; bytes were made once. */
  body: string | Buffer;
  etag: string;
}

interface Hit {
  key: ApiKey;
  place: CacheEntry;
  /** What of all objects is asked for. */
  id: string;
  /** What is there already. */
  kept: Answer | undefined;
}

/** What clients send that take JSON as it comes; any other list takes the full pipeline. */
const TAKES_JSON = new Set<string | undefined>([undefined, '*/*', 'application/json']);
/** Others in each answer. */
const OWN_HEADERS = /^(x-request-id|x-ratelimit-.*|etag|content-length)$/;
/** As the service writes it: an id in other letters takes the full pipeline. */
const ID_IN_PATH = /^[^?]*\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:\/[a-z]+)?$/;
const MAX_ENTRIES = 10_000;
const MAX_URL_LENGTH = 500;

export function cachedResponseHandler(options: CachedResponseHandlerOptions): CachedResponseHandler {
  const { answers, peekKey, noteUse, kv, rateLimit, clock, metrics, stopping, log } = options;
  /** By address. */
  const questions = new LRUCache<string, CacheEntry>({ max: MAX_ENTRIES });
  /** By route: an address is none of them, whatever is written in it. */
  const objects = new Map<string, CacheEntry>();
  const counts = new WeakMap<IncomingMessage, Consumed>();
  const readings = new WeakMap<IncomingMessage, Promise<object | undefined>>();
  /** What came last over a connection, which mostly comes again. */
  const hashes = new WeakMap<Socket, { authorization: string; hash: string }>();

  const hashOf = (socket: Socket, authorization: string) => {
    const last = hashes.get(socket);
    if (last?.authorization === authorization) return last.hash;
    const hash = hashApiKey(authorization.slice('Bearer '.length));
    hashes.set(socket, { authorization, hash });
    return hash;
  };
  const hitOf = (request: IncomingMessage, now: Date): Hit | undefined => {
    const { method, url = '', headers, httpVersion, socket } = request;
    const { authorization = '', accept, host } = headers;
    if (method !== 'GET' || httpVersion !== '1.1' || !host || !TAKES_JSON.has(accept)) return undefined;
    if (!authorization.startsWith('Bearer ')) return undefined;
    if (isRepeated(request, 'host') || isRepeated(request, 'authorization')) return undefined;
    const key = peekKey(hashOf(socket, authorization), now);
    // The full pipeline checks where a request comes from.
    if (!key || key.networks.length > 0) return undefined;
    const question = questions.get(entryKey(key.tlpCeiling, url));
    const id = question ? '' : (ID_IN_PATH.exec(url)?.[1] ?? '');
    const place = question ?? (id && objects.get(entryKey(key.tlpCeiling, url.replace(id, ':id'))));
    if (!place || (key.scopes.length > 0 && !key.scopes.includes(place.scope))) return undefined;
    const { subject } = place;
    const kept = 'question' in subject ? answers.getStale(subject.question, now.getTime()) : undefined;
    return kept || id ? { key, place, id, kept } : undefined;
  };
  /** As it is once the request was counted, for which it may have waited. */
  const find = async ({ key, place, id }: Hit, request: IncomingMessage): Promise<Answer | undefined> => {
    const [{ subject }, now] = [place, clock()];
    if ('question' in subject) return answers.getStale(subject.question, now.getTime());
    const reading = subject.read({ tlpCeiling: key.tlpCeiling, now }, id);
    readings.set(request, reading);
    const found = await reading;
    if (!found) return undefined;
    const body = subject.write(found);
    return { body, etag: strongEtag(body) };
  };

  const toWrite: { response: ServerResponse; write: () => void }[] = [];
  /**
   * At the end of this turn of the event loop, with whatever else is to be written in it: one write after the other finds whoever
   * reads them still awake, and waking costs as much as an answer.
   */
  const atTurnsEnd = (response: ServerResponse, write: () => void) => {
    if (toWrite.push({ response, write }) > 1) return;
    setImmediate(() => {
      for (const { response, write } of toWrite.splice(0)) attempt(response, write);
    });
  };

  /**
   * For what is counted and there already: nothing is waited for.
   * @param started of `performance.now()`
   */
  const sendNow = (
    { key, place }: Hit,
    answer: Answer,
    consumed: Consumed,
    started: number,
    request: IncomingMessage,
    response: ServerResponse,
  ): void => {
    // Reckoned from after the count: the window never ends later than was said.
    const now = clock();
    noteUse(key.id, now);
    const isKnown = matchesEtag(request.headers['if-none-match'], answer.etag);
    const id = randomUUID();
    const own = ['x-request-id', id, 'etag', answer.etag];
    for (const [name, value] of Object.entries(rateHeaders(rateLimit, consumed, now))) own.push(name, value);
    if (isKnown) response.writeHead(304, [...place.headersOf304, ...own]);
    else {
      const length = String(Buffer.byteLength(answer.body));
      response.writeHead(200, [...place.headers, ...own, 'content-length', length]);
    }
    atTurnsEnd(response, () => {
      response.end(isKnown ? undefined : answer.body);
      const took = performance.now() - started;
      metrics.observe('GET', place.route, response.statusCode, took / 1000);
      if (log.isLevelEnabled?.('info'))
        log.info(
          {
            reqId: id,
            key: redactKeys(key.name),
            req: { method: request.method, url: request.url, ip: request.socket.remoteAddress },
            res: { statusCode: response.statusCode },
            responseTime: took,
          },
          'request completed',
        );
    });
  };
  const send = async (
    way: Hit,
    started: number,
    request: IncomingMessage,
    response: ServerResponse,
    onward: () => void,
  ): Promise<void> => {
    const consumed = await kv.consume(`key:${way.key.id}`, rateLimit).catch(() => undefined);
    const sendOn = () => {
      if (consumed) counts.set(request, consumed);
      onward();
    };
    if (!consumed || consumed.consumed > rateLimit.limit) return sendOn();
    const answer = await find(way, request).catch(() => undefined);
    if (!answer) return sendOn();
    sendNow(way, answer, consumed, started, request, response);
  };

  return {
    remember(request, reply, subject) {
      const { config, url: route = '' } = request.routeOptions;
      const address = 'question' in subject ? request.originalUrl : route;
      if (address.length > MAX_URL_LENGTH) return;
      const headers = Object.entries(reply.getHeaders())
        .filter(([name]) => !OWN_HEADERS.test(name))
        .flatMap(([name, value]) => [name, String(value)]);
      const places = 'question' in subject ? questions : objects;
      places.set(entryKey(request.principal.tlpCeiling, address), {
        subject,
        scope: config.access as Scope,
        route,
        headers,
        headersOf304: headers.filter((_, i) => goesWith304(headers[i - (i % 2)] as string)),
      });
    },
    wrap: (listener) => (request, response) => {
      const started = performance.now();
      const way = stopping.aborted ? undefined : hitOf(request, clock());
      if (!way) return listener(request, response);
      const { kept } = way;
      const leased = kept && kv.consumeLeased(`key:${way.key.id}`, rateLimit);
      if (!leased)
        return void send(way, started, request, response, () => listener(request, response)).catch((error) =>
          response.destroy(error),
        );
      attempt(response, () => sendNow(way, kept, leased, started, request, response));
    },
    consumedQuota: (request) => counts.get(request),
    inFlightRead: (request) => readings.get(request),
  };
}

/** What cannot be written is given up. */
function attempt(response: ServerResponse, write: () => void): void {
  try {
    write();
  } catch (error) {
    response.destroy(error as Error);
  }
}

const entryKey = (ceiling: Tlp, address: string) => `${ceiling} ${address}`;
