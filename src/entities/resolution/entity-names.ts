import type { Columns } from './entity-state.ts';

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
