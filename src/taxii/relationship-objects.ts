import { LRUCache } from 'lru-cache';
import type { Db } from '../db/database.ts';
import { findChangesBetween, findLastChange } from '../db/revision/change-dates.ts';
import { readRevision } from '../db/revision/revision.ts';
import type { RevisionWatch } from '../db/revision/watch.ts';
import { indicatorObjectId, type StixObject } from '../formats/stix/common.ts';
import { type End, indication, relationship } from '../formats/stix/entities.ts';
import { compareTlp } from '../model/statement.ts';
import type { RelationshipType, Tlp } from '../model/vocabulary.ts';
import {
  anyOfTypes,
  anyVersion,
  type Chunk,
  collect,
  type DatedObject,
  dated,
  grouped,
  NONE,
  type Wanted,
} from './dated-object.ts';
import { type EntityState, findEntityStates, type Lifetime } from './entities.queries.ts';
import { stixIdOf } from './entity-objects.ts';
import type { Match } from './match.ts';
import { openMissingIds } from './missing-ids.ts';
import type { Held, Places, Rows } from './objects.queries.ts';
import {
  findIndicatorEnds,
  findLinkStates,
  findPairChanges,
  type IndicatorEnd,
  type LinkState,
  type Pair,
  type PairChange,
} from './relationships.queries.ts';

const TYPE = 'relationship';
const MAX_KNOWN = 10_000;
/** Changes that are read at once: not few, as some of them may be hidden from the reader. */
const MIN_CHUNK = 500;
const MAX_CHUNK = 5_000;

/** Of the dates of a change, the first ones are those of ends; two ends may be linked in two ways. */
const MAX_ENDS = 2;

/** What the relationships that a reader can see depend on. */
type Scope = Pick<Rows, 'principal' | 'entityKinds'>;

/** Finds the relationships of a collection. */
export interface Relationships {
  /** Whether no relationship needs to be compared to find the id, if a reader can see it. */
  isKnown(rows: Scope, id: string): boolean;
  find(db: Db, rows: Rows, wanted: Wanted): Promise<DatedObject[]>;
}

/**
 * The id of a relationship is a hash of its ends, which no index has: for one that is not known, all are compared. The ends of an id
 * never change. For one that names nothing, only later changes are compared again.
 */
export function openRelationships(revisions: Pick<RevisionWatch, 'isFresh' | 'epoch'>): Relationships {
  const known = new LRUCache<string, Pair>({ max: MAX_KNOWN });
  const missing = openMissingIds(revisions);
  const scopeOf = ({ principal, entityKinds }: Scope) => JSON.stringify([principal.tlpCeiling, entityKinds]);

  /** Finds relationships of which some are not known, by comparing all changes in the places. */
  async function search(db: Db, rows: Rows, wanted: Wanted, ids: readonly string[]): Promise<DatedObject[]> {
    const { places, held } = wanted;
    const [scope, epoch] = [scopeOf(rows), missing.epoch()];
    const unknown = new Set(ids.filter((id) => !known.has(id)));
    const onFound = (id: string, pair: Pair) => unknown.delete(id) && known.set(id, pair);
    const missingUpTo = held === null && unknown.size === ids.length ? missing.missingUpTo(scope, ids) : null;
    const from = missingUpTo === null ? 0 : (await findLastChange(db, missingUpTo)) + 1;
    // Each id once is all that there is.
    const most = Math.min(wanted.most, ids.length);
    const narrowed = { ...wanted, places: { ...places, from: Math.max(places.from, from) }, most };
    const found = await relationships(db, rows, narrowed, null, onFound);
    const isWhole = held === null && places.from <= from && places.upTo === null && found.length < most;
    if (isWhole) missing.remember(scope, [...unknown], await readRevision(db), epoch);
    return found;
  }

  return {
    isKnown: (rows, id) => known.has(id) || missing.isMissing(scopeOf(rows), id),
    async find(db, rows, wanted) {
      const { match, entityKinds } = rows;
      if (entityKinds.length === 0 || !anyOfTypes(match, [TYPE])) return [];
      const places = await placesOf(db, match, wanted.places);
      if (places === null) return [];
      const inPlaces = { ...wanted, places };
      const ids = match.id?.filter((id) => id.startsWith(`${TYPE}--`));
      if (ids === undefined) return relationships(db, rows, inPlaces, null);
      if (ids.length === 0) return [];
      const pairs = ids.flatMap((id) => known.get(id) ?? []);
      if (pairs.length === ids.length) return relationships(db, rows, inPlaces, pairs);
      return search(db, rows, inPlaces, ids);
    },
  };
}

