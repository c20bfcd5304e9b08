import type { Agent } from 'undici';
import { withDeadline } from './deadline.ts';
import { decodedBody, discard } from './decoded-body.ts';
import { exchange, type RawAnswer } from './exchange.ts';
import { storageFailure, transferFailure } from './failure.ts';
import { OutboundError } from './outbound-error.ts';
import { mayConnect, type Network, parseNetworks } from './public-address.ts';
import { firstStep } from './redirect.ts';
import type { Resolve } from './ssrf-guard.ts';
import { writeTemporaryFile } from './temporary-file.ts';

export { OutboundError };

export interface OutboundRequest {
  /** Absolute, http or https, without user-info: a name and password belong into `credentials`. */
  url: string;
  /** GET when left out. */
  method?: 'GET' | 'POST';
  /** Sent along redirects too, wherever they lead; Authorization and Cookie in here count as credentials. */
  headers?: Record<string, string>;
  /** Headers sent to the origin of `url` alone, and no more once a redirect has left it. */
  credentials?: Record<string, string>;
  /** Of a POST; a redirect by 307 or 308 repeats it to wherever it leads, so it is no place for credentials. */
  body?: string;
  /** Of the decoded body, in bytes. */
  maxBytes: number;
  /** For everything together: names, connections, redirects, the body. In milliseconds. */
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface OutboundAnswer {
  status: number;
  /** Names in lower case, without Set-Cookie; without Content-Encoding and Content-Length where the body was unpacked. */
  headers: Record<string, string>;
  /** Where the last redirect led. */
  url: string;
  body: Buffer;
}

export interface Download {
  status: number;
  headers: Record<string, string>;
  url: string;
  /** null for 304 and for statuses other than 2xx. sha256 in hexadecimal. The file is deleted by `dispose`. */
  file: { path: string; bytes: number; sha256: string } | null;
  dispose(): Promise<void>;
}

export interface Outbound {
  /**
   * Any status is an answer.
   * @throws {OutboundError}
   */
  request(wanted: OutboundRequest): Promise<OutboundAnswer>;
  /**
   * Streams to a temporary file (0600) in the directory; a failure leaves none.
   * @throws {OutboundError}
   */
  download(wanted: OutboundRequest, directory: string): Promise<Download>;
  /** Ends what is under way with `aborted`, and every connection. */
  close(): Promise<void>;
}

export interface OutboundOptions {
  /** Networks in CIDR notation that may be reached although they are not public. */
  allowedNetworks: readonly string[];
  userAgent: string;
  /** Instead of the system's resolver. */
  resolve?: Resolve;
  /** PEM of the authorities to trust instead of Node's. */
  certificateAuthorities?: string;
}

/**
 * The one way out to feeds, providers and TAXII servers. Keeps connections for reuse; uses no proxy.
 * @throws {RangeError} for an allowed network that is none
 */
export function openOutbound(options: OutboundOptions): Outbound {
  const networks = parseNetworks(options.allowedNetworks);
  let agent: Promise<Agent> | undefined;
  let isClosed = false;
  const answered = <T>(wanted: OutboundRequest, use: (answer: RawAnswer) => Promise<T>) =>
    withDeadline(wanted.timeoutMs, wanted.signal, async (signal) => {
      const first = firstStep(wanted);
      if (isClosed) throw new OutboundError('aborted', 'outgoing requests are closed', first.url.host);
      agent ??= openAgent(options, networks);
      const answer = await exchange(await agent, first, options.userAgent, signal);
      return use(answer).catch((error: unknown) => {
        discard(answer.body);
        throw transferFailure(error, answer.url.host, signal);
      });
    });
  return {
    request: (wanted) => answered(wanted, (answer) => inMemory(answer, wanted.maxBytes)),
    download: (wanted, directory) =>
      answered(wanted, (answer) => intoFile(answer, wanted.maxBytes, directory)),
    async close() {
      isClosed = true;
      await (await agent)?.destroy();
    },
  };
}

/** Loaded when somebody is to be asked: a server that never asks anybody does without its megabytes. */
async function openAgent(options: OutboundOptions, networks: readonly Network[]): Promise<Agent> {
  const [{ Agent }, { guardedConnector }] = await Promise.all([import('undici'), import('./ssrf-guard.ts')]);
  return new Agent({
    connect: guardedConnector({ ...options, mayConnect: (address) => mayConnect(address, networks) }),
    // The deadline of the request is the only clock.
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
