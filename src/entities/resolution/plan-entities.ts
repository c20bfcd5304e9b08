import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../../db/database.ts';
import { readRevision } from '../../db/revision/revision.ts';
import { uuidv5 } from '../../model/identity.ts';
import { compareTlp } from '../../model/statement.ts';
import { slugOf } from '../../model/text.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import type { Source } from '../../sources/store/sources.queries.ts';
import { loadEntities } from './entities.queries.ts';
import { ENTITY_RULES, type EntityKindRules, type EntityRecord } from './entity-kinds.ts';
import { loadNeighbourhood, loadObjects } from './entity-neighbourhood.ts';
import type { EntityState } from './entity-state.ts';
import { allExternalIds, type EntityStatement, uuidIn } from './entity-statement.ts';
import type { ExternalIdWrite } from './external-ids.queries.ts';
import { groupObjects } from './group-objects.ts';
import { mergeEntities, resolveEntity, sameEntity } from './merge-entities.ts';
import { reassign } from './reassign.ts';
import type { EndMove } from './relationships.queries.ts';

/** Namespace of the ids of objects whose external ids contain no UUID. */
const ENTITY_NAMESPACE = 'b4c1d3a8-6e0f-4f0e-8d5b-0a6c0b7e2f19';

/** `rejected`: a withdrawal of what the source has not stated. */
type Outcome = 'new' | 'updated' | 'unchanged' | 'rejected';

/** The changes to write for one kind. */
export interface EntityChange {
  statements: EntityStatement[];
  resolvedStates: EntityState[];
  externalIds: ExternalIdWrite[];
  /** Entities whose external ids are reduced to those in `externalIds`. */
  prunedEntityIds: string[];
  moves: EndMove[];
  /** Entities that cease to exist, each with its successor. */
  successors: Map<string, string>;
}

/** The changes that a batch of one kind would make. */
export interface EntityPlan extends EntityChange {
  /** The revision that the plan is based on. */
  revision: number;
  outcomes: Outcome[];
  /** Ids of all objects in the batch but those of rejected withdrawals. */
  objectIds: string[];
  /** Ids of the objects whose statements the batch changes. */
  changed: string[];
}

/**
 * Plans the changes that a batch of records of one kind makes.
 * @param tlpCeiling for the outcomes, objects above it count as nonexistent
 */
export async function planEntities(
  db: Db,
  source: Source,
  kind: EntityRecord['kind'],
  records: readonly EntityRecord[],
  now: Date,
  tlpCeiling: Tlp,
): Promise<EntityPlan> {
  const rules = ENTITY_RULES[kind];
  // The revision is read before the rows: rows read later can only be newer, and then it is planned again.
  const revision = await readRevision(db);
  const stated = records.map((record) => ({ record, state: stateOf(record, rules, source) }));
  const before = await loadObjects(db, rules, [...new Set(stated.map(({ state }) => state.id))]);
  const after = new Map(before);
  const isRejected = new Set<number>();
  const changes = stated.map(({ record, state }, n) => {
    if (record.withdrawn === undefined || canWithdraw(after, state, source, tlpCeiling))
      return withRecord(after, record, state, source, now);
    isRejected.add(n);
    return null;
  });
  const changed = [...new Set(changes.filter((id) => id !== null))];
  const isSeen = ({ entityId, state }: EntityStatement) =>
    entityId !== null && compareTlp(state.tlp, tlpCeiling) <= 0;
  const same = stated.map(({ state }) => (before.get(state.id)?.some(isSeen) ? 'unchanged' : 'new'));
  const { objects, entityOf, change } = await planObjects(db, rules, changed, before, after);
  const outcomeOf = outcomes(
    [...objects.keys()].filter((id) => (before.get(id) ?? objects.get(id))?.some(isSeen)),
    entityOf,
  );
  return {
    revision,
    ...change,
    outcomes: changes.map((id, n) => {
      if (isRejected.has(n)) return 'rejected';
      return id === null ? (same[n] ?? 'new') : outcomeOf(id);
    }),
    objectIds: [...new Set(stated.flatMap(({ state }, n) => (isRejected.has(n) ? [] : state.id)))],
    changed,
  };
}

/**
 * Plans the changes that follow from changed statements: how objects are grouped, and the resolved states of
 * their entities.
 * @param changed ids of the objects whose statements changed
 * @param before the stored statements about them and about the others of their entities
 * @param after the same with the changes; empty for an object that has no statements any more
 */
