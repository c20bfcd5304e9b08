import type { Agent } from 'undici';
import type { NewSpan } from '../tracing/span.ts';
import { traced } from '../tracing/tracing.ts';
import { decodedBody, discard, exchange, type RawAnswer, withDeadline } from './exchange.ts';
import { OutboundError, storageFailure, transferFailure } from './outbound-error.ts';
import { firstStep } from './redirect.ts';
import type { Resolve } from './ssrf-guard.ts';
import { mayConnect, type Network, parseNetworks } from './ssrf-guard.ts';
import { writeTemporaryFile } from './unzip.ts';

export { OutboundError };

export interface OutboundRequest {
  /** Absolute, http or https, without user-info: a name and password belong in `credentials`. */
  url: string;
  /** Default: GET. */
  method?: 'GET' | 'POST';
  /** Sent along redirects too, wherever they lead; Authorization and Cookie in here count as credentials. */
  headers?: Record<string, string>;
  /** Headers sent only to the origin of `url`, and no longer once a redirect has left it. */
  credentials?: Record<string, string>;
  /** Body of a POST. A redirect by 307 or 308 repeats it to any target, so it must not hold credentials. */
  body?: string;
  /** `return`: a redirect is the result. Default: it is followed. */
  redirect?: 'follow' | 'return';
  /** Maximum size of the decoded body, in bytes. */
  maxBytes: number;
  /** Time limit for all of it: name resolution, connections, redirects and the body. In milliseconds. */
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface OutboundAnswer {
  status: number;
  /**
   * Names in lower case, without Set-Cookie; without Content-Encoding and Content-Length if the body was
   * decoded.
   */
  headers: Record<string, string>;
  /** The URL after all redirects. */
  url: string;
  body: Buffer;
}

export interface Download {
  status: number;
  headers: Record<string, string>;
  url: string;
  /**
   * null for 304 and for statuses other than 2xx. sha256 in hexadecimal. The file is deleted by `dispose`.
   */
  file: { path: string; bytes: number; sha256: string } | null;
  dispose(): Promise<void>;
}

export interface Outbound {
  /**
   * Sends a request. A response of any status is a result.
   * @throws {OutboundError}
   */
  request(wanted: OutboundRequest): Promise<OutboundAnswer>;
  /**
   * Sends a request whose response matters by its status and headers only.
   * @throws {OutboundError}
   */
  send(wanted: Omit<OutboundRequest, 'maxBytes'>): Promise<Omit<OutboundAnswer, 'body'>>;
  /**
   * Streams the body to a temporary file (0600) in the directory; a failure leaves no file.
   * @throws {OutboundError}
   */
  download(wanted: OutboundRequest, directory: string): Promise<Download>;
  /** Ends requests in progress with `aborted`, and closes all connections. */
  close(): Promise<void>;
}

export interface OutboundOptions {
  /** Networks in CIDR notation that may be reached although they are not public. */
  allowedNetworks: readonly string[];
  userAgent: string;
  /** Used instead of the system's resolver. */
  resolve?: Resolve;
  /** PEM of the authorities to trust instead of Node's. */
  certificateAuthorities?: string;
}

/**
 * Opens the client for all requests to feeds, providers and TAXII servers. Reuses connections; uses no proxy.
 * @throws {RangeError} for an allowed network that is not in CIDR notation
 */
export function openOutbound(options: OutboundOptions): Outbound {
  const networks = parseNetworks(options.allowedNetworks);
  let agent: Promise<Agent> | undefined;
  let isClosed = false;
  const answered = <T>(wanted: Omit<OutboundRequest, 'maxBytes'>, use: (answer: RawAnswer) => Promise<T>) =>
    traced(
      () => requestSpan(wanted),
      (span) =>
        sendWanted({ ...wanted, headers: { ...wanted.headers, ...span.headers() } }, (answer) => {
          span.setAttributes({ 'http.response.status_code': answer.status });
          if (answer.status >= 400) span.fail(String(answer.status));
          return use(answer);
        }),
    );
  const sendWanted = <T>(wanted: Omit<OutboundRequest, 'maxBytes'>, use: (answer: RawAnswer) => Promise<T>) =>
    withDeadline(wanted.timeoutMs, wanted.signal, async (signal) => {
      const first = firstStep(wanted);
      if (isClosed) throw new OutboundError('aborted', 'outgoing requests are closed', first.url.host);
      agent ??= openAgent(options, networks);
      const followsRedirects = wanted.redirect !== 'return';
      const answer = await exchange(await agent, first, options.userAgent, signal, followsRedirects);
      return use(answer).catch((error: unknown) => {
        discard(answer.body);
        throw transferFailure(error, answer.url.host, signal);
      });
    });
  return {
    request: (wanted) => answered(wanted, (answer) => inMemory(answer, wanted.maxBytes)),
    send: (wanted) =>
      answered(wanted, async (answer) => {
        discard(answer.body);
        return described(answer);
      }),
    download: (wanted, directory) =>
      answered(wanted, (answer) => intoFile(answer, wanted.maxBytes, directory)),
    async close() {
      isClosed = true;
      await (await agent)?.destroy();
    },
  };
}

/**
 * Returns the span of a request, by OpenTelemetry's semantic conventions for HTTP. It has no path and no query, where providers have keys,
 * receivers of webhooks their secrets, and look-ups their values.
 */
function requestSpan({ url, method = 'GET' }: Pick<OutboundRequest, 'url' | 'method'>): NewSpan {
  const { protocol, origin, hostname, port } = URL.canParse(url)
    ? new URL(url)
    : { protocol: '', origin: '', hostname: '', port: '' };
  return {
    name: method,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
      'url.full': origin,
    },
  };
}

/** Loads undici at the first request: a server that makes no requests saves its megabytes. */
async function openAgent(options: OutboundOptions, networks: readonly Network[]): Promise<Agent> {
  const [{ Agent }, { guardedConnector }] = await Promise.all([
    import('undici'),
    import('./ssrf-connector.ts'),
  ]);
  return new Agent({
    connect: guardedConnector({ ...options, mayConnect: (address) => mayConnect(address, networks) }),
    // The deadline of the request is the only time limit.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

async function inMemory(answer: RawAnswer, maxBytes: number): Promise<OutboundAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of decodedBody(answer.body, answer.headers['content-encoding'], maxBytes))
    chunks.push(chunk);
  return { ...described(answer), body: Buffer.concat(chunks) };
}

async function intoFile(answer: RawAnswer, maxBytes: number, directory: string): Promise<Download> {
  if (answer.status < 200 || answer.status > 299) {
    discard(answer.body);
    return { ...described(answer), file: null, dispose: async () => {} };
  }
  const body = decodedBody(answer.body, answer.headers['content-encoding'], maxBytes);
  const { dispose, ...file } = await writeTemporaryFile(body, directory, storageFailure);
  return { ...described(answer), file, dispose };
}

function described({ status, headers, url }: RawAnswer) {
  const { 'content-encoding': encoding, 'content-length': length, ...rest } = headers;
  return { status, headers: encoding === undefined ? headers : rest, url: url.href };
}
