import type { MispObject } from '../../model/source-record.ts';
import type { Tlp } from '../../model/vocabulary.ts';

/** A column's value, as JSON. */
export type Json = string | number | boolean | null | readonly unknown[] | MispObject;
/** The values of a record by the columns of its table. */
export type Columns = Record<string, Json>;

/** Whether the source has withdrawn an object (a report, a campaign, a rule). No column of a table: the row is hidden. */
export function isWithdrawnState({ withdrawn }: Columns): boolean {
  return withdrawn === true;
}

/** The statements of a source for one audience (TLP), merged over time: the latest value of each column. */
export interface AudienceState {
  tlp: Tlp;
  /** Time of the latest statement in Unix milliseconds; null: undated, which counts as before any date. */
  at: number | null;
  /** That of the latest statement. */
  confidence: number;
  /** The external ids that the source states for this audience, sorted. */
  externalIds: string[];
  /** The aliases include the object's own name. */
  columns: Columns;
  /** The times of columns whose value is older than `at`. */
  times: Record<string, number | null>;
}

/** The state of an object as a source states it, or the resolved state of an entity. */
export interface EntityState {
  id: string;
  sourceId: string;
  statedAt: Date | null;
  tlp: Tlp;
  confidence: number;
  columns: Columns;
  /**
   * The statements by audience and time; absent if everything was stated at once, for the audience of `tlp`.
   */
  parts?: AudienceState[];
}

/** An alias of an object; an alias of an actor also states which organisation coined it. */
type Alias = string | { alias: string; namedBy: string | null };

const wordOf = (alias: Alias) => (typeof alias === 'string' ? alias : alias.alias);

/** Returns the name and the aliases of an object; empty if its kind has no aliases. */
export function namesIn(columns: Columns): Alias[] {
  if (!Array.isArray(columns.aliases)) return [];
  const name = String(columns.name);
  // Only aliases of actors record who coined them.
  return uniteNames([
    ...(columns.aliases as Alias[]),
    'motivation' in columns ? { alias: name, namedBy: null } : name,
  ]);
}

/**
 * Returns the names sorted and without duplicates, letter case aside. Of two spellings of a name, the one
 * that states who coined it wins, else the lesser one, so that the order of the input has no influence.
 */
export function uniteNames(names: readonly Alias[]): Alias[] {
  const kept = new Map<string, Alias>();
  for (const name of names) {
    const word = wordOf(name).toLowerCase();
    const other = kept.get(word);
    if (other === undefined || isBefore(name, other)) kept.set(word, name);
  }
  return [...kept].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
}

function isBefore(a: Alias, b: Alias): boolean {
  const [x, y] = [isUnattributed(a), isUnattributed(b)];
  return x === y ? JSON.stringify(a) < JSON.stringify(b) : y;
}

function isUnattributed(name: Alias): boolean {
  return typeof name === 'string' || name.namedBy === null;
}

/** Returns the columns with these names as aliases, except the object's own name. */
export function withAliases(columns: Columns, names: readonly Alias[]): Columns {
  if (!('aliases' in columns)) return columns;
  const own = String(columns.name).toLowerCase();
  return {
    ...columns,
    aliases: uniteNames(names).filter((name) => wordOf(name).toLowerCase() !== own),
  };
}
