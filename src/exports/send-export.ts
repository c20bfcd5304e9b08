import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CHANGE_CURSOR, type ChangeFeed, type CopiedRows } from '../changes/change-feed.ts';
import { skippedField } from '../formats/skipped.ts';
import { type ByteRange, matchesEtag, parseRange } from '../http/conditional.ts';
import { ApiError } from '../http/errors.ts';
import { NO_CACHE } from '../http/routes.ts';
import { applicantOf } from '../http/slots.ts';
import type { Exporter, ExportRequest } from './exports.service.ts';
import { ENCODINGS, type Encoding } from './spool.ts';
import type { SpoolFile } from './spool-file.ts';

/**
 * Sends an export: as a whole, the requested range, 304, or for HEAD only the headers.
 * @param feed gives the cursor of the changes since; absent: there is none
 * @param copied the rows whose changes follow; null: there is no cursor
 */
export async function sendExport(
  request: FastifyRequest,
  reply: FastifyReply,
  exporter: Exporter,
  wanted: ExportRequest,
  feed?: Pick<ChangeFeed, 'cursorAfter'>,
  copied: CopiedRows | null = rowsOf(wanted),
): Promise<FastifyReply> {
  const { headers, method } = request;
  const encoding = preferredEncoding(request);
  const etagOf = (tag: string) => (encoding === 'identity' ? `"${tag}"` : `"${tag}-${encoding}"`);
  const isKnown = (tag: string) => matchesEtag(headers['if-none-match'], etagOf(tag));
  const wantsBody = (tag: string) => method !== 'HEAD' && !isKnown(tag);
  const prepare = async () => {
    const prepared = await exporter.prepare(wanted, wantsBody, applicantOf(request));
    const isSent = method === 'GET' && wantsBody(prepared.tag);
    const { revisionId, asOf } = prepared;
    const principal = { ...wanted.selection.principal, now: asOf };
    const cursor =
      isSent && feed && copied ? await feed.cursorAfter(principal, copied, revisionId.revision) : null;
    return { prepared, cursor };
  };
  let { prepared, cursor } = await prepare();
  // Another request may have dropped it meanwhile.
  if (prepared.body?.failed) ({ prepared, cursor } = await prepare());
  const file = prepared.body?.file(encoding);
  const known = isKnown(prepared.tag);
  // HTTP/1.0 has no chunks: without a length, a transfer that broke off looks complete (RFC 9112 §8).
  const hasChunks = request.raw.httpVersion === '1.1';
  if (file && !known && method === 'GET' && !hasChunks) await completed(file, reply);
  // From here on nothing is awaited: the export may be completed or dropped at any time.
  const etag = etagOf(prepared.tag);
  const range = file && !known && method === 'GET' ? rangeOf(request, file, etag) : null;
  reply.headers({
    'cache-control': NO_CACHE,
    vary: 'Accept-Encoding',
    etag,
    'x-total-count': String(prepared.total),
  });
  const skipped = prepared.skipped();
  if (skipped) reply.header('x-skipped', skippedField(skipped));
  const parts = prepared.whitelistedParts();
  if (parts) reply.header('x-whitelisted-parts', String(parts));
  if (known) return reply.code(304).send();
  // Changes apply to a complete copy.
  if (cursor !== null && range === null) reply.header(CHANGE_CURSOR, cursor);
  // Trailers only follow chunks (RFC 9112 §7.1.2).
  if (!skipped && method === 'GET' && hasChunks)
    reply.trailer('x-skipped', async () => skippedField(prepared.skipped() ?? {}));
  const { mediaType, extension } = wanted.format;
  reply.headers({
    'content-type': mediaType,
    'content-disposition': `attachment; filename="${wanted.fileName}.${extension}"`,
    ...(encoding !== 'identity' && { 'content-encoding': encoding }),
  });
  return sendFile(reply, method === 'HEAD', file, range);
}

/** Returns null for a part of the matches: it is no copy that changes could be applied to. */
function rowsOf({ selection: { filters, page, limit } }: ExportRequest): CopiedRows | null {
  return page || limit ? null : { filters };
}

/** @throws {ApiError} 416 for a range beyond the end */
function rangeOf({ headers }: FastifyRequest, file: SpoolFile, etag: string): ByteRange | null {
  const unchanged = headers['if-range'] === undefined || headers['if-range'] === etag;
  if (file.state !== 'complete' || !unchanged) return null;
  const range = parseRange(headers.range, file.size);
  if (range !== 'unsatisfiable') return range;
  throw new ApiError('range_not_satisfiable', undefined, { 'content-range': `bytes */${file.size}` });
}

/**
 * Waits until all of a file is written. The client counts as one of its readers until the response has ended, so that the file is
 * neither aborted nor removed meanwhile.
 * @throws {ApiError} 503 if it is not written to its end
 */
async function completed(file: SpoolFile, reply: FastifyReply): Promise<void> {
  if (file.state === 'complete') return;
  const reader = file.read();
  if (reply.raw.destroyed) reader.destroy();
  reply.raw.once('close', () => reader.destroy());
  try {
    await file.completed();
  } catch {
    throw new ApiError('service_unavailable', 'The export broke off.', { 'retry-after': '30' });
  }
}

function sendFile(
  reply: FastifyReply,
  isHead: boolean,
  file: SpoolFile | undefined,
  range: ByteRange | null,
) {
  if (!file) return reply.send(Readable.from([]));
  if (file.state !== 'complete') return reply.send(file.read());
  const { start, end } = range ?? { start: 0, end: file.size };
  reply.headers({ 'accept-ranges': 'bytes', 'content-length': end - start });
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${file.size}`);
  return reply.send(isHead ? Readable.from([]) : file.read(start, end));
}

function preferredEncoding(request: FastifyRequest): Encoding {
  const chosen = request.accepts().encoding([...ENCODINGS, 'identity']);
  return ENCODINGS.find((encoding) => encoding === chosen) ?? 'identity';
}
