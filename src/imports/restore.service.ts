import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import { keysetPages } from '../db/expressions.ts';
import { withRevision } from '../db/revision/revision.ts';
import { refreshStatistics } from '../db/statistics.ts';
import type { Tables } from '../db/tables.ts';
import { ENTITY_RULES, type EntityRecord } from '../entities/resolution/entity-kinds.ts';
import { restoreRelationships } from '../entities/resolution/relationships.queries.ts';
import { countMatches } from '../indicators/read/summaries.queries.ts';
import type { EntityKind } from '../model/vocabulary.ts';
import { currentMatcher } from '../whitelist/current-matcher.ts';
import type { ChangedObject, ChangedRelationship } from './changes.queries.ts';
import { planRestoredEntities, writeRestoredEntities } from './restore-entities.ts';
import { planRestoredIndicators, writeRestoredIndicators } from './restore-indicators.ts';

/** The earlier statements that are to replace the current statements of a source. */
export interface Restoration {
  source: { id: string; name: string };
  /**
   * Finds objects of a kind after an id, and reads at most `most`. `last`: the id of the last object read; undefined:
   * there are no more.
   */
  find(db: Db, kind: EntityKind, after: string, most: number): Promise<FoundObjects>;
  /** Finds the same objects, and removes them: no later call finds them. */
  take(trx: Transaction<Tables>, kind: EntityKind, after: string, most: number): Promise<FoundObjects>;
  countRelationships(db: Db): Promise<{ changed: number; gone: number; restated: number }>;
  /** `any`: false when there are no more. */
  takeRelationships(
    trx: Transaction<Tables>,
    most: number,
  ): Promise<{ changes: ChangedRelationship[]; any: boolean }>;
}

interface FoundObjects {
  changes: ChangedObject[];
  last: string | undefined;
  /** Objects that stay unchanged: a later import has restated them. */
  restated: number;
}

/** Counts of the objects of one kind. */
export interface RestoredKind {
  /** Objects whose earlier statement is restored, or whose statement is deleted. */
  restored: number;
  /** Those of them that no source states any more; they are hidden. */
  withdrawn: number;
  /** Objects that stay unchanged: a later import of the same source has restated them. */
  restated: number;
}

export interface RestorePreview {
  kinds: Partial<Record<EntityKind | 'relationship', RestoredKind>>;
  /** The total number of visible indicators, before and after. */
  shown: { before: number; after: number };
}

/** Indicators or relationships per transaction: written in well under the 200 ms that the revision may be locked. */
const BATCH = 500;
/** Objects per transaction of other kinds: fewer, because all objects that they may be merged with are planned too. */
const ENTITY_BATCH = 100;
const KINDS = Object.keys(ENTITY_RULES) as EntityRecord['kind'][];

/** Returns the changes that a restoration would make now. */
export async function previewRestoration(db: Db, wanted: Restoration, now: Date): Promise<RestorePreview> {
  const preview: Pick<RestorePreview, 'kinds'> = { kinds: {} };
  let difference = 0;
  const { changed, gone, restated } = await wanted.countRelationships(db);
  note(preview, 'relationship', { restored: changed, withdrawn: gone, restated });
  for (const kind of KINDS) {
    const all: ChangedObject[] = [];
    let again = 0;
    for await (const page of pages(db, wanted, kind)) {
      all.push(...page.changes);
      again += page.restated;
    }
    const { withdrawn } = await planRestoredEntities(db, wanted.source, kind, all);
    note(preview, kind, { restored: all.length, withdrawn: withdrawn.length, restated: again });
  }
  for await (const { changes, restated: again } of pages(db, wanted, 'indicator')) {
    const { withdrawn, shown } = await planRestoredIndicators(db, wanted.source.id, changes, now);
    note(preview, 'indicator', {
      restored: changes.length,
      withdrawn: withdrawn.length,
      restated: again,
    });
    difference += shown.after - shown.before;
  }
  const { rows } = await countMatches({ tlpCeiling: 'RED', now }, {}).execute(db);
  const before = rows[0]?.total ?? 0;
  return { ...preview, shown: { before, after: before + difference } };
}

