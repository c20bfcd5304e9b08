import type { Db } from '../../db/open.ts';
import { readRevision } from '../../db/revision.ts';
import { uuidv5 } from '../../model/identity.ts';
import { slugOf } from '../../model/slug.ts';
import { compareTlp } from '../../model/statement.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import { loadShown } from './entities.queries.ts';
import { ENTITY_RULES, type EntityKindRules, type EntityRecord, type EntityState } from './entity-kinds.ts';
import { loadNeighbourhood, loadObjects } from './entity-neighbourhood.ts';
import { type EntityStatement, uuidIn } from './entity-statement.ts';
import type { ExternalIdWrite } from './external-ids.queries.ts';
import { groupObjects } from './group-objects.ts';
import { mergeEntities, sameEntity } from './merge-entities.ts';
import { regroup } from './regroup-entities.ts';
import type { EndMove } from './relationship-ends.queries.ts';
import { showEntity } from './show-entity.ts';
import type { Source } from './sources.queries.ts';

/** For objects whose external ids hold no UUID. */
const ENTITY_NAMESPACE = 'b4c1d3a8-6e0f-4f0e-8d5b-0a6c0b7e2f19';

type Outcome = 'new' | 'updated' | 'unchanged';

/** What a batch of one kind would change. */
export interface EntityPlan {
  /** The revision up to which it was worked out. */
  revision: number;
  statements: EntityStatement[];
  shown: EntityState[];
  externalIds: ExternalIdWrite[];
  /** Entities that keep no other ids elsewhere than those in `externalIds`. */
  regrouped: string[];
  moves: EndMove[];
  /** Entities that are no more, each with the one that takes its place. */
  successors: Map<string, string>;
  outcomes: Outcome[];
}

/** @param seesUpTo the outcomes tell of what is known above it as of what is not there */
export async function planEntities(
  db: Db,
  source: Source,
  kind: EntityRecord['kind'],
  records: readonly EntityRecord[],
  now: Date,
  seesUpTo: Tlp,
): Promise<EntityPlan> {
  const rules = ENTITY_RULES[kind];
  // The revision is read before the rows: rows read later can only be newer, and then it is planned again.
  const revision = await readRevision(db);
  const stated = records.map((record) => ({ record, said: stateOf(record, rules, source) }));
  const before = await loadObjects(db, rules, [...new Set(stated.map(({ said }) => said.id))]);
  const after = new Map(before);
  const changes = stated.map(({ record, said }) => withRecord(after, record, said, source, now));
  const changed = [...new Set(changes.filter((id) => id !== null))];
  const isSeen = ({ entityId, state }: EntityStatement) =>
    entityId !== null && compareTlp(state.tlp, seesUpTo) <= 0;
  const same = stated.map(({ said }) => (before.get(said.id)?.some(isSeen) ? 'unchanged' : 'new'));
  if (changed.length === 0) return unchanged(revision, same);
  const { objects, dead } = await loadNeighbourhood(db, rules, changed, before, after);
  const entityOf = groupObjects(objects, rules, dead);
  const { touched, successors, moves } = regroup(objects, entityOf);
  const changedIds = new Set(changed);
  const isChanged = ({ objectId, entityId }: EntityStatement) =>
    changedIds.has(objectId) || entityId !== entityOf.get(objectId);
  const all = [...objects.values()].flat();
  for (const statement of all) if (isChanged(statement)) touched.add(entityOf.get(statement.objectId) ?? '');
  const statements = all
    .filter(isChanged)
    .map((statement) => ({ ...statement, entityId: entityOf.get(statement.objectId) ?? null }));
  const outcomeOf = outcomes(
    [...objects.keys()].filter((id) => (before.get(id) ?? objects.get(id))?.some(isSeen)),
    entityOf,
  );
  const shown = await changedRows(db, rules, all, entityOf, touched);
  return {
    revision,
    statements,
    shown,
    externalIds: all
      .filter(({ objectId }) => touched.has(entityOf.get(objectId) ?? ''))
      .flatMap(({ objectId, externalIds }) =>
        externalIds.map((externalId) => ({ externalId, id: entityOf.get(objectId) ?? '', kind })),
      ),
    regrouped: moves.length === 0 ? [] : [...touched],
    moves,
    successors,
    outcomes: changes.map((id, i) => (id === null ? (same[i] ?? 'new') : outcomeOf(id))),
  };
}

function unchanged(revision: number, outcomes: Outcome[]): EntityPlan {
  const nothing = { statements: [], shown: [], externalIds: [], regrouped: [], moves: [] };
  return { revision, ...nothing, successors: new Map(), outcomes };
}

/** Adds what a record says to what is known. @returns the id of the object that it changed, or null */
function withRecord(
  objects: Map<string, EntityStatement[]>,
  record: EntityRecord,
  said: EntityState,
  source: Source,
  now: Date,
): string | null {
  const known = objects.get(said.id) ?? [];
  const own = known.find(({ state }) => state.sourceId === source.id);
  const state = mergeEntities(own?.state ?? said, said);
  const externalIds = [...new Set([...(own?.externalIds ?? []), ...record.externalIds])].sort();
  if (own && sameEntity(own.state, state) && externalIds.length === own.externalIds.length) return null;
  const statement: EntityStatement = {
    objectId: said.id,
    entityId: known[0]?.entityId ?? null,
    sourceName: source.name,
    externalIds,
    heardAt: own?.heardAt ?? now,
    state,
  };
  objects.set(said.id, [...known.filter((other) => other !== own), statement]);
  return said.id;
}

async function changedRows(
  db: Db,
  rules: EntityKindRules,
  statements: readonly EntityStatement[],
  entityOf: ReadonlyMap<string, string>,
  touched: ReadonlySet<string>,
): Promise<EntityState[]> {
  const byEntity = new Map<string, EntityStatement[]>();
  for (const statement of statements) {
    const id = entityOf.get(statement.objectId) ?? '';
    if (touched.has(id)) byEntity.set(id, [...(byEntity.get(id) ?? []), statement]);
  }
  const stored = await loadShown(db, rules, [...byEntity.keys()]);
  return [...byEntity]
    .map(([id, said]) => showEntity(id, said, rules))
    .filter((state) => {
      const row = stored.get(state.id);
      return !row || !sameEntity(row, state);
    });
}

/** Of records that make one new entity together the first is new, and the others say more of it. */
function outcomes(knownObjects: readonly string[], entityOf: ReadonlyMap<string, string>) {
  const known = new Set(knownObjects.map((id) => entityOf.get(id)));
  return (id: string): Outcome => {
    const entity = entityOf.get(id);
    if (known.has(entity)) return 'updated';
    known.add(entity);
    return 'new';
  };
}

function stateOf(record: EntityRecord, rules: EntityKindRules, source: Source): EntityState {
  const name = slugOf(rules.name(record));
  const [first = `${rules.table}--${name}`] = record.externalIds;
  // An object that has a UUID keeps it: ATT&CK's ids are what others know its groups by.
  const own = record.externalIds.map(uuidIn).find((uuid) => uuid !== undefined);
  return {
    id: own ?? uuidv5(`${rules.table}:${first}`, ENTITY_NAMESPACE),
    sourceId: source.id,
    statedAt: record.statedAt,
    tlp: record.tlp ?? source.defaults.tlp,
    confidence: record.confidence ?? source.defaults.confidence,
    columns: rules.columnsOf(record),
  };
}
