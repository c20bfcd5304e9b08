import { Download } from './download.js';
import { errorOf, failureOf, TiplineError } from './error.js';
import { RateWindow } from './rate-window.js';
import { limitTime, MAX_TIMER_MS } from './time-limit.js';

export interface TiplineOptions {
  /** The address of Tipline, such as `https://tipline.example.org`. */
  url: string;
  /** The API key. Only `getHealth` and `getReadiness` work without one. */
  key?: string | undefined;
  /** How often a request is repeated after a network error or one of the statuses 500, 502, 503 and 504: 3 times by default. */
  retries?: number | undefined;
  /** How many seconds a call may wait for the rate limit and between attempts, in total: 120 by default. 0: it never waits or repeats. */
  maxWaitSeconds?: number | undefined;
  /** After how many seconds an attempt fails, and a download that sends nothing: 60 by default. Infinity: never. */
  timeoutSeconds?: number | undefined;
  /** Sends the requests; by default the `fetch` of the platform. */
  fetch?: typeof fetch | undefined;
  /** Waits; by default with `setTimeout`. */
  sleep?: ((milliseconds: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

export interface CallOptions {
  /** Aborts the call, also while it waits. */
  signal?: AbortSignal | undefined;
  /**
   * Responses by URL, kept by the caller. A request for one of them has If-None-Match; if it is unchanged (304), it is
   * returned again.
   */
  cache?: Map<string, CachedResponse> | undefined;
}

export interface CachedResponse {
  etag: string;
  body: string;
}

export interface DownloadOptions extends Pick<CallOptions, 'signal'> {
  /** The `etag` of an earlier download. If the content is the same, the new one `isNotModified`, and reading it throws. */
  ifNoneMatch?: string | null | undefined;
}

export interface ApiRequest {
  method?: 'GET' | 'QUERY';
  path: string;
  query?: Record<string, QueryValue>;
  /** A text is sent as text/plain, everything else as JSON. */
  body?: string | object;
  accept?: string;
  /** Statuses other than 2xx whose responses are results. */
  statuses?: number[];
  /** Without a key, and not limited. */
  isPublic?: boolean;
}

type QueryValue = string | number | boolean | readonly (string | number)[] | undefined;

/** Failures after which the same request may succeed. */
const REPEATED: readonly (number | string)[] = ['network_error', 'timeout', 500, 502, 503, 504];

/** Sends requests, waits for the rate limit, and repeats what fails temporarily. */
export class Transport {
  readonly #base: string;
  readonly #key: string | undefined;
  readonly #retries: number;
  readonly #maxWaitSeconds: number;
  readonly #timeoutSeconds: number;
  readonly #fetch: typeof fetch;
  readonly #window = new RateWindow();
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;

  constructor(options: TiplineOptions) {
    const { protocol } = new URL(options.url);
    if (!/^https?:$/.test(protocol)) throw new TypeError('url must begin with http:// or https://.');
    // Files and variables end in an end of line. Headers would show the whole value that they reject.
    const key = options.key?.trim();
    if (key && !/^[!-~]+$/.test(key))
      throw new TypeError('key must have no other characters than visible ASCII.');
    this.#base = options.url.replace(/\/+$/, '');
    this.#key = key;
    this.#retries = options.retries ?? 3;
    this.#maxWaitSeconds = options.maxWaitSeconds ?? 120;
    this.#timeoutSeconds = options.timeoutSeconds ?? 60;
    // Browsers accept calls of fetch on the global object only.
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.sleep = options.sleep ?? sleep;
  }

  async json<T>(request: ApiRequest, options: CallOptions): Promise<T> {
    const { status, body } = await this.#read({ accept: 'application/json', ...request }, options);
    try {
      return JSON.parse(body) as T;
    } catch (cause) {
      throw new TiplineError(status, 'unexpected_response', 'The response is not JSON.', { cause });
    }
  }

  async text(request: ApiRequest, options: CallOptions): Promise<string> {
    return (await this.#read(request, options)).body;
  }

  #read(request: ApiRequest, { signal, cache }: CallOptions): Promise<{ status: number; body: string }> {
    const url = this.#urlOf(request);
    const known = cache?.get(url);
    const headers = { accept: request.accept ?? '*/*', ...(known && { 'if-none-match': known.etag }) };
    return this.#send(request, url, headers, signal, async (response) => {
      if (response.status === 304 && known) return { status: 200, body: known.body };
      const body = await response.text();
      const etag = response.headers.get('etag');
      if (etag) cache?.set(url, { etag, body });
      return { status: response.status, body };
    });
  }

  download(request: ApiRequest, { signal, ifNoneMatch }: DownloadOptions): Promise<Download> {
    const headers = { accept: '*/*', ...(ifNoneMatch && { 'if-none-match': ifNoneMatch }) };
    return this.#send(
      request,
      this.#urlOf(request),
      headers,
      signal,
      async (response, controller) => new Download(response, controller, this.#timeoutSeconds, signal),
    );
  }

  async #send<T>(
    request: ApiRequest,
    url: string,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
    read: (response: Response, controller: AbortController) => Promise<T>,
  ): Promise<T> {
    let waited = 0;
    const pause = async (seconds: number, failure: TiplineError) => {
      waited += seconds;
      if (waited > this.#maxWaitSeconds) throw failure;
      await this.sleep(1000 * seconds, signal);
    };
    for (let failures = 0; ; ) {
      const seconds = request.isPublic ? 0 : this.#window.secondsLeft();
      if (seconds > 0) {
        await pause(seconds, rateLimited(seconds));
        this.#window.forget();
      }
      try {
        return await this.#attempt(request, url, headers, signal, read);
      } catch (error) {
        if (!(error instanceof TiplineError)) throw error;
        if (error.status === 429) {
          this.#window.forget();
          await pause(Math.max(1, error.retryAfter ?? 1), error);
        } else if (isTemporary(error) && failures < this.#retries) {
          await pause(Math.max(backOff(failures++), error.retryAfter ?? 0), error);
        } else throw error;
      }
    }
  }

  async #attempt<T>(
    request: ApiRequest,
    url: string,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
    read: (response: Response, controller: AbortController) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const controller = new AbortController();
    const endLimit = limitTime(controller, this.#timeoutSeconds + Number(request.query?.wait ?? 0));
    try {
      const response = await this.#fetch(url, {
        method: request.method ?? 'GET',
        headers: {
          ...headers,
          ...(this.#key !== undefined && !request.isPublic && { authorization: `Bearer ${this.#key}` }),
          ...contentType(request.body),
        },
        ...(request.body !== undefined && { body: bodyOf(request.body) }),
        // A redirect must not take the key to another host.
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
      });
      this.#window.note(response.headers);
      const isNotModified = response.status === 304 && 'if-none-match' in headers;
      if (!response.ok && !isNotModified && !request.statuses?.includes(response.status))
        throw await errorOf(response);
      return await read(response, controller);
    } catch (error) {
      throw failureOf(error, signal, controller);
    } finally {
      endLimit();
    }
  }