function note(
  { kinds }: Pick<RestorePreview, 'kinds'>,
  kind: EntityKind | 'relationship',
  counts: RestoredKind,
): void {
  if (counts.restored + counts.restated === 0) return;
  const sum = kinds[kind] ?? { restored: 0, withdrawn: 0, restated: 0 };
  kinds[kind] = {
    restored: sum.restored + counts.restored,
    withdrawn: sum.withdrawn + counts.withdrawn,
    restated: sum.restated + counts.restated,
  };
}

function pages(db: Db, wanted: Restoration, kind: EntityKind): AsyncGenerator<FoundObjects> {
  return keysetPages(
    (after) => wanted.find(db, kind, after, BATCH),
    ({ last }) => last,
  );
}

export interface RestoreOptions {
  now(): Date;
  /** Called between batches; after a stop, the next call continues from there. */
  stopped?: () => boolean;
  /** @param done the number of objects and relationships so far */
  onProgress?: (done: number) => void;
}

/**
 * Carries out a restoration in batches, each under its own revision. Relationships come first, because they refer to
 * entities.
 * @returns false: it was stopped before its end
 */
export async function restore(db: Db, wanted: Restoration, carryOut: RestoreOptions): Promise<boolean> {
  const { stopped = () => false, onProgress = () => {} } = carryOut;
  let done = 0;
  const noteDone = (count: number) => {
    done += count;
    onProgress(done);
  };
  for (let any = true; any; ) {
    if (stopped()) return false;
    const taken = await restoreSomeRelationships(db, wanted);
    any = taken.any;
    noteDone(taken.count);
  }
  for (const kind of [...KINDS, 'indicator'] as const) {
    // The walk repeats until it finds nothing: the undo of another import at the same time may add changes of objects
    // before the current position.
    for (let found = true; found; ) {
      if (stopped()) return false;
      found = false;
      const batches = keysetPages(
        (after) => restoreBatch(db, wanted, kind, after, carryOut.now()),
        ({ last }) => last,
      );
      for await (const { count } of batches) {
        noteDone(count);
        found = true;
        if (stopped()) return false;
      }
    }
  }
  if (done > 0) await refreshStatistics(db);
  return true;
}

async function restoreSomeRelationships(
  db: Db,
  wanted: Restoration,
): Promise<{ any: boolean; count: number }> {
  return withRevision(db, async (trx, revision) => {
    const { changes, any } = await wanted.takeRelationships(trx, BATCH);
    if (changes.length === 0) return { any, count: 0 };
    await restoreRelationships(trx, wanted.source.id, changes, revision.next);
    revision.advance();
    return { any, count: changes.length };
  });
}

async function restoreBatch(
  db: Db,
  wanted: Restoration,
  kind: EntityKind,
  after: string,
  now: Date,
): Promise<{ last: string | undefined; count: number }> {
  // Fills the cache of the matcher before the revision is locked.
  await currentMatcher(db);
  return withRevision(db, async (trx, revision) => {
    const most = kind === 'indicator' ? BATCH : ENTITY_BATCH;
    const { changes, last } = await wanted.take(trx, kind, after, most);
    if (changes.length === 0) return { last, count: 0 };
    if (kind === 'indicator') {
      const plan = await planRestoredIndicators(trx, wanted.source.id, changes, now);
      await writeRestoredIndicators(trx, wanted.source.id, plan, revision, now);
    } else {
      const plan = await planRestoredEntities(trx, wanted.source, kind, changes);
      await writeRestoredEntities(trx, wanted.source.id, kind, plan, revision.next, now);
    }
    revision.advance();
    return { last, count: changes.length };
  });
}
