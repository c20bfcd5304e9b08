import type { Db } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import { type ContextKind, readEntities } from '../exports/export-context.queries.ts';
import type { ExportEntity } from '../formats/format.ts';
import { entityUuid, parseStixId, type StixObject } from '../formats/stix/common.ts';
import { entityIds, entityObject, isOfAttack } from '../formats/stix/entities.ts';
import {
  anyOfTypes,
  type Chunk,
  collect,
  type DatedObject,
  dated,
  grouped,
  NONE,
  type Wanted,
} from './dated-object.ts';
import {
  type EntityChange,
  type EntityState,
  findEntityChanges,
  findEntityStates,
  findForeignIds,
} from './entities.queries.ts';
import type { Places, Rows } from './objects.queries.ts';

/** The STIX types of each kind of entity. */
const TYPES: Record<ContextKind, readonly string[]> = {
  actor: ['intrusion-set', 'threat-actor'],
  campaign: ['campaign'],
  technique: ['attack-pattern'],
  software: ['malware', 'tool'],
};

/** Changes that are read at once, with descriptions. */
const CHUNK = 500;

/** Of the dates of a change, the first ones are those of ends. */
const MAX_ENDS = 3;

/** Returns the objects of actors, campaigns, techniques and software, and the ends of those that are hidden, deleted or have another id. */
export async function entityObjects(
  db: Db,
  { principal, entityKinds, match }: Rows,
  wanted: Wanted,
): Promise<DatedObject[]> {
  const kinds = entityKinds.filter((kind) => anyOfTypes(match, TYPES[kind]));
  const ids = match.id ? await idsOf(db, principal, kinds, match.id) : null;
  if (kinds.length === 0 || ids?.length === 0) return [];
  const size = Math.min(wanted.most, CHUNK);
  const read = async (places: Places): Promise<Chunk> => {
    const asked = { principal, kinds, ids };
    const changes = await findEntityChanges(db, asked, places, wanted.held !== null, size);
    const last = changes.at(-1);
    if (!last) return NONE;
    const changed = changes.map(({ id }) => id);
    const entities = new Map(
      (await readEntities(db, principal, changed)).map((entity) => [entity.id, entity]),
    );
    const states = await findEntityStates(db, { principal, kinds, ids: changed }, wanted.held, true);
    const byId = grouped(states, ({ id }) => id);
    return {
      objects: changes.flatMap((change) => objectsOf(change, entities.get(change.id), byId.get(change.id))),
      next: changes.length === size ? last.place + 1 : null,
    };
  };
  return collect(wanted, read);
}

/** Returns the entities whose objects may have these STIX ids. */
async function idsOf(
  db: Db,
  principal: Principal,
  kinds: readonly ContextKind[],
  stixIds: readonly string[],
): Promise<string[]> {
  const types = kinds.flatMap((kind) => TYPES[kind]);
  const uuids = stixIds.flatMap((id) => {
    const parsed = parseStixId(id);
    return parsed !== null && types.includes(parsed.type) ? [parsed.uuid] : [];
  });
  if (uuids.length === 0) return [];
  const foreign = await findForeignIds(db, { principal, kinds });
  const wanted = new Set(uuids);
  return [...uuids, ...foreign.filter((id) => wanted.has(entityUuid(id)))];
}

/**
 * @param entity as it is visible now
 * @param states of it now, and earlier ones that a client may have got
 */
function objectsOf(
  { date, modifiedAt }: EntityChange,
  entity: ExportEntity | undefined,
  states: readonly EntityState[] = [],
): DatedObject[] {
  const current = states.find(({ toRevision }) => toRevision === null);
  const object = entity && current ? objectOf(entity, stixIdOf(current), entity.modifiedAt) : null;
  const ends = new Map<string, StixObject>();
  const earlier = states.filter(({ toRevision }) => toRevision !== null);
  for (const state of earlier.sort((a, b) => (b.toRevision ?? 0) - (a.toRevision ?? 0))) {
    // Later than any version of that id.
    const endedAt = new Date(Math.max(Number(modifiedAt), Number(state.modifiedAt) + 1));
    const end = objectOf(state, stixIdOf(state), endedAt);
    if (end !== null && end.id !== object?.id && !ends.has(end.id))
      ends.set(end.id, { ...end, revoked: true });
  }
  return [
    ...dated(date, [...ends.values()].slice(0, MAX_ENDS)),
    ...(object === null ? [] : dated(date + MAX_ENDS, [object])),
  ];
}

/** Returns the STIX id of an entity. */
export const stixIdOf = (state: EntityState): string => entityIds([state]).get(state.id) ?? '';

/**
 * Returns the object of an entity; null: MITRE publishes it. Under the id of another producer it has Tipline's times too: an end
 * and an object that follows it must be later versions.
 */
function objectOf(entity: ExportEntity, id: string, modifiedAt: Date): StixObject | null {
  if (isOfAttack(entity, id)) return null;
  const times = { created: entity.createdAt.toISOString(), modified: modifiedAt.toISOString() };
  return { ...entityObject(entity, id), ...times };
}
