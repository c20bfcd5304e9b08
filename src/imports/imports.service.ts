import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../db/database.ts';
import { type PendingListCleaner, pendingListCleaner } from '../db/pending-lists.ts';
import { hasActiveReaders, hasOneConnection } from '../db/readers.ts';
import { knownIndicators, updateStatistics } from '../db/statistics.ts';
import type { EntityRecord } from '../entities/resolution/entity-kinds.ts';
import {
  type EpssRecord,
  type Importer,
  type ImportInput,
  type ImportRecord,
  type IndicatorRecord,
  type RelationshipRecord,
  UnreadableInput,
} from '../importers/importer.ts';
import { isBlock, prefixLength } from '../model/address-ranges.ts';
import { compareTlp } from '../model/statement.ts';
import { traced } from '../tracing/tracing.ts';
import { createDryRun, type DryRun } from './dry-run.ts';
import type { ImportContext, ImportCounts, WidestNetworks } from './import-context.ts';
import { createOwnCommits, type LeaseHolder, NO_LEASE } from './import-context.ts';
import { importEntities } from './import-entities.ts';
import { type IndicatorPlan, importIndicators, planIndicators } from './import-indicators.ts';
import {
  createPendingRelationships,
  createStatedIds,
  importRelationships,
  type PendingRelationships,
  rejectDangling,
} from './import-relationships.ts';
import { importScores } from './import-scores.ts';

/** The target duration of a batch: other writers wait for the revision that long. */
const BATCH_MS = 500;
/** The target duration on the embedded database while it may be read: readers wait for the connection. */
const BATCH_MS_ON_ONE_CONNECTION = 50;
/** The target duration while requests are served, which compete for the same processors. */
const BATCH_MS_BESIDE_READERS = 40;
const FIRST_BATCH = 500;
/** The minimum number of changed records for an update of the statistics: fewer do not matter to the planner. */
const FIRST_STATISTICS = 1_000;
/** The share of changed rows at which autovacuum analyzes a table (autovacuum_analyze_scale_factor). */
const AUTOVACUUM_SHARE = 0.1;
const BATCH_BOUNDS = { least: 100, most: 5_000 };

export interface ImportOptions extends Omit<ImportContext, 'db' | 'writer' | 'commits' | 'lastBatch'> {
  /** Default: the import may always write, and stores no undo data. */
  writer?: LeaseHolder;
  /** No readers are served by this embedded database during this import: its batches are as large as on PostgreSQL, and it defers indexes. */
  exclusive?: boolean;
  /** Ends the import between batches. */
  signal?: AbortSignal;
  /** For what a dry run stores until its end; default: the directory for temporary files. */
  directory?: string;
  /** Default: the readers that the database reports. */
  readers?: Readers;
}

/** The requests that take precedence over an import. */
interface Readers {
  areServed(): Promise<boolean>;
  /** Pauses the import, so that requests get the processors. */
  yieldToReaders(ms: number): Promise<unknown>;
}

/** The problem that ended the reading of a file; the records before it are imported. */
export interface Interruption {
  fileName: string;
  message: string;
}

interface Batch {
  indicators: IndicatorRecord[];
  entities: Map<EntityRecord['kind'], EntityRecord[]>;
  relationships: RelationshipRecord[];
  /** Relationships that the source has withdrawn. */
  withdrawals: RelationshipRecord[];
  scores: EpssRecord[];
  size: number;
}

export interface ImportFile {
  importer: Pick<Importer, 'name' | 'read'>;
  input: ImportInput;
}

/**
 * Imports files in batches; each batch is a transaction. Of a file that cannot be read to its end, the records before
 * that point are imported. A relationship may precede its ends, also in another file.
 * @param files an `Interruption` stands for a file that cannot be read at all
 * @returns the files that could not be read to their end
 * @throws when the database fails, the signal is aborted or the lease is lost: the current batch is not written
 */
export async function importFiles(
  db: Db,
  files: Iterable<ImportFile> | AsyncIterable<ImportFile | Interruption>,
  options: ImportOptions,
): Promise<Interruption[]> {
  const { source, counts, dryRun } = options;
  const attributes = { 'tipline.source': source.name, 'tipline.dry_run': dryRun };
  return traced(
    () => ({ name: 'import', attributes }),
    async (span) => {
      const interruptions = await importAll(db, files, options);
      for (const [kind, { reasons: _, ...numbers }] of counts.kinds)
        for (const [outcome, count] of Object.entries(numbers))
          span.setAttributes({ [`tipline.import.${kind}.${outcome}`]: count });
      return interruptions;
    },
  );
}

