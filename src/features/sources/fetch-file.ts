import { open } from 'node:fs/promises';
import type { Download, OutboundRequest } from '../../outbound/outbound.ts';
import { retrying } from '../../outbound/retrying.ts';
import { unzipSingle } from '../../outbound/unzip.ts';
import { BrokenRun, type FetchContext, type Fetched, type FetchedFile } from './fetching.ts';

/** For one answer, retries not counted. */
const TIMEOUT_MS = 10 * 60_000;

/** How one document is asked for, beside its address. */
export interface Asking {
  method?: 'POST';
  headers?: Record<string, string>;
  body?: string;
}

/** The whole feed is one document; asked for by its validators (RFC 9110 §13.1), and compared where it has none. */
export async function fetchFile(context: FetchContext, asking: Asking = {}): Promise<Fetched> {
  const { memory, source } = context;
  const download = await downloadOne(context, source.address, {
    ...asking,
    headers: { ...asking.headers, ...validators(memory) },
  });
  if (download.status === 304) return { files: [], memory, whole: true };
  const file = fileOf(download);
  if (file.bytes === 0) throw new BrokenRun('the answer is empty');
  const next = {
    etag: download.headers.etag ?? null,
    lastModified: download.headers['last-modified'] ?? null,
    sha256: file.sha256,
  };
  if (file.sha256 === memory.sha256) return { files: [], memory: next, whole: true };
  return { files: [await unpacked(file.path, context, source.address)], memory: next, whole: true };
}

function validators({ etag, lastModified }: Record<string, unknown>): Record<string, string> {
  return {
    ...(typeof etag === 'string' && { 'if-none-match': etag }),
    ...(typeof lastModified === 'string' && { 'if-modified-since': lastModified }),
  };
}

/**
 * One document, tried a few times.
 * @throws {BrokenRun} for a status that is no answer
 */
export async function downloadOne(
  context: FetchContext,
  url: string,
  asking: Asking = {},
): Promise<Download> {
  const { outbound, credentials, directory, fetched, signal } = context;
  const maxBytes = context.maxBytes - fetched.bytes;
  const wanted: OutboundRequest = { url, ...asking, credentials, maxBytes, timeoutMs: TIMEOUT_MS, signal };
  const download = await retrying(() => outbound.download(wanted, directory), {
    attempts: 3,
    busyStatuses: true,
    signal,
  });
  fetched.bytes += download.file?.bytes ?? 0;
  if (download.status === 304 || download.status === 200) return download;
  throw new BrokenRun(statusMessage(download.status), download.status);
}

function statusMessage(status: number): string {
  if (status === 401 || status === 403) return `the source refuses the credentials (HTTP ${status})`;
  if (status === 404 || status === 410) return `there is nothing at the address (HTTP ${status})`;
  if (status === 429) return 'the source asks for fewer requests (HTTP 429)';
  return `the source answers with HTTP ${status}`;
}

export function fileOf({ file, status }: Download): NonNullable<Download['file']> {
  if (!file) throw new BrokenRun(statusMessage(status), status);
  return file;
}

const ZIP = Buffer.from('PK\u0003\u0004', 'latin1');

/** A zip holds one file; gzip is undone where the file is read. */
async function unpacked(path: string, context: FetchContext, label: string): Promise<FetchedFile> {
  if (!(await startsWith(path, ZIP))) return { label, path };
  const inner = await unzipSingle(path, context.directory, { maxBytes: context.maxBytes });
  return { label, path: inner.path };
}

async function startsWith(path: string, magic: Buffer): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(magic.length), 0, magic.length, 0);
    return bytesRead === magic.length && buffer.equals(magic);
  } finally {
    await file.close();
  }
}
