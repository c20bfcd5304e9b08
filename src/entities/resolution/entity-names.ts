import type { Columns } from './entity-state.ts';

/** One more name of an object: of an actor with who gave it. */
type Alias = string | { alias: string; namedBy: string | null };

const wordOf = (alias: Alias) => (typeof alias === 'string' ? alias : alias.alias);

/** All that an object is called, its name among it; empty where its kind has one name only. */
export function namesIn(columns: Columns): Alias[] {
  if (!Array.isArray(columns.aliases)) return [];
  const name = String(columns.name);
  // Of an actor it is kept who named it.
  return uniteNames([
    ...(columns.aliases as Alias[]),
    'motivation' in columns ? { alias: name, namedBy: null } : name,
  ]);
}

/**
 * Without repeats in whatever case, in order. Of two ways to write a name the one that says who gave it, else the
 * lesser one: which came first decides nothing.
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

/** The columns with these names as aliases, the name itself left out. */
export function withAliases(columns: Columns, names: readonly Alias[]): Columns {
  if (!('aliases' in columns)) return columns;
  const own = String(columns.name).toLowerCase();
  return {
    ...columns,
    aliases: uniteNames(names).filter((name) => wordOf(name).toLowerCase() !== own),
  };
}
