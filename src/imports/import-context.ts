import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import { type OpenRevision, withRevision } from '../db/revision/revision.ts';
import type { Tables } from '../db/tables.ts';
import type { EntityKind, Tlp } from '../model/vocabulary.ts';
import { forgetLastCopy, type Source } from '../sources/store/sources.queries.ts';
import { expandBatches, hasUndoable, type UndoWriter } from './changes.queries.ts';

/** Everything that the batches of one import share. */
export interface ImportContext {
  db: Db;
  source: Source;
  now: Date;
  counts: ImportCounts;
  /** The import counts what would change, and writes nothing. */
  dryRun: boolean;
  /**
   * The ceiling of the account that imports: records marked above it are rejected, and stored objects above it are
   * counted as new, so that counts do not reveal them.
   */
  tlpCeiling: Tlp;
  widest: WidestNetworks;
  writer: LeaseHolder;
  commits: OwnCommits;
  lastBatch: LastBatch;
}

/** The state after the last batch, by which the next one is planned and written. */
interface LastBatch {
  /** Whether most statements of the last batch of indicators were those that are stored. */
  mostAreSame: boolean;
  /** Whether requests were being served after it. */
  besideReaders: boolean;
}

/** The shortest prefixes of networks that are accepted: a wider one is a mistake that would block half the Internet. */
export interface WidestNetworks {
  readonly IPV4: number;
  readonly IPV6: number;
}

interface Planned {
  /** The revision that the plan is based on. */
  revision: number;
  /** Ids of all objects that the plan depends on and may change. Absent: not determined. */
  objectIds?: readonly string[];
  /** The ids of the records of sources that the plan depends on and may change. Absent: none. */
  recordIds?: readonly string[];
}

/** The latest commits of an import: a plan that was made before them still holds if it is about other objects. */
export interface OwnCommits {
  /** Records a commit and the plan that it wrote. */
  add(commit: { previous: number; revision: number }, written: Planned): void;
  /** Returns whether a plan holds at a revision, the last one before its own commit. */
  holds(plan: Planned, revision: number): boolean;
}

/** A batch is several commits: one for each kind of entity, one of its indicators, and those of its relationships. */
const MAX_COMMITS = 20;

export function createOwnCommits(): OwnCommits {
  /** Each follows the one before it directly. */
  let commits: { previous: number; revision: number; ids: Set<string> }[] = [];
  return {
    add(commit, { objectIds, recordIds = [] }) {
      if (!objectIds || commits.at(-1)?.revision !== commit.previous) commits = [];
      if (objectIds) commits.push({ ...commit, ids: new Set([...objectIds, ...recordIds]) });
      if (commits.length > MAX_COMMITS) commits.shift();
    },
    holds({ revision: planned, objectIds, recordIds = [] }, revision) {
      if (planned === revision) return true;
      const first = commits.findIndex(({ previous }) => previous === planned);
      if (!objectIds || first < 0 || commits.at(-1)?.revision !== revision) return false;
      const since = commits.slice(first);
      const isChanged = (id: string) => since.some(({ ids }) => ids.has(id));
      return !objectIds.some(isChanged) && !recordIds.some(isChanged);
    },
  };
}

/**
 * Plans the changes of a batch without the lock of the revision, then writes them under it. If another writer has
 * committed in between, the batch is planned again under the lock.
 * @param plan reads the revision before the rows
 * @param write must call `advance` if it changes a response
 * @param early a plan that was begun before
 * @returns the plan that was written, or that has nothing to write
 */
export async function writePlanned<Plan extends Planned>(
  { db, source, dryRun, writer, commits }: ImportContext,
  plan: (db: Db) => Promise<Plan>,
  changesAnything: (plan: Plan) => boolean,
  write: (trx: Transaction<Tables>, plan: Plan, revision: OpenRevision, keeper: UndoWriter) => Promise<void>,
  early: Promise<Plan> = plan(db),
): Promise<Plan> {
  let planned = await early;
  if (dryRun) return planned;
  // A repeated statement passes the undo data of an earlier import on, so it is recorded although it changes nothing.
  if (!changesAnything(planned) && !(await hasUndoable(db, source, writer.runId))) return planned;
  // A feed's run deletes undo data. Batches of a large import take seconds to become rows, for which the lock must not be held.
  if (writer.runId === null) await expandBatches(db, source);
  const lock = await withRevision(db, async (trx, revision) => {
    await writer.guard(trx);
    if (!commits.holds(planned, revision.previous)) planned = await plan(trx);
    // A repetition that changes nothing takes no revision: a later change must not have the same one.
    const at = changesAnything(planned) ? revision.next : revision.previous;
    await write(trx, planned, revision, { source, runId: writer.runId, revision: at });
    // With each batch: an import may be killed before its end, or run at the same time as the feed.
    if (writer.runId !== null) await forgetLastCopy(trx, source.id);
    return { previous: revision.previous, revision: at };
  });
  if (lock.revision !== lock.previous) commits.add(lock, planned);
  return planned;
}

export type Counted = EntityKind | 'relationship' | 'score';
type Outcome = 'new' | 'updated' | 'unchanged' | 'rejected';

/** Counts of one kind of object; `read` is the sum of the other four. */
export interface KindCounts {
  read: number;
  new: number;
  updated: number;
  unchanged: number;
  rejected: number;
  /** The number of rejected records by reason. */
  reasons: Record<string, number>;
}

/** The maximum number of distinct reasons: a hostile file must not fill the memory with them. */
const MAX_REASONS = 200;
const FEW_EXAMPLES = 20;

export interface ImportCounts {
  kinds: Map<Counted, KindCounts>;
  /** The first rejections, with their places in the file. */
  examples: { where: string; reason: string }[];
  /** New and updated indicators that the whitelist hides. */
  hidden: number;
  count(kind: Counted, outcome: Exclude<Outcome, 'rejected'>): void;
  reject(kind: Counted, reason: string, where: string): void;
}

/** @param maxExamples the maximum number of rejections that are stored with their places */
export function createCounts(maxExamples = FEW_EXAMPLES): ImportCounts {
  const kinds = new Map<Counted, KindCounts>();
  const of = (kind: Counted): KindCounts => {
    const counts = kinds.get(kind) ?? emptyCounts();
    kinds.set(kind, counts);
    return counts;
  };
  const examples: ImportCounts['examples'] = [];
  return {
    kinds,
    examples,
    hidden: 0,
    count(kind, outcome) {
      const counts = of(kind);
      counts.read++;
      counts[outcome]++;
    },
    reject(kind, reason, where) {
      const counts = of(kind);
      counts.read++;
      counts.rejected++;
      const { reasons } = counts;
      const name = reason in reasons || Object.keys(reasons).length < MAX_REASONS ? reason : 'other reasons';
      reasons[name] = (reasons[name] ?? 0) + 1;
      if (examples.length < maxExamples) examples.push({ where, reason });
    },
  };
}

export function emptyCounts(): KindCounts {
  return { read: 0, new: 0, updated: 0, unchanged: 0, rejected: 0, reasons: Object.create(null) };
}

/** Asserts that an import may write; called in each of its transactions, under the revision lock. @throws if not */
export type AssertLease = (trx: Transaction<Tables>) => Promise<void>;

/** The permission of an import to write, and the run that its undo data belongs to. */
export interface LeaseHolder {
  guard: AssertLease;
  /** The import of files that stores undo data; null: none is stored, as for a feed's run, which cannot be undone. */
  runId: string | null;
}

export const NO_LEASE: LeaseHolder = { guard: async () => {}, runId: null };
