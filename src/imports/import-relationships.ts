import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Db } from '../db/database.ts';
import { readRevision } from '../db/revision/revision.ts';
import { type EntityRef, resolveExternalIds } from '../entities/resolution/external-ids.queries.ts';
import {
  deleteRelationships,
  loadRelationships,
  type Relationship,
  relationshipKey,
  writeRelationships,
} from '../entities/resolution/relationships.queries.ts';
import type { RelationshipRecord } from '../importers/importer.ts';
import { compareTlp, mostRestrictive } from '../model/statement.ts';
import type { EntityKind, RelationshipType, Tlp } from '../model/vocabulary.ts';
import type { Source } from '../sources/store/sources.queries.ts';
import { recordRelationshipChanges } from './changes.queries.ts';
import { type ImportContext, writePlanned } from './import-context.ts';

/** The kinds of objects that a relationship may join (STIX 2.1 appendix B, as far as the API returns them). */
const ALLOWED_ENDS: Record<RelationshipType, { from: readonly EntityKind[]; to: readonly EntityKind[] }> = {
  indicates: { from: ['indicator', 'attribute'], to: ['actor', 'campaign', 'software', 'technique'] },
  'attributed-to': { from: ['campaign'], to: ['actor'] },
  uses: { from: ['actor', 'campaign', 'software'], to: ['technique', 'software'] },
  'refers-to': {
    from: ['report', 'attribute'],
    to: ['indicator', 'actor', 'campaign', 'technique', 'software', 'report', 'attribute'],
  },
};

const NOT_KEPT = 'a relationship between unsupported kinds of objects';

interface StatedRelationship extends Relationship {
  record: RelationshipRecord;
}

interface Plan {
  /** The revision that the plan is based on. */
  revision: number;
  writes: Map<string, Relationship>;
  /** Those that the source has withdrawn. */
  deletes: Map<string, Relationship>;
  /** `rejected`: a withdrawal of what the source has not stated. */
  outcomes: ('new' | 'updated' | 'unchanged' | 'rejected')[];
  /** Ids of the objects at the ends. */
  objectIds: string[];
}

/** The number of relationships whose ends are resolved together. */
const RESOLVE_BATCH = 1_000;
/** The number of pairs of objects that are written together. */
const WRITE_BATCH = 5_000;
/**
 * The maximum number of pairs that one relationship may join: an end stands for every observable of a pattern, and the
 * pairs are the product of both ends. The largest relationship in real bundles has some tens.
 */
const MAX_PAIRS = 1_000;
const TOO_MANY = `its ends stand for more than ${MAX_PAIRS} pairs of objects`;

/**
 * Imports relationships whose ends are both stored, up to the TLP ceiling. Withdrawals must not be among others: an import carries them
 * out at its end, so that the order of its records has no influence.
 * @returns the records with an end that is above the ceiling or not stored (yet)
 */
export async function importRelationships(
  context: ImportContext,
  records: readonly RelationshipRecord[],
): Promise<RelationshipRecord[]> {
  const { db, source, counts, tlpCeiling } = context;
  const waiting: RelationshipRecord[] = [];
  let pairs: StatedRelationship[] = [];
  const write = async () => {
    await writePairs(context, pairs);
    pairs = [];
  };
  for (let at = 0; at < records.length; at += RESOLVE_BATCH) {
    const group = records.slice(at, at + RESOLVE_BATCH);
    const ids = group.flatMap(({ from, to }) => [from, to]);
    const ends = await resolveExternalIds(db, ids, tlpCeiling, MAX_PAIRS + 1);
    for (const record of group) {
      const [from, to] = [ends.get(record.from), ends.get(record.to)];
      if (!from || !to) {
        waiting.push(record);
        continue;
      }
      const isTooMany = from.length * to.length > MAX_PAIRS;
      const joins = isTooMany ? [] : pairsOf(record, from, to, source);
      if (joins.length === 0) {
        const reason = isTooMany ? TOO_MANY : NOT_KEPT;
        counts.reject('relationship', reason, whereOf(record));
      }
      pairs.push(...joins);
      if (pairs.length >= WRITE_BATCH) await write();
    }
  }
  await write();
  return waiting;
}

/**
 * Keeps which relationships with ids an import states: a withdrawal of one must not withdraw another that joins the same objects, as
 * stored relationships have no ids.
 */
export function createStatedIds() {
  /** Digests of the ids by digests of the ends; NaN: of several ids. */
  const ids = new Map<number, number>();
  return {
    add(record: RelationshipRecord): void {
      if (record.id === undefined) return;
      const [ends, id] = [digestOf(whereOf(record)), digestOf(record.id)];
      ids.set(ends, (ids.get(ends) ?? id) === id ? id : Number.NaN);
    },
    /** Returns whether a relationship with another id joins the same objects. */
    hasAnother(record: RelationshipRecord): boolean {
      const id = ids.get(digestOf(whereOf(record)));
      return id !== undefined && id !== digestOf(record.id ?? '');
    },
  };
}

/** Returns 52 bits of a digest, which a Map keeps in less memory than the text. */
const digestOf = (text: string) => Number.parseInt(hash('sha256', text, 'hex').slice(0, 13), 16);

