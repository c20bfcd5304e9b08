import type { Download, OutboundRequest } from '../outbound/outbound.ts';
import { retryAfter, withRetry } from '../outbound/with-retry.ts';
import { FeedRunError, type FetchContext, type Fetched, sizeOf, unpacked } from './fetching.ts';

/** The maximum duration of one request, with its retries. */
const TIMEOUT_MS = 10 * 60_000;

/** The maximum size of a page that is parsed as a whole, in bytes: parsing blocks the event loop. */
export const MAX_PAGE_BYTES = 32 * 1024 * 1024;

/** The request for one document, except its address. */
export interface DocumentRequest {
  method?: 'POST';
  headers?: Record<string, string>;
  body?: string;
}

/**
 * Fetches a feed that is one document, with a conditional request (RFC 9110 §13.1). For servers that send no
 * validators, a document with the same hash as the last one counts as unchanged.
 */
export async function fetchFile(context: FetchContext, asking: DocumentRequest = {}): Promise<Fetched> {
  const { memory, source } = context;
  const download = await downloadOne(context, source.address, {
    ...asking,
    headers: { ...asking.headers, ...validators(memory) },
  });
  if (download.status === 304) return { files: [], memory, whole: true };
  const file = fileOf(download);
  if (file.bytes === 0) throw new FeedRunError('the response is empty');
  const next = {
    etag: download.headers.etag ?? null,
    lastModified: download.headers['last-modified'] ?? null,
    sha256: file.sha256,
  };
  if (file.sha256 === memory.sha256) return { files: [], memory: next, whole: true };
  return { files: [{ label: 'the document', path: file.path }], memory: next, whole: true };
}

function validators({ etag, lastModified }: Record<string, unknown>): Record<string, string> {
  return {
    ...(typeof etag === 'string' && { 'if-none-match': etag }),
    ...(typeof lastModified === 'string' && { 'if-modified-since': lastModified }),
  };
}

/**
 * Downloads one document, with retries, and decompresses it.
 * @throws {FeedRunError} for a status other than 200 and 304
 */
export async function downloadOne(
  context: FetchContext,
  url: string,
  asking: DocumentRequest = {},
  most = Number.MAX_SAFE_INTEGER,
): Promise<Download> {
  const { outbound, credentials, directory, fetched, signal } = context;
  const maxBytes = Math.min(most, context.maxBytes - fetched.bytes);
  const end = performance.now() + TIMEOUT_MS;
  const timeLeft = () => end - performance.now();
  const request = (): OutboundRequest => {
    const timeoutMs = Math.max(1, timeLeft());
    return { url, ...asking, credentials, maxBytes, timeoutMs, signal };
  };
  const download = await withRetry(() => outbound.download(request(), directory), {
    attempts: 3,
    busyStatuses: true,
    timeLeft,
    signal,
  });
  if (download.status !== 304 && download.status !== 200)
    throw new FeedRunError(
      (credentials && elsewhere(url, download)) ?? statusMessage(download.status),
      download.status,
      retryAfter(download.headers, undefined, context.now),
    );
  if (!download.file) return download;
  const path = await unpacked(download.file.path, directory, maxBytes);
  fetched.bytes += await sizeOf(path);
  return { ...download, file: { ...download.file, path } };
}

/** Returns the reason of a refusal by a server to which a redirect led: credentials are sent to the address of the source alone. */
function elsewhere(url: string, { status, url: reached }: Download): string | undefined {
  const { origin } = new URL(reached);
  if ((status !== 401 && status !== 403) || origin === new URL(url).origin) return undefined;
  return `the address redirects to ${origin}, which gets no credentials (HTTP ${status}); set the address there`;
}

function statusMessage(status: number): string {
  if (status === 401 || status === 403) return `the source rejects the credentials (HTTP ${status})`;
  if (status === 404 || status === 410) return `there is nothing at the address (HTTP ${status})`;
  if (status === 429) return 'the source asks for fewer requests (HTTP 429)';
  return `the source answers with HTTP ${status}`;
}

export function fileOf({ file, status }: Download): NonNullable<Download['file']> {
  if (!file) throw new FeedRunError(statusMessage(status), status);
  return file;
}