  #urlOf({ path, query = {} }: ApiRequest): string {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined) continue;
      const ones = Array.isArray(value) ? value : [value];
      // Nothing would be sent, which is no filter.
      if (ones.length === 0)
        throw new TypeError(`${name} must not be an empty list. Without a filter, leave it out.`);
      for (const one of ones) parameters.append(name, String(one));
    }
    const text = String(parameters);
    return this.#base + path + (text === '' ? '' : `?${text}`);
  }
}

export const isTemporary = ({ status, code }: TiplineError): boolean =>
  REPEATED.includes(status) || REPEATED.includes(code);

/**
 * Returns for how many seconds to wait after so many failures before the last one: between half of it and all of it, so that
 * clients do not return at the same moment.
 */
export const backOff = (failures: number): number => (2 ** failures * (1 + Math.random())) / 2;

const rateLimited = (retryAfter: number) =>
  new TiplineError(429, 'rate_limit_exceeded', `The rate limit is spent for ${retryAfter} seconds.`, {
    retryAfter,
  });

const bodyOf = (body: string | object) => (typeof body === 'string' ? body : JSON.stringify(body));

function contentType(body: string | object | undefined): Record<string, string> {
  if (body === undefined) return {};
  return { 'content-type': typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json' };
}

/** Returns a part of a path. @throws {TypeError} when it would lead to another path */
export function segment(value: string): string {
  if (/^\.{0,2}$/.test(value)) throw new TypeError(`"${value}" is no part of a path.`);
  return encodeURIComponent(value);
}

async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      },
      Math.min(milliseconds, MAX_TIMER_MS),
    );
    signal?.addEventListener('abort', abort, { once: true });
  });
}