export async function planObjects(
  db: Db,
  rules: EntityKindRules,
  changed: readonly string[],
  before: ReadonlyMap<string, EntityStatement[]>,
  after: ReadonlyMap<string, EntityStatement[]>,
): Promise<{
  objects: ReadonlyMap<string, EntityStatement[]>;
  entityOf: ReadonlyMap<string, string>;
  change: EntityChange;
  /** Entities without any remaining statement. */
  withdrawn: string[];
}> {
  const nothing: EntityChange = {
    statements: [],
    resolvedStates: [],
    externalIds: [],
    prunedEntityIds: [],
    moves: [],
    successors: new Map(),
  };
  if (changed.length === 0)
    return { objects: new Map(), entityOf: new Map(), change: nothing, withdrawn: [] };
  const { objects: neighbours, excludedKeys } = await loadNeighbourhood(db, rules, changed, before, after);
  const objects = new Map([...neighbours].filter(([, statements]) => statements.length > 0));
  const entityOf = groupObjects(objects, rules, excludedKeys);
  const { touched, successors, moves } = reassign(objects, entityOf);
  const changedIds = new Set(changed);
  const isChanged = ({ objectId, entityId }: EntityStatement) =>
    changedIds.has(objectId) || entityId !== entityOf.get(objectId);
  const all = [...objects.values()].flat();
  for (const statement of all) if (isChanged(statement)) touched.add(entityOf.get(statement.objectId) ?? '');
  const inUse = new Set(entityOf.values());
  const withdrawn = new Set<string>();
  for (const id of changed) {
    const entityId = before.get(id)?.[0]?.entityId ?? null;
    if (entityId === null) continue;
    if (inUse.has(entityId)) touched.add(entityId);
    else if (!successors.has(entityId)) withdrawn.add(entityId);
  }
  const losesIds = changed.some((id) => {
    const remaining = new Set(after.get(id)?.flatMap(allExternalIds));
    return before
      .get(id)
      ?.flatMap(allExternalIds)
      .some((externalId) => !remaining.has(externalId));
  });
  const change: EntityChange = {
    statements: all
      .filter(isChanged)
      .map((statement) => ({ ...statement, entityId: entityOf.get(statement.objectId) ?? null })),
    resolvedStates: await changedRows(db, rules, all, entityOf, touched),
    externalIds: all
      .filter(({ objectId }) => touched.has(entityOf.get(objectId) ?? ''))
      .flatMap((statement) =>
        allExternalIds(statement).map((externalId) => ({
          externalId,
          id: entityOf.get(statement.objectId) ?? '',
          kind: rules.table,
        })),
      ),
    prunedEntityIds: moves.length === 0 && !losesIds ? [] : [...touched, ...withdrawn],
    moves,
    successors,
  };
  return { objects, entityOf, change, withdrawn: [...withdrawn] };
}

/** Returns whether a source has stated the object, up to the TLP ceiling; a withdrawal without a date could be that of an older version. */
function canWithdraw(
  objects: ReadonlyMap<string, EntityStatement[]>,
  { id, statedAt }: EntityState,
  source: Source,
  tlpCeiling: Tlp,
): boolean {
  const own = objects.get(id)?.find(({ state }) => state.sourceId === source.id);
  return own !== undefined && statedAt !== null && compareTlp(own.state.tlp, tlpCeiling) <= 0;
}

/** Adds the statement of a record to the objects. @returns the id of the object that it changed, or null */
function withRecord(
  objects: Map<string, EntityStatement[]>,
  record: EntityRecord,
  stated: EntityState,
  source: Source,
  now: Date,
): string | null {
  const known = objects.get(stated.id) ?? [];
  const own = known.find(({ state }) => state.sourceId === source.id);
  const said = { state: stated, externalIds: record.externalIds };
  const { state, externalIds } = mergeEntities(own ?? said, said);
  if (own && sameEntity(own.state, state) && isDeepStrictEqual(own.externalIds, externalIds)) return null;
  const statement: EntityStatement = {
    objectId: stated.id,
    entityId: known[0]?.entityId ?? null,
    sourceName: source.name,
    externalIds,
    firstImportedAt: own?.firstImportedAt ?? now,
    state,
  };
  objects.set(stated.id, [...known.filter((other) => other !== own), statement]);
  return stated.id;
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
  const stored = await loadEntities(db, rules, [...byEntity.keys()]);
  return [...byEntity]
    .map(([id, stated]) => resolveEntity(id, stated, rules))
    .filter((state) => {
      const row = stored.get(state.id);
      return !row || !sameEntity(row, state);
    });
}

/** Of several records that form one new entity the first counts as new, the others as updates of it. */
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
  // An object that has a UUID keeps it: others refer to ATT&CK's groups by these ids.
  const own = record.externalIds.map(uuidIn).find((uuid) => uuid !== undefined);
  return {
    id: own ?? uuidv5(`${rules.table}:${first}`, ENTITY_NAMESPACE),
    sourceId: source.id,
    statedAt: record.statedAt,
    tlp: record.tlp ?? source.defaults.tlp,
    confidence: record.confidence ?? source.defaults.confidence,
    columns: { ...rules.columnsOf(record), ...(record.withdrawn !== undefined && { withdrawn: true }) },
  };
}
