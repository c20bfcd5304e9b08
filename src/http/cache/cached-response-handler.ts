import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../clock.ts';
import type { Viewer } from '../../db/visibility.ts';
import { type ApiKey, hashApiKey } from '../../model/api-key.ts';
import type { Scope } from '../../model/scopes.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import type { Consumed, KeyValueStore, RateLimit } from '../../rate-limit/store.ts';
import { rateHeaders } from '../authenticate.ts';
import { goesWith304, matchesEtag, strongEtag } from '../etag.ts';
import type { Metrics } from '../metrics.ts';
import { redactKeys } from '../redact.ts';
import { isRepeated } from '../routing.ts';
import type { KeptAnswers } from './response-cache.ts';

/**
 * Answers what was answered before without the way through plugins, hooks and routes: the same status, headers and bytes
 * to the same address under the same ceiling, or what another object of the same route holds. Whatever is not plainly
 * that goes the whole way.
 */
export interface FastLane {
  /** This address asks this question, and these headers went with the answer. */
  learn(request: FastifyRequest, reply: FastifyReply, subject: Subject): void;
  /** In front of the service's own listener. */
  before(listener: RequestListener): RequestListener;
  /** How often a key was counted already for a request that was sent on. */
  counted(request: IncomingMessage): Consumed | undefined;
  /** What is being read already for a request that was sent on. */
  begun(request: IncomingMessage): Promise<object | undefined> | undefined;
}

interface FastLaneOptions {
  answers: Pick<KeptAnswers, 'peek'>;
  peekKey(hash: string, now: Date): ApiKey | undefined;
  noteUse(keyId: string, at: Date): void;
  kv: Pick<KeyValueStore, 'consume' | 'consumeLeased'>;
  rateLimit: RateLimit;
  clock: Clock;
  metrics: Pick<Metrics, 'observe'>;
  /** Aborted: connections are to be closed, which the full pipeline does. */
  stopping: AbortSignal;
  log: { isLevelEnabled?(level: string): boolean; info(line: object, message: string): void };
}

/** What is answered again: a question of which the answer may be kept, or an object that is read anew for each request. */
type Subject =
  | { question: string }
  | {
      read(viewer: Viewer, id: string): Promise<object | undefined>;
      write(object: object): string;
    };

/** What an address asks, or a route of one of its objects, and of whom. */
interface Place {
  subject: Subject;
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

interface Way {
  key: ApiKey;
  place: Place;
  /** What of all objects is asked for. */
  id: string;
  /** What is there already. */
  kept: Answer | undefined;
}

/** What clients send that take JSON as it comes; any other list of types is weighed the whole way. */
const TAKES_JSON = new Set<string | undefined>([undefined, '*/*', 'application/json']);
/** Others in each answer. */
const OWN_HEADERS = /^(x-request-id|x-ratelimit-.*|etag|content-length)$/;
/** As the service writes it: an id in other letters goes the whole way. */
const ID_IN_PATH = /^[^?]*\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:\/[a-z]+)?$/;
const MOST_PLACES = 10_000;
const LONGEST_ADDRESS = 500;

export function fastLane(options: FastLaneOptions): FastLane {
  const { answers, peekKey, noteUse, kv, rateLimit, clock, metrics, stopping, log } = options;
  /** By address. */
  const questions = new LRUCache<string, Place>({ max: MOST_PLACES });
  /** By route: an address is none of them, whatever is written in it. */
  const objects = new Map<string, Place>();
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
  const wayOf = (request: IncomingMessage, now: Date): Way | undefined => {
    const { method, url = '', headers, httpVersion, socket } = request;
    const { authorization = '', accept, host } = headers;
    if (method !== 'GET' || httpVersion !== '1.1' || !host || !TAKES_JSON.has(accept)) return undefined;
    if (!authorization.startsWith('Bearer ')) return undefined;
    if (isRepeated(request, 'host') || isRepeated(request, 'authorization')) return undefined;
    const key = peekKey(hashOf(socket, authorization), now);
    // From where a request comes is looked at the whole way.
    if (!key || key.networks.length > 0) return undefined;
    const question = questions.get(placeName(key.tlpCeiling, url));
    const id = question ? '' : (ID_IN_PATH.exec(url)?.[1] ?? '');
    const place = question ?? (id && objects.get(placeName(key.tlpCeiling, url.replace(id, ':id'))));
    if (!place || (key.scopes.length > 0 && !key.scopes.includes(place.scope))) return undefined;
    const { subject } = place;
    const kept = 'question' in subject ? answers.peek(subject.question, now.getTime()) : undefined;
    return kept || id ? { key, place, id, kept } : undefined;
  };
  /** As it is once the request was counted, for which it may have waited. */
  const find = async ({ key, place, id }: Way, request: IncomingMessage): Promise<Answer | undefined> => {
    const [{ subject }, now] = [place, clock()];
    if ('question' in subject) return answers.peek(subject.question, now.getTime());
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
    { key, place }: Way,
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
    way: Way,
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
    if (!consumed || consumed.consumed > rateLimit.points) return sendOn();
    const answer = await find(way, request).catch(() => undefined);
    if (!answer) return sendOn();
    sendNow(way, answer, consumed, started, request, response);
  };

  return {
    learn(request, reply, subject) {
      const { config, url: route = '' } = request.routeOptions;
      const address = 'question' in subject ? request.originalUrl : route;
      if (address.length > LONGEST_ADDRESS) return;
      const headers = Object.entries(reply.getHeaders())
        .filter(([name]) => !OWN_HEADERS.test(name))
        .flatMap(([name, value]) => [name, String(value)]);
      const places = 'question' in subject ? questions : objects;
      places.set(placeName(request.viewer.tlpCeiling, address), {
        subject,
        scope: config.access as Scope,
        route,
        headers,
        headersOf304: headers.filter((_, i) => goesWith304(headers[i - (i % 2)] as string)),
      });
    },
    before: (listener) => (request, response) => {
      const started = performance.now();
      const way = stopping.aborted ? undefined : wayOf(request, clock());
      if (!way) return listener(request, response);
      const { kept } = way;
      const leased = kept && kv.consumeLeased(`key:${way.key.id}`, rateLimit);
      if (!leased)
        return void send(way, started, request, response, () => listener(request, response)).catch((error) =>
          response.destroy(error),
        );
      attempt(response, () => sendNow(way, kept, leased, started, request, response));
    },
    counted: (request) => counts.get(request),
    begun: (request) => readings.get(request),
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

const placeName = (ceiling: Tlp, address: string) => `${ceiling} ${address}`;