/** Rejects a relationship with an end that is not known, or a withdrawal that is not carried out. */
export function rejectDangling({ counts }: ImportContext, record: RelationshipRecord): void {
  counts.reject('relationship', record.withdrawn ?? 'an end is not known', whereOf(record));
}

const whereOf = ({ from, type, to }: RelationshipRecord) => `${from} ${type} ${to}`;

async function writePairs(context: ImportContext, pairs: readonly StatedRelationship[]): Promise<void> {
  if (pairs.length === 0) return;
  const plan = await writePlanned(
    context,
    (db) => planRelationships(db, pairs, context.tlpCeiling),
    changesAnything,
    async (trx, planned, revision, keeper) => {
      const { writes, deletes, outcomes } = planned;
      const stated = pairs.filter((_, n) => outcomes[n] !== 'rejected');
      await recordRelationshipChanges(trx, keeper, [...writes.values(), ...deletes.values()], stated);
      if (!changesAnything(planned)) return;
      await deleteRelationships(trx, context.source.id, [...deletes.values()]);
      await writeRelationships(trx, [...writes.values()], revision.next);
      revision.advance();
    },
  );
  for (const [n, outcome] of plan.outcomes.entries()) {
    const record = pairs[n]?.record;
    if (outcome !== 'rejected') context.counts.count('relationship', outcome);
    else if (record) context.counts.reject('relationship', record.withdrawn ?? '', whereOf(record));
  }
}

const changesAnything = ({ writes, deletes }: Plan) => writes.size + deletes.size > 0;

function pairsOf(
  record: RelationshipRecord,
  from: readonly EntityRef[],
  to: readonly EntityRef[],
  source: Source,
): StatedRelationship[] {
  const allowed = ALLOWED_ENDS[record.type];
  return from.flatMap((near) =>
    to
      .filter(
        (far) => allowed.from.includes(near.kind) && allowed.to.includes(far.kind) && near.id !== far.id,
      )
      .map((far) => ({
        fromId: near.id,
        toId: far.id,
        type: record.type,
        fromKind: near.kind,
        toKind: far.kind,
        tlp: record.tlp ?? source.defaults.tlp,
        sourceId: source.id,
        record,
      })),
  );
}

/** Plans the writes; a stored relationship above the ceiling counts as new. */
async function planRelationships(
  db: Db,
  wanted: readonly StatedRelationship[],
  tlpCeiling: Tlp,
): Promise<Plan> {
  // The revision is read before the rows: after a commit in between, the batch is planned again.
  const plan: Plan = {
    revision: await readRevision(db),
    writes: new Map(),
    deletes: new Map(),
    outcomes: [],
    objectIds: wanted.flatMap(({ fromId, toId }) => [fromId, toId]),
  };
  const known = await loadRelationships(db, wanted);
  for (const { record, ...stated } of wanted) {
    const key = relationshipKey(stated);
    const before = known.get(key);
    const isSeen = before !== undefined && compareTlp(before.tlp, tlpCeiling) <= 0;
    if (record.withdrawn !== undefined) {
      plan.outcomes.push(isSeen ? 'updated' : 'rejected');
      if (!isSeen) continue;
      known.delete(key);
      plan.deletes.set(key, before);
      continue;
    }
    // The TLP of a source's relationship never becomes less restrictive.
    const after = before ? { ...before, tlp: mostRestrictive([before.tlp, stated.tlp]) } : stated;
    if (before?.tlp === after.tlp) {
      plan.outcomes.push(isSeen ? 'unchanged' : 'new');
      continue;
    }
    known.set(key, after);
    plan.writes.set(key, after);
    plan.outcomes.push(isSeen ? 'updated' : 'new');
  }
  return plan;
}

/** The maximum number of relationships in memory; more of them go to a temporary file, one line of JSON each. */
const MAX_IN_MEMORY = 50_000;

/** Relationships with an end that is not stored yet. Their number is not limited. */
export interface PendingRelationships {
  add(records: readonly RelationshipRecord[]): Promise<void>;
  /** Yields all relationships, in groups of at most `size`. */
  groups(size: number): AsyncGenerator<RelationshipRecord[]>;
  close(): Promise<void>;
}

export function createPendingRelationships(): PendingRelationships {
  let held: RelationshipRecord[] = [];
  let directory: string | null = null;
  const file = () => join(directory ?? '', 'relationships');
  return {
    async add(records) {
      held = held.concat(records);
      if (held.length <= MAX_IN_MEMORY) return;
      directory ??= await mkdtemp(join(tmpdir(), 'tipline-'));
      await appendFile(file(), held.map((record) => `${JSON.stringify(record)}\n`).join(''));
      held = [];
    },
    async *groups(size) {
      let group: RelationshipRecord[] = [];
      for await (const record of all()) {
        group.push(record);
        if (group.length < size) continue;
        yield group;
        group = [];
      }
      if (group.length > 0) yield group;
    },
    async close() {
      if (directory) await rm(directory, { recursive: true, force: true });
    },
  };

  async function* all(): AsyncGenerator<RelationshipRecord> {
    if (directory) {
      for await (const line of createInterface({ input: createReadStream(file()) })) {
        yield JSON.parse(line) as RelationshipRecord;
      }
    }
    yield* held;
  }
}
