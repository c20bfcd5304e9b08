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

/** Rows that one transaction writes: the revision is held for well under 200 ms. */
const BATCH = 2_000;

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

/**
 * Imports one file, in batches; each is a transaction. A file that cannot be read to its end keeps what was read
 * whole before that point, and says where.
 * @throws when the database fails: the batch under way is not kept
 */
export async function importFile(
  db: Db,
  importer: Importer,
  input: ImportInput,
  options: ImportOptions,
): Promise<Interruption | null> {
  const overlay: Overlay = new Map();
  let waiting: RelationshipRecord[] = [];
  let batch = newBatch();
  const flush = async () => {
    const full = batch;
    batch = newBatch();
    await importBatch(db, full, options, overlay);
    // The ends may come in a later batch; what stays unknown at the end of the file is told then.
    if (!options.dryRun)
      waiting.push(...(await importRelationships(db, options.source, full.relationships, options.tally)));
  };
  let interruption: Interruption | null = null;
  try {
    for await (const record of importer.read(input)) {
      sort(record, batch, options.tally);
      if (batch.size >= BATCH) await flush();
    }
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    interruption = { fileName: input.fileName, message: error.message };
  }
  await flush();
  for (let i = 0; i < waiting.length; i += BATCH) {
    const unknown = await importRelationships(db, options.source, waiting.slice(i, i + BATCH), options.tally);
    for (const { type, from, to } of unknown) {
      options.tally.reject('relationship', 'an end is not known', `${from} ${type} ${to}`);
    }
  }
  waiting = [];
  return interruption;
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