/** Narrows a range to the changes of the wanted versions; null: there are none. */
async function placesOf(db: Db, match: Match, places: Places): Promise<Places | null> {
  if (anyVersion(match)) return places;
  const times = (match.version ?? []).map((version) => Date.parse(version));
  const changes = await findChangesBetween(db, Math.min(...times), Math.max(...times));
  return (
    changes && {
      from: Math.max(places.from, changes.from),
      upTo: Math.min(places.upTo ?? changes.upTo, changes.upTo),
    }
  );
}

/** Returns the objects of changes in the places, in order: of those that a client cannot have ends of, hidden ones are not read. */
async function relationships(
  db: Db,
  rows: Rows,
  wanted: Wanted,
  among: readonly Pair[] | null,
  onFound?: (id: string, pair: Pair) => void,
): Promise<DatedObject[]> {
  const { held, places, most } = wanted;
  if (held === null) return objectsOfChanges(db, rows, wanted, among, onFound);
  // A relationship that was hidden after a revision has a later number than the changes up to that revision.
  const last = await findLastChange(db, Math.min(held.since, held.base?.[0] ?? held.since));
  const before = { from: places.from, upTo: Math.min(places.upTo ?? last, last) };
  const after = { from: Math.max(places.from, last + 1), upTo: places.upTo };
  const first = await objectsOfChanges(db, rows, { ...wanted, places: before, held: null }, among, onFound);
  if (first.length >= most) return first;
  const rest = { ...wanted, places: after, most: most - first.length };
  return [...first, ...(await objectsOfChanges(db, rows, rest, among, onFound))];
}

async function objectsOfChanges(
  db: Db,
  rows: Rows,
  wanted: Wanted,
  among: readonly Pair[] | null,
  onFound?: (id: string, pair: Pair) => void,
): Promise<DatedObject[]> {
  const { principal } = rows;
  const { held } = wanted;
  const size = onFound ? MAX_CHUNK : Math.min(Math.max(wanted.most, MIN_CHUNK), MAX_CHUNK);
  const read = async (places: Places): Promise<Chunk> => {
    const changes = await findPairChanges(db, principal, among, places, held !== null, size);
    const last = changes.at(-1);
    if (!last) return NONE;
    const ends = await findEnds(db, rows, changes, held);
    const ended = held ? await endedLinks(db, rows, changes, held) : new Map<string, LinkState[]>();
    const objects = changes.flatMap((change) => {
      const shown =
        change.place === change.visiblePlace ? currentObjects(change, ends) : new Map<string, StixObject>();
      const gone =
        held && change.place === change.lastPlace
          ? endedObjects(change, ends, ended.get(keyOf(change)) ?? [], held)
          : [];
      const all = [...dated(change.date, gone), ...dated(change.date + MAX_ENDS, [...shown.values()])];
      if (onFound) for (const { object } of all) onFound(object.id, pairOf(change));
      return all;
    });
    return { objects, next: changes.length === size ? last.place + 1 : null };
  };
  return collect(wanted, read);
}

const keyOf = ({ fromId, toId }: Pair) => `${fromId} ${toId}`;
const pairOf = ({ fromId, fromKind, toId }: Pair): Pair => ({ fromId, fromKind, toId });

/** The visible states of the ends of relationships, by id. */
type Ends = ReadonlyMap<string, readonly (IndicatorEnd | EntityState)[]>;

