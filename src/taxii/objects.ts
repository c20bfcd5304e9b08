import type { Db } from '../db/database.ts';
import { type ExtentChange, findChangePlace, firstChangeAfter } from '../db/revision/change-dates.ts';
import { readEpoch, readRevision } from '../db/revision/revision.ts';
import {
  markingOf,
  parseStixId,
  type StixObject,
  TIPLINE_EXTENSION_DEFINITION,
  TIPLINE_IDENTITY,
} from '../formats/stix/common.ts';
import { indicatorObjects } from '../formats/stix/indicators.ts';
import { observableTypes } from '../formats/stix/observed-data.ts';
import { ApiError } from '../http/errors.ts';
import { compareTlp } from '../model/statement.ts';
import { INDICATOR_TYPES, TLPS, type Tlp } from '../model/vocabulary.ts';
import { anyOfTypes, anyVersion, type DatedObject, dated, type Wanted, wants } from './dated-object.ts';
import { endOf } from './ended-objects.ts';
import { entityObjects } from './entity-objects.ts';
import { findEndedStates, findRows, type Held, type Rows } from './objects.queries.ts';
import type { Observables } from './observables.ts';
import type { Relationships } from './relationship-objects.ts';

/** The place that a client has reached in a collection. */
export interface Reached {
  /** The time of the last object that it got, in microseconds since 1970; null: it has nothing. */
  after: number | null;
  /** null: this is the first page. */
  held: Held | null;
}

export interface Page {
  objects: DatedObject[];
  hasMore: boolean;
  held: Held;
}

export interface Asked extends Rows {
  reached: Reached;
  limit: number;
  /** Whether ends of objects that the client may have are given. */
  withEnds: boolean;
}

export interface ObjectSource {
  /** One snapshot. */
  db: Db;
  observables: Observables;
  relationships: Relationships;
}

/** The first object of a change of an indicator is the end of what it was. A hidden one has no others, and may have two ends. */
const NEW_OBJECTS = 1;
const MAX_ENDS = 2;

/**
 * Returns the next objects of a collection in the order in which they were added (TAXII 2.1 §3.4), from one snapshot. Every
 * object that is visible comes once after its last change; of what was visible before and is not any more, or has become another
 * object, an end comes to clients that may have it.
 * @throws {ApiError} 410 for a later page of a history that a restore has replaced
 */
export async function nextObjects(
  { db, observables, relationships }: ObjectSource,
  { reached: { after: stated, held: given }, limit, withEnds, ...rows }: Asked,
): Promise<Page> {
  const history = await readEpoch(db);
  if (given && given.history !== history)
    throw new ApiError('gone', 'The store has been restored since: begin without next and added_after.');
  const place = stated === null ? null : await findChangePlace(db, stated);
  // The client may have objects of a history that is lost, and nobody can say which: it gets everything.
  const [after, start] = place?.isLost && !given ? [null, null] : [stated, place];
  const from = start && after !== null ? firstChangeAfter(rows.extentChange, after, start) : 0;
  // Of a time before the first change, the client has nothing either.
  const base: Held['base'] = start && start.modified > 0 ? [start.revision, start.modified] : null;
  const held = given ?? { base, since: await readRevision(db), history };
  const [isOf, ids] = [wants(rows.match), await indicatorIds(db, observables, rows)];
  const isWanted = (object: DatedObject) => object.date > (after ?? Number.NEGATIVE_INFINITY) && isOf(object);
  const among = ids === undefined ? rows : { ...rows, match: { ...rows.match, id: ids } };
  // An end is a version of its own.
  const mayHold = withEnds && (held.base !== null || given !== null) && anyVersion(rows.match);
  // The objects of the first change may all have been given, and one more than the page holds says that there are more. An indicator
  // with a wanted id may have no object that is wanted, so that all of these are read.
  const most = Math.max(limit, MAX_ENDS * (ids?.length ?? 0)) + MAX_ENDS + 1;
  const ended = mayHold ? await findEndedStates(db, among, held, from, most) : [];
  // Many hidden rows may lie before the next visible one: those that the page cannot have are not looked for.
  const upToEnd = ended.length < most ? null : (ended.at(-1)?.place ?? null);
  const found = await findRows(db, among, { from, upTo: upToEnd }, most);
  const upTo = found.length < most ? upToEnd : (found.at(-1)?.place ?? null);
  const wanted: Wanted = { places: { from, upTo }, held: mayHold ? held : null, isWanted, most };
  const objects = [
    ...[
      ...constantsOf(rows.extentChange).filter(
        ({ tlp }) => tlp === null || compareTlp(tlp, rows.principal.tlpCeiling) <= 0,
      ),
      ...ended.map((state) => ({ date: state.date, object: endOf(state) })),
      ...found.flatMap(({ date, row }) => dated(date + NEW_OBJECTS, indicatorObjects(row))),
    ].filter(isWanted),
    ...(await entityObjects(db, rows, wanted)),
    ...(await relationships.find(db, rows, wanted)),
  ].sort((a, b) => a.date - b.date);
  return { objects: objects.slice(0, limit), hasMore: objects.length > limit, held };
}

