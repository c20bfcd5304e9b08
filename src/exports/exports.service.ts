import { createHash } from 'node:crypto';
import { isSameRevision, type RevisionId, readRevisionId } from '../db/revision/revision.ts';
import type { ExportFormat } from '../formats/format.ts';
import { addCounts, Skipped } from '../formats/skipped.ts';
import { ApiError } from '../http/errors.ts';
import type { Applicant, Slots } from '../http/slots.ts';
import { codeDigest } from '../version.ts';
import { exportCacheKey } from './export-cache-key.ts';
import type { Selection } from './selection.queries.ts';
import { openSnapshot, type Snapshot, type SnapshotSource } from './snapshot.ts';
import type { Spool, Spooled } from './spool.ts';

export interface ExportRequest {
  selection: Selection;
  format: ExportFormat;
  /** `variant` identifies the format with its options; `fileName` has no extension. */
  variant: string;
  fileName: string;
  /**
   * Of a saved feed: under which serials and revisions are stored, so that they increase across changes of its definition. Absent: under
   * the cache key.
   */
  versionKey?: string;
}

/** The metadata of an export, and its body if that was requested. */
interface Prepared {
  /** For an entity tag: differs whenever the body differs. */
  tag: string;
  /** How many indicators match, on all pages together. */
  total: number;
  /**
   * Returns how many of them the format leaves out, by reason; null: not known before the export is written.
   */
  skipped(): Record<string, number> | null;
  /** Returns how many whitelisted parts of listed networks it leaves out; null: not known before it is written. */
  whitelistedParts(): number | null;
  /** The revision and the instant of the snapshot, or of a later one of the same content. */
  revisionId: RevisionId;
  asOf: Date;
  body: Spooled | null;
}

export interface Exporter {
  /** The address of the application, for links to its pages; null: not configured. */
  publicAddress: string | null;
  /**
   * Returns the spooled export as long as it is current; otherwise starts to write it.
   * @param wantsBody called with the tag; returns whether the body will be read
   * @param askedBy the key or account, whose exports in progress are limited
   * @throws {ApiError} 429 when there are too many of those, 503 when there is no room for another export
   */
  prepare(request: ExportRequest, wantsBody: (tag: string) => boolean, askedBy: Applicant): Promise<Prepared>;
}

interface Entry extends Prepared {
  /** Writes the body, or wrote it before; null: it has never been written. */
  writing: Writing | null;
  validUntil: Date | null;
}

/** The indicators that the format left out while it wrote a body. */
interface Writing {
  skipped: Skipped;
  isComplete: boolean;
}

/**
 * Different exports that one key or account may have in progress until they are read; requests for the same
 * export are not limited.
 */
const MAX_UNDER_WAY_EACH = 16;
/** Spooled exports; each keeps one to three files open. */
const MAX_ENTRIES = 200;

