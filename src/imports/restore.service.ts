import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import { commitRevision, lockRevision } from '../db/revision/revision.ts';
import type { Tables } from '../db/tables.ts';
import { ENTITY_RULES, type EntityRecord } from '../entities/resolution/entity-kinds.ts';
import { restoreRelationships } from '../entities/resolution/relationships.queries.ts';
import { countedFrom } from '../indicators/read/summaries.queries.ts';
import type { EntityKind } from '../model/vocabulary.ts';
import { currentMatcher } from '../whitelist/current-matcher.ts';
import type { ChangedObject, ChangedRelationship } from './changes.queries.ts';
import { planRestoredEntities, writeRestoredEntities } from './restore-entities.ts';
import { planRestoredIndicators, writeRestoredIndicators } from './restore-indicators.ts';

/** What a source is to say again instead of what it says now. */
export interface Restoration {
  source: { id: string; name: string };
  /** The next objects of a kind after an id, at most `most`; `last`: the id up to which they are, if there were any. */
  find(db: Db, kind: EntityKind, after: string, most: number): Promise<FoundObjects>;
  /** The same, and they are found no more. */
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
  /** Left as they are: a later import has said them again. */
  restated: number;
}

/** What becomes of the objects of one kind. */
interface RestoredKind {
  /** Said as before, or no more. */
  restored: number;
  /** Of those: no source says them any more; they are hidden. */
  withdrawn: number;
  /** Left as they are: a later import of the same source has said them again. */
  restated: number;
}

export interface RestorePreview {
  kinds: Partial<Record<EntityKind | 'relationship', RestoredKind>>;
  /** How many indicators are given out in all, now and then. */
  shown: { before: number; after: number };
}

/** Written in well under the 200 ms for which the revision may be held. */
const BATCH = 500;
/** Objects that hang together are looked at with each of them. */
const ENTITY_BATCH = 100;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
const KINDS = Object.keys(ENTITY_RULES) as EntityRecord['kind'][];

/** What a restoration would change, as things are now. */
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
  const { rows } = await countedFrom({ tlpCeiling: 'RED', now }, {}).execute(db);
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

async function* pages(db: Db, wanted: Restoration, kind: EntityKind): AsyncGenerator<FoundObjects> {
  for (let after: string | undefined = BEFORE_ALL; after !== undefined; ) {
    const page: FoundObjects = await wanted.find(db, kind, after, BATCH);
    yield page;
    after = page.last;
  }
}

export interface CarryOut {
  now(): Date;
  /** Asked between batches; the next call goes on from there. */
  stopped?: () => boolean;
  /** @param done objects and relationships so far */
  onProgress?: (done: number) => void;
}

/**
 * Carries a restoration out in batches, each under its own revision: relationships first, which stand at the entities.
 * @returns false: it was stopped before its end
 */
export async function restore(db: Db, wanted: Restoration, carryOut: CarryOut): Promise<boolean> {
  const { stopped = () => false, onProgress = () => {} } = carryOut;
  let done = 0;
  const noteDone = (count: number) => {
    done += count;
    onProgress(done);
  };
  for (let any = true; any && !stopped(); ) {
    const taken = await restoreSomeRelationships(db, wanted);
    any = taken.any;
    noteDone(taken.count);
  }
  for (const kind of [...KINDS, 'indicator'] as const) {
    // To an empty walk: another that is undone may have passed something on to what was walked through already.
    for (let found = true; found; ) {
      found = false;
      for (let after: string | undefined = BEFORE_ALL; after !== undefined; ) {
        if (stopped()) return false;
        const batch: { last: string | undefined; count: number } = await restoreSome(
          db,
          wanted,
          kind,
          after,
          carryOut.now(),
        );
        noteDone(batch.count);
        after = batch.last;
        found ||= after !== undefined;
      }
    }
  }
  return !stopped();
}

async function restoreSomeRelationships(
  db: Db,
  wanted: Restoration,
): Promise<{ any: boolean; count: number }> {
  return db.transaction().execute(async (trx) => {
    const lock = await lockRevision(trx);
    const { changes, any } = await wanted.takeRelationships(trx, BATCH);
    if (changes.length === 0) return { any, count: 0 };
    await restoreRelationships(trx, wanted.source.id, changes, lock.next);
    await commitRevision(trx, lock);
    return { any, count: changes.length };
  });
}

async function restoreSome(
  db: Db,
  wanted: Restoration,
  kind: EntityKind,
  after: string,
  now: Date,
): Promise<{ last: string | undefined; count: number }> {
  // Read before others wait for the revision.
  await currentMatcher(db);
  return db.transaction().execute(async (trx) => {
    const lock = await lockRevision(trx);
    const most = kind === 'indicator' ? BATCH : ENTITY_BATCH;
    const { changes, last } = await wanted.take(trx, kind, after, most);
    if (changes.length === 0) return { last, count: 0 };
    if (kind === 'indicator') {
      const plan = await planRestoredIndicators(trx, wanted.source.id, changes, now);
      await writeRestoredIndicators(trx, wanted.source.id, plan, lock, now);
    } else {
      const plan = await planRestoredEntities(trx, wanted.source, kind, changes);
      await writeRestoredEntities(trx, wanted.source.id, kind, plan, lock.next, now);
    }
    await commitRevision(trx, lock);
    return { last, count: changes.length };
  });
}
