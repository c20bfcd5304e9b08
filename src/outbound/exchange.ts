import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Agent, Dispatcher } from 'undici';
import { OutboundError, transferFailure } from './outbound-error.ts';
import { nextStep, type RequestStep } from './redirect.ts';

export interface RawAnswer {
  status: number;
  /**
   * Names in lower case, repeated ones joined by a comma; without Set-Cookie, as there is no session to keep.
   */
  headers: Record<string, string>;
  url: URL;
  /** Not yet decoded. */
  body: Readable;
}

const MAX_REDIRECTS = 5;

/**
 * Sends a request and follows its redirects, unless they are the result. The caller reads or discards the body.
 * @throws {OutboundError}
 */
export async function exchange(
  agent: Agent,
  first: RequestStep,
  userAgent: string,
  signal: AbortSignal,
  followsRedirects: boolean,
): Promise<RawAnswer> {
  let step = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await send(agent, step, userAgent, signal);
    const next = followsRedirects ? followed(step, answer, signal) : null;
    if (next === null) {
      const { statusCode: status, body } = answer;
      return { status, headers: joined(answer.headers), url: step.url, body };
    }
    discard(answer.body);
    step = next;
  }
  throw new OutboundError('too_many_redirects', `more than ${MAX_REDIRECTS} redirects`, first.url.host);
}

async function send(
  agent: Agent,
  step: RequestStep,
  userAgent: string,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const request = agent.request({
    origin: step.url.origin,
    path: `${step.url.pathname}${step.url.search}`,
    method: step.method,
    headers: {
      'user-agent': userAgent,
      ...step.headers,
      ...step.credentials,
      'accept-encoding': 'gzip',
    },
    body: step.body,
    signal,
  });
  try {
    // undici heeds the signal only once it is connected.
    return await unlessAborted(request, signal, (late) => discard(late.body));
  } catch (error) {
    throw transferFailure(error, step.url.host, signal);
  }
}

function followed(
  step: RequestStep,
  answer: Dispatcher.ResponseData,
  signal: AbortSignal,
): RequestStep | null {
  try {
    return nextStep(step, answer.statusCode, answer.headers.location);
  } catch (error) {
    discard(answer.body);
    throw transferFailure(error, step.url.host, signal);
  }
}

function joined(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name !== 'set-cookie')
      .map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

/** Overhead of gzip for incompressible data: a header, and five bytes for each 16 to 64 KiB. */
const PACKING_OVERHEAD = 1.01;
const PACKING_BYTES = 1_024;

/**
 * Yields the body without its Content-Encoding (RFC 9110 §8.4), as it streams. After a failure, the caller
 * discards the body.
 * @throws {OutboundError} too_large as soon as more than `maxBytes` have been decoded; bad_encoding
 */
export async function* decodedBody(
  body: Readable,
  encoding: string | undefined,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  const name = (encoding ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') yield* capped(body, maxBytes);
  else if (name === 'gzip' || name === 'x-gzip') yield* gunzipped(body, maxBytes);
  else throw new OutboundError('bad_encoding', 'the answer is packed in a way that was not asked for');
}

/** Ends the transfer of a body that is not needed. */
export function discard(body: Readable): void {
  body.on('error', () => {}).destroy();
}

async function* gunzipped(body: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  const unpacked = createGunzip();
  const count = { bytes: 0 };
  // The compressed side is capped too: endless empty blocks would decompress to nothing forever.
  const packed = capped(body, maxBytes * PACKING_OVERHEAD + PACKING_BYTES, count);
  const first = await packed.next();
  // A 304 or an error may name the encoding of a body that it does not have.
  if (first.done) return;
  const transfer = pipeline(startingWith(first.value, packed), unpacked).catch((error: unknown) => error);
  yield* capped(unpacked, maxBytes);
  // gunzip accepts the end of any member; only the transfer shows whether another member was to follow.
  const failure = await transfer;
  if (count.bytes > unpacked.bytesWritten)
    throw new OutboundError('bad_encoding', 'something stands behind the gzip data');
  if (failure !== undefined) throw failure;
}

async function* startingWith(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

async function* capped(
  source: AsyncIterable<Buffer>,
  maxBytes: number,
  count = { bytes: 0 },
): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    count.bytes += chunk.length;
    if (count.bytes > maxBytes) throw new OutboundError('too_large', 'the answer is larger than allowed');
    yield chunk;
  }
}

/** Above this value, setTimeout fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs `work` with a signal that fires when the time is over or the caller's own signal fires; its reason is
 * an OutboundError, `timeout` or `aborted`. Waits for `work` to end, so that nothing is left behind.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = () => controller.abort(new OutboundError('aborted', 'the request was called off'));
  const expire = () => controller.abort(new OutboundError('timeout', 'no complete answer in time'));
  const timer = setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS));
  if (outer?.aborted) abort();
  outer?.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    return await work(signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', abort);
  }
}

/**
 * Returns the result of `promise` unless the signal fires first; a result that comes after that is passed to
 * `late`.
 */
async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  late: (value: T) => void,
): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([promise, aborted]);
  } catch (error) {
    promise.then(late, () => {});
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