async function importAll(
  db: Db,
  files: Iterable<ImportFile> | AsyncIterable<ImportFile | Interruption>,
  options: ImportOptions,
): Promise<Interruption[]> {
  const interruptions: Interruption[] = [];
  const oneConnection = await hasOneConnection(db);
  const readersWait = oneConnection && !options.exclusive;
  const context: ImportContext = {
    ...options,
    db,
    writer: options.writer ?? NO_LEASE,
    commits: createOwnCommits(),
    lastBatch: { mostAreSame: false, besideReaders: readersWait },
  };
  const waiting = createPendingRelationships();
  const withdrawals = createPendingRelationships();
  const statedIds = createStatedIds();
  const batchMs = readersWait ? BATCH_MS_ON_ONE_CONNECTION : BATCH_MS;
  const statistics = statisticsOf(context, oneConnection);
  const cleaner = pendingListCleaner(db, !context.dryRun && !readersWait);
  const dryRunState = createDryRun(options.source, options.directory ?? tmpdir());
  try {
    for await (const file of files) {
      if (!('importer' in file)) {
        interruptions.push(file);
        continue;
      }
      const { importer, input } = file;
      const parts = {
        batchMs,
        dryRunState,
        waiting,
        withdrawals,
        statedIds,
        statistics,
        cleaner,
        oneConnection,
      };
      const write = batchWriter(context, options, parts);
      try {
        for await (const part of importer.read(input)) {
          // Rejected records fill no batch, at whose end the signal is checked.
          options.signal?.throwIfAborted();
          for (const record of part) if (write.add(record, input.fileName)) await write.flush();
        }
      } catch (error) {
        if (!(error instanceof UnreadableInput)) throw error;
        interruptions.push({ fileName: input.fileName, message: error.message });
      } finally {
        await write.settled();
      }
      await write.end();
    }
    await resolvePending(context, waiting);
    await resolvePending(context, withdrawals, statedIds.hasAnother);
    await cleaner.end();
    await statistics.end();
  } finally {
    // After an error, which is the one to throw.
    await cleaner.end().catch(() => {});
    await waiting.close();
    await withdrawals.close();
    dryRunState.close();
  }
  return interruptions;
}

/**
 * Updates the planner's statistics each time an import has changed as many records as the planner assumes indicators to
 * exist. The embedded database has no autovacuum, and that of PostgreSQL runs once a minute, in which an empty table
 * can grow to tens of thousands of rows.
 */
function statisticsOf({ db, counts, dryRun }: ImportContext, oneConnection: boolean) {
  let before = changedRecords(counts);
  let known: number | undefined;
  const updateAfter = async (share: number) => {
    const changed = changedRecords(counts) - before;
    if (dryRun || changed < FIRST_STATISTICS) return;
    known ??= await knownIndicators(db);
    if (changed < known * share) return;
    await updateStatistics(db, oneConnection);
    before += changed;
    known = undefined;
  };
  return {
    afterBatch: () => updateAfter(1),
    end: () => updateAfter(AUTOVACUUM_SHARE),
  };
}

const writtenIndicators = ({ kinds }: ImportCounts) => {
  const counts = kinds.get('indicator');
  return counts ? counts.new + counts.updated : 0;
};

const changedRecords = ({ kinds }: ImportCounts) =>
  [...kinds.values()].reduce((sum, kind) => sum + kind.new + kind.updated, 0);

interface WriterParts {
  batchMs: number;
  dryRunState: DryRun;
  waiting: PendingRelationships;
  withdrawals: PendingRelationships;
  statedIds: ReturnType<typeof createStatedIds>;
  statistics: ReturnType<typeof statisticsOf>;
  cleaner: PendingListCleaner;
  oneConnection: boolean;
}

