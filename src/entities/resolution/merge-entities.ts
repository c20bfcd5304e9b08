import { isDeepStrictEqual } from 'node:util';
import { compareTlp } from '../../model/statement.ts';
import { TLPS, type Tlp } from '../../model/vocabulary.ts';
import type { EntityKindRules } from './entity-kinds.ts';
import {
  type AudienceState,
  type Columns,
  type EntityState,
  isWithdrawnState,
  namesIn,
  uniteNames,
  withAliases,
} from './entity-state.ts';
import { compareStatements, type EntityStatement, hasOwnUuid, isWithdrawn } from './entity-statement.ts';

/**
 * The maximum number of names of one source and object for one audience, which is that of a record; the first in order are stored. An
 * object with thousands of versions that each have other names must not make its row unbounded.
 */
export const MAX_NAMES = 1_000;

/** A statement of a source as its record states it, or merged from several records. */
export type StatedObject = Pick<EntityStatement, 'state' | 'externalIds'>;

/**
 * Merges two statements of one source about one object. Commutative, associative and idempotent, so that the
 * outcome does not depend on the order of a file: for each audience the latest value of each column is kept
 * (at equal times the greater one), and names and external ids unite. The latest statement (at equal times the most
 * restrictive one) sets the audience of the whole; statements for fewer people than that are not
 * disclosed, nor their external ids.
 */
export function mergeEntities(before: StatedObject, stated: StatedObject): StatedObject {
  const byTlp = new Map<Tlp, AudienceState>();
  for (const part of [...partsOf(before), ...partsOf(stated)]) {
    const own = byTlp.get(part.tlp);
    byTlp.set(part.tlp, own ? mergeParts(own, part) : part);
  }
  const parts = [...byTlp.values()].sort((a, b) => compareTlp(a.tlp, b.tlp));
  const { columns, externalIds, at, confidence, tlp } = visiblePart(parts);
  const state: EntityState = {
    id: before.state.id,
    sourceId: before.state.sourceId,
    statedAt: at === null ? null : new Date(at),
    tlp,
    confidence,
    columns: 'aliases' in columns ? withAliases(columns, columns.aliases as never) : columns,
  };
  const merged = { externalIds, state };
  return isDeepStrictEqual(parts, partsOf(merged)) ? merged : { externalIds, state: { ...state, parts } };
}

/** Returns all names that a source states for its current audience, with who coined them. */
function statedNames(statement: StatedObject) {
  return (visiblePart(partsOf(statement)).columns.aliases ?? []) as ReturnType<typeof namesIn>;
}

export function sameEntity(a: EntityState, b: EntityState): boolean {
  return (
    a.sourceId === b.sourceId &&
    a.tlp === b.tlp &&
    a.confidence === b.confidence &&
    a.statedAt?.getTime() === b.statedAt?.getTime() &&
    isDeepStrictEqual(a.columns, b.columns) &&
    isDeepStrictEqual(a.parts, b.parts)
  );
}

/** Returns whether a value is unstated, so that a later statement or another source may state it. */
function isUnstated(value: Columns[string] | undefined): boolean {
  return (
    value === null ||
    value === undefined ||
    value === 'UNKNOWN' ||
    (Array.isArray(value) && value.length === 0)
  );
}

function partsOf({ state, externalIds }: StatedObject): AudienceState[] {
  const { parts, tlp, statedAt, confidence, columns } = state;
  if (parts) return parts;
  const named =
    'aliases' in columns ? { ...columns, aliases: namesIn(columns).slice(0, MAX_NAMES) } : columns;
  return [
    {
      tlp,
      at: statedAt?.getTime() ?? null,
      confidence,
      externalIds: [...externalIds].sort(),
      columns: named,
      times: {},
    },
  ];
}

/** Merges the parts that are visible to the audience of the latest part. */
function visiblePart(parts: readonly AudienceState[]): AudienceState {
  const { tlp } = parts.reduce((a, b) =>
    (compareTimes(a.at, b.at) || compareTlp(a.tlp, b.tlp)) >= 0 ? a : b,
  );
  return { ...parts.filter((part) => compareTlp(part.tlp, tlp) <= 0).reduce(mergeParts), tlp };
}

