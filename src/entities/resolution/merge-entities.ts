import { isDeepStrictEqual } from 'node:util';
import { compareTlp } from '../../model/statement.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import { namesIn, uniteNames, withAliases } from './entity-names.ts';
import type { Columns, EntityState, Part } from './entity-state.ts';

/**
 * Merges two statements of one source about one object. Commutative, associative and idempotent, so that the
 * outcome does not depend on the order of a file: for each audience the latest value of each column is kept
 * (at equal times the greater one), and names unite. The latest statement (at equal times the most
 * restrictive one) sets the audience of the whole; statements for fewer people than that are not disclosed.
 */
export function mergeEntities(before: EntityState, said: EntityState): EntityState {
  const byTlp = new Map<Tlp, Part>();
  for (const part of [...partsOf(before), ...partsOf(said)]) {
    const own = byTlp.get(part.tlp);
    byTlp.set(part.tlp, own ? joined(own, part) : part);
  }
  const parts = [...byTlp.values()].sort((a, b) => compareTlp(a.tlp, b.tlp));
  const { columns, at, confidence, tlp } = heard(parts);
  const state: EntityState = {
    id: before.id,
    sourceId: before.sourceId,
    statedAt: at === null ? null : new Date(at),
    tlp,
    confidence,
    columns: 'aliases' in columns ? withAliases(columns, columns.aliases as never) : columns,
  };
  return isDeepStrictEqual(parts, partsOf(state)) ? state : { ...state, parts };
}

/** Returns all names that a source states for its current audience, with who coined them. */
export function statedNames(state: EntityState) {
  return (heard(partsOf(state)).columns.aliases ?? []) as ReturnType<typeof namesIn>;
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
export function isGap(value: Columns[string] | undefined): boolean {
  return (
    value === null ||
    value === undefined ||
    value === 'UNKNOWN' ||
    (Array.isArray(value) && value.length === 0)
  );
}

function partsOf({ parts, tlp, statedAt, confidence, columns }: EntityState): Part[] {
  if (parts) return parts;
  const named = 'aliases' in columns ? { ...columns, aliases: namesIn(columns) } : columns;
  return [{ tlp, at: statedAt?.getTime() ?? null, confidence, columns: named, times: {} }];
}

/** Merges the parts that are visible to the audience of the latest part. */
function heard(parts: readonly Part[]): Part {
  const { tlp } = parts.reduce((a, b) =>
    (compareTimes(a.at, b.at) || compareTlp(a.tlp, b.tlp)) >= 0 ? a : b,
  );
  return { ...parts.filter((part) => compareTlp(part.tlp, tlp) <= 0).reduce(joined), tlp };
}

function joined(a: Part, b: Part): Part {
  const order = compareTimes(a.at, b.at);
  const at = order >= 0 ? a.at : b.at;
  const columns: Columns = {};
  const times: Part['times'] = {};
  for (const column of Object.keys({ ...a.columns, ...b.columns })) {
    const from = decides(column, a, b) ? a : b;
    columns[column] = from.columns[column] ?? null;
    const time = timeOf(from, column);
    if (time !== at && !isGap(columns[column])) times[column] = time;
  }
  if ('aliases' in columns) {
    columns.aliases = uniteNames([...(a.columns.aliases as never[]), ...(b.columns.aliases as never[])]);
    delete times.aliases;
  }
  const confidence = order === 0 ? Math.max(a.confidence, b.confidence) : (order > 0 ? a : b).confidence;
  return { tlp: a.tlp, at, confidence, columns, times };
}

/** Returns whether the value of `a` takes precedence in a column. */
function decides(column: string, a: Part, b: Part): boolean {
  const [own, other] = [a.columns[column], b.columns[column]];
  if (isGap(own) || isGap(other)) return isGap(other);
  const order = compareTimes(timeOf(a, column), timeOf(b, column));
  return order === 0 ? JSON.stringify(own) >= JSON.stringify(other) : order > 0;
}

function timeOf({ at, times }: Part, column: string): number | null {
  return column in times ? (times[column] ?? null) : at;
}

function compareTimes(a: number | null, b: number | null): number {
  return (a ?? Number.NEGATIVE_INFINITY) === (b ?? Number.NEGATIVE_INFINITY)
    ? 0
    : (a ?? Number.NEGATIVE_INFINITY) - (b ?? Number.NEGATIVE_INFINITY);
}