/** Returns a writer that writes one batch while the next is read and planned. */
function batchWriter(
  context: ImportContext,
  { signal, readers: given }: Pick<ImportOptions, 'signal' | 'readers'>,
  { batchMs, dryRunState, waiting, withdrawals, statedIds, statistics, cleaner, oneConnection }: WriterParts,
) {
  const { db, dryRun } = context;
  const readers = given ?? { areServed: () => hasActiveReaders(db), yieldToReaders: delay };
  let batch = newBatch();
  let limit = Math.round((FIRST_BATCH * batchMs) / BATCH_MS);
  let writing = Promise.resolve();
  const { lastBatch } = context;
  async function write(full: Batch, early?: Promise<IndicatorPlan>): Promise<void> {
    const start = performance.now();
    await importBatch(context, full, dryRunState, early);
    // A dry run writes no objects, so that the ends of relationships may be missing: it does not count relationships.
    if (!dryRun) {
      full.relationships.forEach(statedIds.add);
      await waiting.add(await importRelationships(context, full.relationships));
      await withdrawals.add(full.withdrawals);
    }
    const ms = performance.now() - start;
    await statistics.afterBatch();
    const besideReaders = !dryRun && (await readers.areServed());
    if (!oneConnection) lastBatch.besideReaders = besideReaders;
    cleaner.written(writtenIndicators(context.counts), besideReaders);
    limit = nextLimit(full.size, ms, besideReaders ? BATCH_MS_BESIDE_READERS : batchMs);
    // The pause is as long as the batch took: readers get half of the time.
    if (besideReaders) await readers.yieldToReaders(Math.min(ms, BATCH_MS));
  }
  const settled = () => Promise.allSettled([writing]);
  /** Plans the indicators of a batch while the batch before it is being written: they depend on no other object. */
  function planEarly({ indicators }: Batch): Promise<IndicatorPlan> | undefined {
    if (indicators.length === 0 || dryRun || oneConnection || lastBatch.besideReaders) return undefined;
    const early = planIndicators(context, indicators, dryRunState);
    // Its error is thrown where the plan is used, unless the batch before it fails.
    early.catch(() => {});
    return early;
  }
  async function flushBatch(): Promise<void> {
    const full = batch;
    batch = newBatch();
    const early = planEarly(full);
    await writing;
    signal?.throwIfAborted();
    writing = write(full, early);
    // The next caller that awaits `writing` receives its error; until then it must not count as unhandled.
    void settled();
  }
  return {
    /** Returns whether the batch is full and must be flushed. */
    add(record: ImportRecord, fileName: string): boolean {
      addToBatch(record, batch, context, fileName);
      return batch.size >= limit;
    },
    flush: flushBatch,
    async end(): Promise<void> {
      if (batch.size > 0) await flushBatch();
      await writing;
    },
    /** Resolves when no batch is being written, whether it succeeded or failed. */
    settled,
  };
}

/**
 * Imports pending relationships; those with an end that is still missing are rejected.
 * @param isRejected rejects others, too
 */
async function resolvePending(
  context: ImportContext,
  waiting: PendingRelationships,
  isRejected: (record: RelationshipRecord) => boolean = () => false,
): Promise<void> {
  for await (const group of waiting.groups(BATCH_BOUNDS.most)) {
    const wanted = group.filter((record) => !isRejected(record));
    const dangling = await importRelationships(context, wanted);
    for (const record of [...group.filter(isRejected), ...dangling]) rejectDangling(context, record);
  }
}

/** Returns the size of the next batch from the duration of the last one and the target duration. */
function nextLimit(size: number, ms: number, wantedMs: number): number {
  const fitting = Math.round((size * wantedMs) / Math.max(1, ms));
  return Math.min(BATCH_BOUNDS.most, Math.max(BATCH_BOUNDS.least, fitting));
}

function newBatch(): Batch {
  return { indicators: [], entities: new Map(), relationships: [], withdrawals: [], scores: [], size: 0 };
}

function addToBatch(
  record: ImportRecord,
  batch: Batch,
  { counts, source, tlpCeiling, widest }: ImportContext,
  fileName: string,
): void {
  if (record.kind === 'rejected') {
    counts.reject(record.of, record.reason, `${fileName}, ${record.where}`);
    return;
  }
  if (record.kind === 'score') {
    batch.size++;
    batch.scores.push(record);
    return;
  }
  // A record above the ceiling would hide the object from the importer, and from others who see it now. The rejection
  // does not contain its value.
  if (compareTlp(record.tlp ?? source.defaults.tlp, tlpCeiling) > 0) {
    counts.reject(record.kind, 'marked above the TLP ceiling of the role', fileName);
    return;
  }
  const tooWide = record.kind === 'indicator' ? widthProblem(record, widest) : null;
  if (tooWide !== null) {
    counts.reject('indicator', tooWide, fileName);
    return;
  }
  batch.size++;
  if (record.kind === 'indicator') batch.indicators.push(record);
  else if (record.kind === 'relationship')
    (record.withdrawn === undefined ? batch.relationships : batch.withdrawals).push(record);
  else {
    const records = batch.entities.get(record.kind) ?? [];
    records.push(record);
    batch.entities.set(record.kind, records);
  }
}

/** Returns why a network is rejected; null: it is accepted, or the value is none. */
function widthProblem(
  { type, value, widestOfRange }: IndicatorRecord,
  widest: WidestNetworks,
): string | null {
  if (type !== 'IPV4' && type !== 'IPV6') return null;
  // Of a range that is too wide, the rest at its ends is as much a mistake.
  if (widestOfRange !== undefined && widestOfRange < widest[type])
    return `a range wider than /${widest[type]}`;
  return isBlock(value) && prefixLength(value) < widest[type]
    ? `a network wider than /${widest[type]}`
    : null;
}

async function importBatch(
  context: ImportContext,
  batch: Batch,
  dryRunState: DryRun,
  early?: Promise<IndicatorPlan>,
): Promise<void> {
  for (const [kind, records] of batch.entities) await importEntities(context, kind, records);
  if (batch.indicators.length > 0) await importIndicators(context, batch.indicators, dryRunState, early);
  if (batch.scores.length > 0) await importScores(context, batch.scores);
}