export function exporter(
  database: SnapshotSource,
  spool: Spool,
  reading: Slots,
  publicAddress: string | null,
  onError: (error: Error) => void,
): Exporter {
  /** In the order of their last use, the latest last. */
  const entries = new Map<string, Entry>();
  const oneByOne = queues();
  const begin = underWay(spool);

  const keep = (key: string, entry: Entry) => {
    const before = entries.get(key)?.body;
    if (before && before !== entry.body) spool.drop(before);
    entries.delete(key);
    entries.set(key, entry);
    const [oldest] = entries;
    if (oldest && entries.size > MAX_ENTRIES) {
      entries.delete(oldest[0]);
      if (oldest[1].body) spool.drop(oldest[1].body);
    }
    return entry;
  };

  const write = (snapshot: Snapshot, format: ExportFormat, writing: Writing, done: () => void) => {
    const pieces = async function* () {
      try {
        const { copied, info } = snapshot;
        yield* copied && format.writeCopied
          ? format.writeCopied(copied.pieces(), copied.toRow, info, writing.skipped)
          : format.write(snapshot.read(), info, writing.skipped);
        writing.isComplete = true;
      } finally {
        await snapshot.close();
        done();
      }
    };
    return spool.fill(pieces(), onError);
  };

  const produce = async (
    key: string,
    request: ExportRequest,
    wantsBody: (tag: string) => boolean,
    askedBy: Applicant,
  ) => {
    const { format, selection } = request;
    if (spool.isFull()) throw busy();
    const begun = begin(askedBy.principalId);
    let done = () => {};
    let opened: Snapshot | undefined;
    try {
      done = await reading.take(askedBy);
      const snapshot = await openSnapshot(database, selection, format, request.variant, request.versionKey);
      opened = snapshot;
      const tag = tagOf(request, snapshot);
      const before = entries.get(key);
      const same = before?.tag === tag ? before : null;
      const body = same?.body && !same.body.failed ? same.body : null;
      const entryOf = (ofBody: Spooled | null, writing: Writing | null): Entry => ({
        tag,
        total: snapshot.info.total,
        skipped: skippedBy(format, snapshot.skipped, writing),
        whitelistedParts: () => (writing?.isComplete ? writing.skipped.parts : null),
        body: ofBody,
        writing,
        revisionId: snapshot.revisionId,
        asOf: selection.principal.now,
        validUntil: snapshot.validUntil,
      });
      if (body || !wantsBody(tag)) {
        await snapshot.close();
        done();
        begun.end();
        return keep(key, entryOf(body, same?.writing ?? null));
      }
      const writing = { skipped: new Skipped(), isComplete: false };
      const written = write(snapshot, format, writing, done);
      begun.written(written);
      return keep(key, entryOf(written, writing));
    } catch (error) {
      await opened?.close().catch(() => {});
      done();
      begun.end();
      throw error;
    }
  };

  return {
    publicAddress,
    prepare(request, wantsBody, askedBy) {
      const key = keyOf(request);
      return oneByOne(key, async () => {
        const entry = entries.get(key);
        if (entry && !entry.body?.failed && holds(entry, request, await readRevisionId(database.db))) {
          if (entry.body || !wantsBody(entry.tag)) return keep(key, entry);
        }
        return produce(key, request, wantsBody, askedBy);
      });
    },
  };
}

/** Returns the key of an entry: content with serials and revisions of a feed is that of the feed alone. */
function keyOf({ selection, variant, format: { reads }, versionKey }: ExportRequest): string {
  const cacheKey = exportCacheKey(selection, variant);
  const isVersioned = reads.changedAt || reads.addressRules;
  return isVersioned && versionKey !== undefined ? `${versionKey} ${cacheKey}` : cacheKey;
}

function skippedBy(
  { skipsValues }: ExportFormat,
  byType: Record<string, number>,
  writing: Writing | null,
): () => Record<string, number> | null {
  return () => {
    if (!skipsValues) return byType;
    return writing?.isComplete ? addCounts(byType, writing.skipped.counts) : null;
  };
}

function holds(
  { revisionId, asOf, validUntil }: Entry,
  { selection }: ExportRequest,
  current: RevisionId,
): boolean {
  const { now } = selection.principal;
  return isSameRevision(revisionId, current) && now >= asOf && (validUntil === null || now < validUntil);
}

function tagOf({ variant, selection }: ExportRequest, { info, rows }: Snapshot): string {
  const content = [codeDigest(), variant, selection.page ?? null, info.digest, rows, info.changedAt];
  const hash = createHash('sha256').update(JSON.stringify(content));
  for (const [sid, changedAt] of info.addressRules) hash.update(` ${sid} ${changedAt}`);
  return hash.digest('base64url');
}

/** Returns a function that runs the work of each key sequentially. */
function queues() {
  const last = new Map<string, Promise<unknown>>();
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
}

/**
 * Counts, for each key or account, the exports that wait, are written or are being read; throws when there
 * are too many.
 */
function underWay(spool: Pick<Spool, 'isInUse'>) {
  const all = new Map<string, Set<{ file: Spooled | null }>>();
  return (askedBy: string) => {
    const own = all.get(askedBy) ?? new Set();
    for (const one of own) if (one.file && !spool.isInUse(one.file)) own.delete(one);
    if (own.size >= MAX_UNDER_WAY_EACH) throw tooManyUnderWay();
    const begun: { file: Spooled | null } = { file: null };
    all.set(askedBy, own.add(begun));
    return {
      written(file: Spooled) {
        begun.file = file;
      },
      end() {
        own.delete(begun);
        if (own.size === 0) all.delete(askedBy);
      },
    };
  };
}

function tooManyUnderWay(): ApiError {
  return new ApiError(
    'rate_limit_exceeded',
    `${MAX_UNDER_WAY_EACH} different exports for you are under way; read one of them to its end.`,
    { 'retry-after': '5' },
  );
}

function busy(): ApiError {
  return new ApiError('service_unavailable', 'Too many exports are being written or sent.', {
    'retry-after': '30',
  });
}
