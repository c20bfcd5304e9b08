import { createHash } from 'node:crypto';
import type { Database } from '../../db/open.ts';
import { readRevision } from '../../db/revision.ts';
import type { ExportFormat } from '../../formats/format.ts';
import { ApiError } from '../../http/errors.ts';
import { codeDigest } from '../../version.ts';
import type { Selection } from './exports.queries.ts';
import { questionOf } from './question.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';
import type { Spool, Spooled } from './spool.ts';

export interface ExportRequest {
  selection: Selection;
  format: ExportFormat;
  /** What tells the format from others, its options included; and its file, without the extension. */
  variant: string;
  fileName: string;
}

/** What is known of an export, and its body where that was wanted. */
interface Prepared {
  /** For an entity tag: another one whenever the body is another. */
  tag: string;
  /** How many indicators match, on all pages together. */
  total: number;
  skipped: Record<string, number>;
  body: Spooled | null;
}

export interface Exporter {
  /**
   * Finds the export laid aside as long as it holds, and else begins to write it.
   * @param wantsBody asked with the tag: whether the body will be read
   */
  prepare(request: ExportRequest, wantsBody: (tag: string) => boolean): Promise<Prepared>;
}

interface Entry extends Prepared {
  revision: number;
  asOf: Date;
  validUntil: Date | null;
}

/** So many exports are read from the database at once; each holds a connection of its pool until it is read. */
const MAX_READING = 10;
/** Who has waited so long for one of these places is told to come again. */
const MAX_WAIT_MS = 20_000;
/** Each keeps a file or three open. */
const MAX_ENTRIES = 200;

export function exporter(
  database: Pick<Database, 'db' | 'kind'>,
  spool: Spool,
  onError: (error: Error) => void,
): Exporter {
  /** The one that was asked for last stands last. */
  const entries = new Map<string, Entry>();
  const oneByOne = queues();
  const reading = slots(MAX_READING);

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

  const write = (snapshot: Snapshot, format: ExportFormat, done: () => void) => {
    const pieces = async function* () {
      try {
        const { copied, info } = snapshot;
        yield* copied && format.writeCopied
          ? format.writeCopied(copied.pieces(), copied.toRow, info)
          : format.write(snapshot.read(), info);
      } finally {
        await snapshot.close();
        done();
      }
    };
    return spool.fill(pieces(), onError);
  };

  const produce = async (key: string, request: ExportRequest, wantsBody: (tag: string) => boolean) => {
    const { format, selection } = request;
    if (spool.isFull()) throw busy();
    const done = await reading();
    let snapshot: Snapshot | undefined;
    try {
      snapshot = await openSnapshot(database, selection, format, request.variant);
      const tag = tagOf(request, snapshot);
      const before = entries.get(key);
      const body = before?.tag === tag && before.body && !before.body.failed ? before.body : null;
      const entry: Entry = {
        tag,
        total: snapshot.info.total,
        skipped: snapshot.skipped,
        body,
        revision: snapshot.revision,
        asOf: selection.viewer.now,
        validUntil: snapshot.validUntil,
      };
      if (body || !wantsBody(tag)) {
        await snapshot.close();
        done();
        return keep(key, entry);
      }
      return keep(key, { ...entry, body: write(snapshot, format, done) });
    } catch (error) {
      await snapshot?.close().catch(() => {});
      done();
      throw error;
    }
  };

  return {
    prepare(request, wantsBody) {
      const key = questionOf(request.selection, request.variant);
      return oneByOne(key, async () => {
        const entry = entries.get(key);
        if (entry && !entry.body?.failed && holds(entry, request, await readRevision(database.db))) {
          if (entry.body || !wantsBody(entry.tag)) return keep(key, entry);
        }
        return produce(key, request, wantsBody);
      });
    },
  };
}

function holds(
  { revision, asOf, validUntil }: Entry,
  { selection }: ExportRequest,
  current: number,
): boolean {
  const { now } = selection.viewer;
  return revision === current && now >= asOf && (validUntil === null || now < validUntil);
}

function tagOf({ variant, selection }: ExportRequest, { info, rows }: Snapshot): string {
  const content = [codeDigest(), variant, selection.page ?? null, info.digest, rows];
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url');
}

/** Work of one key is done one after the other. */
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

/** At most so many at once, the others wait, for a while; resolves to what gives the place back. */
function slots(count: number): () => Promise<() => void> {
  let free = count;
  const waiting = new Set<() => void>();
  const wait = () =>
    new Promise<void>((resolve, reject) => {
      const take = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(take);
        reject(busy());
      }, MAX_WAIT_MS);
      waiting.add(take);
    });
  return async () => {
    if (free > 0) free--;
    else await wait();
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const [next] = waiting;
      if (!next) free++;
      else {
        waiting.delete(next);
        next();
      }
    };
  };
}

function busy(): ApiError {
  return new ApiError('service_unavailable', 'Too many exports are being written or sent.', {
    'retry-after': '30',
  });
}