function mergeParts(a: AudienceState, b: AudienceState): AudienceState {
  const order = compareTimes(a.at, b.at);
  const at = order >= 0 ? a.at : b.at;
  const columns: Columns = {};
  const times: AudienceState['times'] = {};
  for (const column of Object.keys({ ...a.columns, ...b.columns })) {
    const from = takesPrecedence(column, a, b) ? a : b;
    columns[column] = from.columns[column] ?? null;
    const time = timeOf(from, column);
    if (time === at || isUnstated(columns[column])) continue;
    // A later statement states a withdrawn object again.
    if (column === 'withdrawn') delete columns[column];
    else times[column] = time;
  }
  if ('aliases' in columns) {
    const names = uniteNames([...(a.columns.aliases as never[]), ...(b.columns.aliases as never[])]);
    columns.aliases = names.slice(0, MAX_NAMES);
    delete times.aliases;
  }
  const confidence = order === 0 ? Math.max(a.confidence, b.confidence) : (order > 0 ? a : b).confidence;
  const externalIds = [...new Set([...a.externalIds, ...b.externalIds])].sort();
  return { tlp: a.tlp, at, confidence, externalIds, columns, times };
}

/** Returns whether the value of `a` takes precedence in a column. */
function takesPrecedence(column: string, a: AudienceState, b: AudienceState): boolean {
  const [own, other] = [a.columns[column], b.columns[column]];
  if (isUnstated(own) || isUnstated(other)) return isUnstated(other);
  const order = compareTimes(timeOf(a, column), timeOf(b, column));
  return order === 0 ? JSON.stringify(own) >= JSON.stringify(other) : order > 0;
}

function timeOf({ at, times }: AudienceState, column: string): number | null {
  return column in times ? (times[column] ?? null) : at;
}

function compareTimes(a: number | null, b: number | null): number {
  return (a ?? Number.NEGATIVE_INFINITY) === (b ?? Number.NEGATIVE_INFINITY)
    ? 0
    : (a ?? Number.NEGATIVE_INFINITY) - (b ?? Number.NEGATIVE_INFINITY);
}

/**
 * Resolves an entity from all its statements. Only the statements for the widest audience count, so that
 * nothing stated for a few is visible to many, and no private note hides public data. The first of them by
 * `compareStatements` decides, the next ones fill its gaps, and names unite; statements about retired
 * objects come after those about others. Statements of sources that have withdrawn the object do not count while another source
 * states it; if none does, the state is withdrawn. The order of import has no influence.
 * @throws when there is no statement
 */
export function resolveEntity(
  entityId: string,
  statements: readonly EntityStatement[],
  rules: EntityKindRules,
): EntityState {
  const current = statements.filter(({ state }) => !isWithdrawnState(state.columns));
  const counting = byPrecedence(current.length > 0 ? current : statements, rules);
  const [deciding] = counting;
  if (!deciding) throw new Error('an entity of no source');
  const { sourceId, statedAt, tlp, confidence } = deciding.state;
  const columns = { ...deciding.state.columns };
  for (const { state } of counting) {
    for (const [column, value] of Object.entries(state.columns)) {
      if (isUnstated(columns[column])) columns[column] = value;
    }
  }
  const names = uniteNames(counting.flatMap(statedNames));
  return { id: entityId, sourceId, statedAt, tlp, confidence, columns: withAliases(columns, names) };
}

/** Returns the statements for the widest audience in order of precedence. */
function byPrecedence(statements: readonly EntityStatement[], rules: EntityKindRules): EntityStatement[] {
  const widest = TLPS.find((tlp) => statements.some(({ state }) => state.tlp === tlp));
  const counting = statements.filter(({ state }) => state.tlp === widest).sort(compareStatements(rules));
  const objects = new Set(counting.map(({ objectId }) => objectId));
  const current = [...objects].filter((id) => {
    const ofObject = counting.filter(({ objectId }) => objectId === id);
    // A label alone does not reinstate the object that it refers to.
    return ofObject.some(hasOwnUuid) && !isWithdrawn(ofObject, rules);
  });
  const isCurrent = ({ objectId }: EntityStatement) => current.includes(objectId);
  return [...counting.filter(isCurrent), ...counting.filter((statement) => !isCurrent(statement))];
}
