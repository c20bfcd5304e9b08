import type { Db } from '../../db/open.ts';
import {
  type Importer,
  type ImportInput,
  type ImportRecord,
  type IndicatorRecord,
  type RelationshipRecord,
  UnreadableInput,
} from '../../importers/importer.ts';
import type { EntityRecord } from './entity-kinds.ts';
import { importEntities } from './import-entities.ts';
import { importIndicators, type Overlay, rehearseIndicators } from './import-indicators.ts';
import { importRelationships } from './import-relationships.ts';
import type { Source } from './sources.queries.ts';
import type { Tally } from './tally.ts';

/** A batch is as large as is written in about this time: others wait for the revision no longer. */
const BATCH_MS = 150;
const FIRST_BATCH = 500;
const BATCH_BOUNDS = { least: 100, most: 5_000 };

export interface ImportOptions {
  source: Source;
  now: Date;
  /** Tells what would happen and writes nothing. Relationships are not counted then. */
  dryRun: boolean;
  tally: Tally;
}

/** What stopped an import; everything before it was kept. */
export interface Interruption {
  fileName: string;
  message: string;
}

interface Batch {
  indicators: IndicatorRecord[];
  entities: Map<EntityRecord['kind'], EntityRecord[]>;
  relationships: RelationshipRecord[];
  size: number;
}

export interface ImportFile {
  importer: Importer;
  input: ImportInput;
}

/**
 * Imports files, in batches; each is a transaction. A file that cannot be read to its end keeps what was read
 * whole before that point, and says where. A relationship may stand before its ends, also in another file.
 * @returns what could not be read to its end
 * @throws when the database fails: the batch under way is not kept
 */
export async function importFiles(
  db: Db,
  files: Iterable<ImportFile> | AsyncIterable<ImportFile>,
  options: ImportOptions,
): Promise<Interruption[]> {
  const interruptions: Interruption[] = [];
  const waiting: RelationshipRecord[] = [];
  const overlay: Overlay = new Map();
  for await (const { importer, input } of files) {
    const write = batchWriter(db, options, overlay, waiting);
    try {
      for await (const record of importer.read(input)) await write.add(record);
    } catch (error) {
      if (!(error instanceof UnreadableInput) && !isFileError(error)) throw error;
      interruptions.push({ fileName: input.fileName, message: error.message });
    }
    await write.flush();
  }
  await joinWaiting(db, waiting, options);
  return interruptions;
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  const code = String((error as NodeJS.ErrnoException).code);
  return error instanceof Error && ['ENOENT', 'EACCES', 'EISDIR', 'EIO'].includes(code);
}

function batchWriter(db: Db, options: ImportOptions, overlay: Overlay, waiting: RelationshipRecord[]) {
  let batch = newBatch();
  let limit = FIRST_BATCH;
  async function flush(): Promise<void> {
    const full = batch;
    batch = newBatch();
    const start = performance.now();
    await importBatch(db, full, options, overlay);
    if (!options.dryRun) {
      waiting.push(...(await importRelationships(db, options.source, full.relationships, options.tally)));
    }
    limit = nextLimit(full.size, performance.now() - start);
  }
  return {
    async add(record: ImportRecord): Promise<void> {
      sort(record, batch, options.tally);
      if (batch.size >= limit) await flush();
    },
    flush,
  };
}

/** Joins what waited for its ends; what still has an unknown one is rejected. */
async function joinWaiting(
  db: Db,
  waiting: readonly RelationshipRecord[],
  { source, tally }: ImportOptions,
): Promise<void> {
  for (let i = 0; i < waiting.length; i += BATCH_BOUNDS.most) {
    const some = waiting.slice(i, i + BATCH_BOUNDS.most);
    for (const { type, from, to } of await importRelationships(db, source, some, tally)) {
      tally.reject('relationship', 'an end is not known', `${from} ${type} ${to}`);
    }
  }
}

/** From how long the last batch took. */
function nextLimit(size: number, ms: number): number {
  const fitting = Math.round((size * BATCH_MS) / Math.max(1, ms));
  return Math.min(BATCH_BOUNDS.most, Math.max(BATCH_BOUNDS.least, fitting));
}

function newBatch(): Batch {
  return { indicators: [], entities: new Map(), relationships: [], size: 0 };
}

function sort(record: ImportRecord, batch: Batch, tally: Tally): void {
  if (record.kind === 'rejected') return tally.reject(record.of, record.reason, record.where);
  batch.size++;
  if (record.kind === 'indicator') batch.indicators.push(record);
  else if (record.kind === 'relationship') batch.relationships.push(record);
  else {
    const records = batch.entities.get(record.kind) ?? [];
    records.push(record);
    batch.entities.set(record.kind, records);
  }
}

async function importBatch(db: Db, batch: Batch, options: ImportOptions, overlay: Overlay): Promise<void> {
  const { source, now, dryRun, tally } = options;
  for (const [kind, records] of batch.entities)
    await importEntities(db, source, kind, records, now, tally, dryRun);
  if (batch.indicators.length === 0) return;
  if (dryRun) await rehearseIndicators(db, source, batch.indicators, now, tally, overlay);
  else await importIndicators(db, source, batch.indicators, now, tally);
}
