import { createHash, randomUUID } from 'node:crypto';
import { bulkhead } from 'cockatiel';
import { linesOf } from '../db/copy-out.ts';
import type { Database, Db } from '../db/database.ts';
import { type RevisionId, readRevisionId } from '../db/revision/revision.ts';
import type { ExportIndicator, ExportInfo, ExportShape } from '../formats/format.ts';
import type { SummaryRow } from '../indicators/read/summaries.queries.ts';
import type { CopiedRows } from '../model/copied-rows.ts';
import { earliest } from '../model/dates.ts';
import { TLPS } from '../model/vocabulary.ts';
import { exportCacheKey, queryOf } from './export-cache-key.ts';
import { type ExportContext, readContext, readSummary } from './export-context.queries.ts';
import {
  readGroupsDigest,
  readJa3,
  readOriginalIdsDigest,
  readScoresDigest,
} from './export-facts.queries.ts';
import { attributeRows, parseAttribute, parseReportPart, reportParts } from './export-reports.queries.ts';
import {
  closeCursor,
  closeForgottenCursors,
  copiedRowReader,
  copyRows,
  countMatching,
  digestAddressRules,
  fetchRows,
  fetchText,
  openCursor,
  openCursors,
} from './exports.queries.ts';
import { recordAddressRules, recordResponseVersion } from './response-version.queries.ts';
import type { Selection } from './selection.queries.ts';

/** The content of an export, and what it leaves out, in one state of the database. */
export interface Snapshot {
  /** The revision of that state. */
  revisionId: RevisionId;
  /** The time from which the content differs by time alone; null: it does not. */
  validUntil: Date | null;
  info: ExportInfo;
  /** The number of rows that the writer gets. */
  rows: number;
  /** The number of rows that it does not get, by type, `not-for-detection` and `limit`. */
  skipped: Record<string, number>;
  /** Yields the rows once, in the format's order. The snapshot must be read or `close`d. */
  read(): AsyncGenerator<ExportIndicator[]>;
  /** The same rows as PostgreSQL's COPY sends them, to be read instead; null: there is no COPY. */
  copied: { pieces(): AsyncGenerator<CopiedRows>; toRow(line: string): ExportIndicator } | null;
  close(): Promise<void>;
}

/** Rows per batch: the text of so few stays in the young generation, where collecting it costs nothing. */
const BATCH = 64;

const NO_CONTEXT: ExportContext = { entities: [], relationships: [], tlps: [], links: '', reports: null };

/** The parts of a database that snapshots need. */
export type SnapshotSource = Pick<Database, 'db' | 'kind' | 'requireSpace'>;

/**
 * Snapshots that are opened at once and record a version: each needs a second connection of the pool while it holds one, so
 * that all of them together must leave some.
 */
const MAX_RECORDING = 8;
const recording = bulkhead(MAX_RECORDING, Number.POSITIVE_INFINITY);

/**
 * Opens the rows of a selection for reading, as of one moment. On PostgreSQL it holds a transaction until it
 * is read or closed; the embedded database materializes the rows, so that other work can run between the
 * pages.
 * @param versionKey under which serials and revisions are stored; absent: under the cache key
 */
export function openSnapshot(
  source: SnapshotSource,
  selection: Selection,
  format: ExportShape,
  variant: string,
  versionKey?: string,
): Promise<Snapshot> {
  const open = () => openNow(source, selection, format, versionsOf(selection, variant, versionKey));
  const { changedAt, addressRules } = format.reads;
  return changedAt || addressRules ? recording.execute(open) : open();
}

/** Where the serial and the revisions of an export are stored. */
interface Versions {
  key: string;
  /** Distinguishes the responses under the key beyond their content; '': the key does. */
  variant: string;
}

const versionsOf = (selection: Selection, variant: string, key: string | undefined): Versions =>
  key === undefined ? { key: exportCacheKey(selection, variant), variant: '' } : { key, variant };

