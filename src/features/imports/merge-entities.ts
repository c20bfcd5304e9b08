import { compareTlp, mostRestrictive } from '../../model/statement.ts';
import type { Columns, EntityState } from './entity-kinds.ts';

/**
 * What two sources, or one at two times, say of one object, as one row.
 * - One source: the later statement, its gaps filled from the earlier one unless that was for fewer; names unite.
 *   Statements of one time complete each other, whichever came first.
 * - Two sources, the new one for a wider audience: the new one alone. What was said for few must not reach many,
 *   and what is said to all must not be hidden by what one source says to few.
 * - Two sources, one audience: the first, its gaps filled from the second; names unite.
 * - Two sources, the new one for fewer: as it was.
 */
export function mergeEntities(before: EntityState, said: EntityState): EntityState {
  if (before.sourceId === said.sourceId) {
    const order = (before.statedAt?.getTime() ?? 0) - (said.statedAt?.getTime() ?? 0);
    if (order === 0) return combined(before, said);
    const [later, earlier] = order > 0 ? [before, said] : [said, before];
    if (compareTlp(earlier.tlp, later.tlp) > 0) return { ...later, id: before.id };
    return { ...later, id: before.id, columns: filled(later.columns, earlier.columns) };
  }
  const wider = compareTlp(said.tlp, before.tlp);
  if (wider < 0) return { ...said, id: before.id };
  if (wider > 0) return before;
  return { ...before, columns: filled(before.columns, said.columns) };
}

/** Of two values the greater one, so that the order in which they came decides nothing. */
function combined(before: EntityState, said: EntityState): EntityState {
  const columns: Columns = { ...before.columns };
  for (const [column, value] of Object.entries(said.columns)) {
    const own = columns[column];
    const isGreater = !isGap(value) && JSON.stringify(value) > JSON.stringify(own);
    if (isGap(own) || isGreater) columns[column] = value;
  }
  if ('aliases' in columns) {
    const isOwnName = columns.name === before.columns.name;
    const [named, other] = isOwnName ? [before, said] : [said, before];
    columns.aliases = uniteAliases(named.columns, other.columns);
  }
  return {
    ...before,
    tlp: mostRestrictive([before.tlp, said.tlp]),
    confidence: Math.max(before.confidence, said.confidence),
    columns,
  };
}

function isGap(value: Columns[string] | undefined): boolean {
  return (
    value === null ||
    value === undefined ||
    value === 'UNKNOWN' ||
    (Array.isArray(value) && value.length === 0)
  );
}

function filled(first: Columns, second: Columns): Columns {
  const merged: Columns = { ...first };
  for (const [column, value] of Object.entries(second)) {
    if (column === 'aliases') merged[column] = uniteAliases(first, second);
    else if (isGap(first[column])) merged[column] = value;
  }
  return merged;
}

/** As merging leaves them, so that merging the same again changes nothing. */
export function withAliasesInOrder(columns: Columns): Columns {
  return 'aliases' in columns ? { ...columns, aliases: uniteAliases(columns, columns) } : columns;
}

/** Without repeats and without the name itself, in whatever case they are written. */
function uniteAliases(first: Columns, second: Columns): unknown[] {
  const word = (alias: unknown) =>
    (typeof alias === 'string' ? alias : (alias as { alias: string }).alias).toLowerCase();
  const seen = new Set([String(first.name).toLowerCase()]);
  const all = [...asList(first.aliases), ...asList(second.aliases)];
  const secondName = String(second.name);
  if (!seen.has(secondName.toLowerCase())) {
    all.push(
      typeof all[0] === 'string' || first.motivation === undefined
        ? secondName
        : { alias: secondName, namedBy: null },
    );
  }
  // Of two spellings the lesser one, whichever came first.
  all.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const kept = all.filter((alias) => {
    const known = seen.has(word(alias));
    seen.add(word(alias));
    return !known;
  });
  return kept.sort((a, b) => (word(a) < word(b) ? -1 : 1));
}

function asList(value: Columns[string] | undefined): unknown[] {
  return Array.isArray(value) ? [...value] : [];
}

export function sameEntity(a: EntityState, b: EntityState): boolean {
  return (
    a.sourceId === b.sourceId &&
    a.tlp === b.tlp &&
    a.confidence === b.confidence &&
    a.statedAt?.getTime() === b.statedAt?.getTime() &&
    Object.keys(b.columns).every((key) => JSON.stringify(a.columns[key]) === JSON.stringify(b.columns[key]))
  );
}