/** The objects of every collection: the same for all, so they have the time of their last version, but where the extent has changed since. */
const constantsOf = (extent: ExtentChange | null) =>
  extent === null ? CONSTANTS : CONSTANTS.map((one, place) => ({ ...one, date: extent.date + place }));

const CONSTANTS: readonly (DatedObject & { tlp: Tlp | null })[] = [
  ...TLPS.map((tlp) => ({ object: markingOf(tlp) as StixObject, tlp })),
  ...[TIPLINE_IDENTITY, TIPLINE_EXTENSION_DEFINITION].map((object) => ({ object, tlp: null })),
].map(({ object, tlp }, place) => ({ object, tlp, date: timeOf(object) * 1_000 + place }));

/** Returns when an object was last modified, in milliseconds since 1970. */
function timeOf({ modified, created }: StixObject): number {
  return Date.parse(String(modified ?? created));
}

/** Whether a request names objects that are found only by comparing all of their kind. */
export function comparesAll(
  { observables, relationships }: Omit<ObjectSource, 'db'>,
  rows: Pick<Rows, 'principal' | 'entityKinds' | 'match'>,
): boolean {
  const { principal, entityKinds, match } = rows;
  const { id: ids = [] } = match;
  const hasRelationships = entityKinds.length > 0 && anyOfTypes(match, ['relationship']);
  return (
    observableIds(ids).some((id) => !observables.isKnown(principal, id)) ||
    (hasRelationships &&
      ids.some((id) => id.startsWith('relationship--') && !relationships.isKnown(rows, id)))
  );
}

/** Returns those of the ids that are ids of observables. */
function observableIds(ids: readonly string[]): string[] {
  return ids
    .flatMap((id) => parseStixId(id) ?? [])
    .filter(({ type }) => OBSERVABLE_TYPES.has(type))
    .map(({ type, uuid }) => `${type}--${uuid}`);
}

/** Returns the ids of the indicators whose objects have the wanted ids; undefined: any. */
async function indicatorIds(
  db: Db,
  observables: Observables,
  { match: { id: ids }, principal }: Rows,
): Promise<string[] | undefined> {
  if (ids === undefined) return undefined;
  const own = ids
    .flatMap((id) => parseStixId(id) ?? [])
    .filter(({ type }) => OWN_TYPES.includes(type))
    .map(({ uuid }) => uuid);
  return [...own, ...(await observables.find(db, principal, observableIds(ids)))];
}

const OWN_TYPES = ['indicator', 'observed-data', 'vulnerability'];
const OBSERVABLE_TYPES = new Set(INDICATOR_TYPES.flatMap(observableTypes));