async function findEnds(
  db: Db,
  { principal, entityKinds }: Rows,
  pairs: readonly Pair[],
  held: Held | null,
): Promise<Ends> {
  const ids = [...new Set(pairs.flatMap(({ fromId, toId }) => [fromId, toId]))];
  if (ids.length === 0) return new Map();
  const indicators = await findIndicatorEnds(db, principal, ids, held);
  const entities = await findEntityStates(db, { principal, kinds: entityKinds, ids }, held, false);
  return grouped([...indicators, ...entities], ({ id }) => id);
}

async function endedLinks(db: Db, { principal }: Rows, changes: readonly PairChange[], held: Held) {
  const pairs = [...new Map(changes.map((change) => [keyOf(change), pairOf(change)])).values()];
  return grouped(await findLinkStates(db, principal, pairs, held), keyOf);
}

/** Returns the objects of the visible relationships of a pair, by id. */
function currentObjects({ fromId, toId, links, modified }: PairChange, ends: Ends): Map<string, StixObject> {
  const isCurrent = ({ toRevision }: Lifetime) => toRevision === null;
  const [from, to] = [ends.get(fromId)?.find(isCurrent), ends.get(toId)?.find(isCurrent)];
  const objects = new Map<string, StixObject>();
  if (!from || !to) return objects;
  // Two types may become the same; as with statements of one type, the least restrictive marking applies.
  const typed = Object.entries(links) as [RelationshipType, Tlp][];
  for (const [type, tlp] of typed.sort(([, a], [, b]) => compareTlp(a, b))) {
    const object = objectOf(from, type, to, tlp, modified);
    if (object !== null && !objects.has(object.id)) objects.set(object.id, object);
  }
  return objects;
}

/** Returns the ends of relationships that a client may have and that are not visible any more, or have another id. */
function endedObjects(change: PairChange, ends: Ends, links: readonly LinkState[], held: Held): StixObject[] {
  const current = currentObjects(change, ends);
  const found: { object: StixObject; until: number }[] = [];
  for (const link of links)
    for (const from of ends.get(change.fromId) ?? [])
      for (const to of ends.get(change.toId) ?? []) {
        const until = heldUntil([link, from, to], held);
        if (until === null) continue;
        const object = objectOf(from, link.type, to, link.tlp, change.modified);
        if (object !== null && !current.has(object.id)) found.push({ object, until });
      }
  found.sort((a, b) => b.until - a.until);
  const objects = new Map<string, StixObject>();
  for (const { object } of found)
    if (!objects.has(object.id)) objects.set(object.id, { ...object, revoked: true });
  return [...objects.values()].slice(0, MAX_ENDS);
}

/** Returns the revision that ended states that were in force together while a client may have got the object; null: they were not. */
function heldUntil(states: readonly Lifetime[], { base, since }: Held): number | null {
  const from = Math.max(...states.map(({ fromRevision }) => fromRevision));
  const to = Math.min(...states.map(({ toRevision }) => toRevision ?? Number.POSITIVE_INFINITY));
  const isHeld = to > since || (base !== null && from <= base[1] && to >= base[0]);
  return from < to && isHeld ? to : null;
}

/** @param modified in milliseconds since 1970 */
function objectOf(
  from: IndicatorEnd | EntityState,
  type: RelationshipType,
  to: IndicatorEnd | EntityState,
  tlp: Tlp,
  modified: number,
): StixObject | null {
  const modifiedAt = new Date(modified);
  const [source, target] = [endOf(from, modifiedAt), endOf(to, modifiedAt)];
  if (from.kind === 'indicator') return type === 'indicates' ? indication(source, target, tlp) : null;
  return type === 'attributed-to' || type === 'uses' ? relationship(source, type, target, tlp) : null;
}

const endOf = (state: IndicatorEnd | EntityState, modifiedAt: Date): End => ({
  id: state.kind === 'indicator' ? indicatorObjectId(state) : stixIdOf(state),
  tlp: state.tlp,
  createdAt: state.createdAt,
  modifiedAt,
});