async function openNow(
  { db, kind, requireSpace }: SnapshotSource,
  selection: Selection,
  format: ExportShape,
  versions: Versions,
): Promise<Snapshot> {
  const hold = kind === 'embedded';
  if (hold) {
    requireSpace();
    await closeForgottenCursors(db);
  }
  const trx = await db
    .startTransaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode(hold ? 'read write' : 'read only')
    .execute();
  let open = true;
  const end = async (how: 'commit' | 'rollback') => {
    if (!open) return;
    open = false;
    try {
      await trx[how]().execute();
    } catch (error) {
      // A failed commit leaves the transaction on the connection; a rollback releases it, even if that fails.
      if (how === 'commit')
        await trx
          .rollback()
          .execute()
          .catch(() => {});
      throw error;
    }
  };
  const cursors: string[] = [];
  /** Of the attributes and of the reports. */
  const opened: string[] = [];
  try {
    const state = await readState(trx, selection, format);
    const rules = format.reads.addressRules ? await digestAddressRules(trx, selection, format) : null;
    if (hold) {
      cursors.push(...(await openCursors(trx, selection, format, `export_${randomUUID()}`)));
    }
    if (format.reads.reports) {
      const entityIds = state.info.entities.map(({ id }) => id);
      opened.push(...(await openStreams(trx, selection, format, entityIds, hold)));
    }
    if (hold) await end('commit');
    const { now } = selection.principal;
    if (format.reads.changedAt) state.info.changedAt = await changedAt(db, versions, state.info.digest, now);
    if (rules !== null) state.info.addressRules = await recordAddressRules(db, versions, rules, now);
    const close = async () => {
      // Those of a transaction end with it.
      if (hold)
        for (const cursor of [...cursors.splice(0), ...opened.splice(0)]) await closeCursor(db, cursor);
      await end('rollback');
    };
    // Where attributes and reports follow the rows, the reader closes the snapshot.
    const afterRows = format.reads.reports ? async () => {} : close;
    if (format.reads.reports) {
      const streams = readStreams(hold ? db : trx, opened);
      Object.assign(state.info, streams);
    }
    const pages = () => closing(fetchAll(db, [...cursors], format.columns), afterRows);
    if (hold) return { ...state, close, read: pages, copied: null };
    const toRow = copiedRowReader(format);
    const pieces = () => closing(copyRows(trx, selection, format), afterRows);
    return { ...state, close, read: () => rowsOf(pieces(), toRow), copied: { pieces, toRow } };
  } catch (error) {
    // The first error is the one that is thrown.
    await end('rollback').catch(() => {});
    if (hold) for (const cursor of [...cursors, ...opened]) await closeCursor(db, cursor).catch(() => {});
    throw error;
  }
}

async function changedAt(
  db: Db,
  { key, variant }: Versions,
  content: string,
  now: Date,
): Promise<Date | null> {
  const digest = variant === '' ? content : digestOf([variant, content]);
  const since = await recordResponseVersion(db, [{ request: key, digest }], now);
  return since.get(key) ?? null;
}

async function* rowsOf(pieces: AsyncIterable<CopiedRows>, toRow: (line: string) => ExportIndicator) {
  for await (const piece of pieces) {
    const lines = linesOf(piece);
    for (let at = 0; at < lines.length; at += BATCH) yield lines.slice(at, at + BATCH).map(toRow);
  }
}

async function* nothing() {}

async function* closing<T>(all: AsyncIterable<T>, close: () => Promise<void>): AsyncGenerator<T> {
  try {
    yield* all;
  } finally {
    await close().catch(() => {});
  }
}

/** Yields the rows of all cursors; the next page is fetched while the last one is written. */
async function* fetchAll(db: Db, cursors: string[], columns: ExportShape['columns']) {
  let next: Promise<ExportIndicator[]> | undefined;
  try {
    for (const cursor of cursors) {
      next = fetchRows(db, cursor, columns);
      for (;;) {
        const rows = await next;
        if (rows.length === 0) break;
        next = fetchRows(db, cursor, columns);
        // It may reject while the writer is still busy; the error is thrown when it is awaited.
        next.catch(() => {});
        yield rows;
      }
    }
  } finally {
    await next?.catch(() => {});
  }
}

/** Opens cursors on the attributes and on the reports; on the embedded database they outlive the transaction. */
async function openStreams(
  trx: Db,
  selection: Selection,
  { reads: { originalRefs = false } }: ExportShape,
  entityIds: readonly string[],
  hold: boolean,
) {
  const queries = [
    attributeRows(trx, selection, entityIds, originalRefs),
    reportParts(trx, selection, originalRefs),
  ];
  const names: string[] = [];
  for (const query of queries) names.push(await openCursor(trx, query, `export_${randomUUID()}`, hold));
  return names;
}

/** @param db the transaction of the cursors, or the database where they outlive it */
function readStreams(db: Db, [attributes = '', reports = '']: readonly string[]) {
  return {
    attributes: () => parsed(fetchText(db, attributes), parseAttribute),
    reports: () => parsed(fetchText(db, reports), parseReportPart),
  };
}

async function* parsed<T>(pages: AsyncIterable<string[]>, parse: (row: string) => T): AsyncGenerator<T[]> {
  for await (const page of pages) yield page.map(parse);
}

async function readState(
  trx: Db,
  selection: Selection,
  format: ExportShape,
): Promise<Omit<Snapshot, 'read' | 'copied' | 'close'>> {
  const { reads } = format;
  const query = queryOf(selection.filters, selection.limit);
  const revisionId = await readRevisionId(trx);
  const { limit, ...unlimited } = selection;
  const all = await readSummary(trx, unlimited, reads.lastSeen ?? false);
  const { parts } = limit ? await readSummary(trx, selection, false) : all;
  const context = reads.context
    ? await readContext(trx, selection, reads.reports || reads.reportStates || false)
    : NO_CONTEXT;
  const written = parts.filter((part) => isWritten(part, format));
  const marked = [...written, ...context.entities, ...context.relationships];
  const markings = new Set([...context.tlps, ...marked.map(({ tlp }) => tlp)]);
  const ja3 = reads.ja3 ? await readJa3(trx, selection) : { hashes: [], nextExpiry: null };
  const scores = reads.scores ? await readScoresDigest(trx, selection) : null;
  const originalIds = format.columns.includes('originalIds')
    ? await readOriginalIdsDigest(trx, selection)
    : null;
  const groups = format.group ? await readGroupsDigest(trx, selection, format.group) : null;
  const day = reads.day ? startOfDay(selection.principal.now) : null;
  return {
    revisionId,
    validUntil: earliest([all.nextExpiry, ja3.nextExpiry, day && new Date(day.getTime() + DAY_MS)]),
    rows: sum(written),
    skipped: { ...skippedIn(all.parts, format), ...(limit && beyondLimit(all.parts, written, format)) },
    info: {
      query,
      digest: digestOf([
        query,
        written,
        context,
        ...(day ? [day] : []),
        ...(scores ? [scores] : []),
        ...(originalIds ? [originalIds] : []),
        ...(groups ? [groups] : []),
        ...ja3.hashes,
      ]),
      rows: sum(written),
      total: selection.page ? await countMatching(trx, selection) : sum(all.parts),
      tlps: TLPS.filter((tlp) => markings.has(tlp)),
      lastSeen: all.lastSeen,
      changedAt: null,
      addressRules: new Map(),
      day,
      entities: context.entities,
      relationships: context.relationships,
      ja3: ja3.hashes,
      attributes: nothing,
      reports: nothing,
    },
  };
}

function isWritten({ type, for_detection }: SummaryRow, { types, detectionOnly }: ExportShape): boolean {
  return types.includes(type) && (for_detection || !detectionOnly);
}

function skippedIn(parts: readonly SummaryRow[], format: ExportShape): Record<string, number> {
  const skipped: Record<string, number> = {};
  for (const part of parts) {
    if (isWritten(part, format)) continue;
    const reason = format.types.includes(part.type) ? 'not-for-detection' : part.type;
    skipped[reason] = (skipped[reason] ?? 0) + part.count;
  }
  return skipped;
}

/** Returns how many rows the format would write without a limit, less those that it writes. */
function beyondLimit(
  all: readonly SummaryRow[],
  written: readonly SummaryRow[],
  format: ExportShape,
): Record<string, number> {
  const count = sum(all.filter((part) => isWritten(part, format))) - sum(written);
  return count > 0 ? { limit: count } : {};
}

const DAY_MS = 86_400_000;

const startOfDay = (at: Date) => new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);

const sum = (parts: readonly SummaryRow[]) => parts.reduce((total, { count }) => total + count, 0);

function digestOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
