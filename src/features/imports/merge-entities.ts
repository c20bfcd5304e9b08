import { compareTlp } from '../../model/statement.ts';
import type { Columns, EntityState } from './entity-kinds.ts';

/**
 * What two sources, or one at two times, say of one object, as one row.
 * - One source: the later statement, its gaps filled from the earlier one; names unite.
 * - Two sources, the new one for a wider audience: the new one alone. What was said for few must not reach many,
 *   and what is said to all must not be hidden by what one source says to few.
 * - Two sources, one audience: the first, its gaps filled from the second; names unite.
 * - Two sources, the new one for fewer: as it was.
 */
export function mergeEntities(before: EntityState, said: EntityState): EntityState {
  if (before.sourceId === said.sourceId) {
    const [later, earlier] = isLater(before, said) ? [before, said] : [said, before];
    return { ...later, id: before.id, columns: filled(later.columns, earlier.columns) };
  }
  const wider = compareTlp(said.tlp, before.tlp);
  if (wider < 0) return { ...said, id: before.id };
  if (wider > 0) return before;
  return { ...before, columns: filled(before.columns, said.columns) };
}

/** Of statements of one time, which counts as the later one must not be chance. */
function isLater(a: EntityState, b: EntityState): boolean {
  const [left, right] = [a.statedAt?.getTime() ?? 0, b.statedAt?.getTime() ?? 0];
  return left === right ? JSON.stringify(a.columns) >= JSON.stringify(b.columns) : left > right;
}

function filled(first: Columns, second: Columns): Columns {
  const merged: Columns = { ...first };
  for (const [column, value] of Object.entries(second)) {
    const own = first[column];
    if (column === 'aliases') merged[column] = uniteAliases(first, second);
    else if (own === null || own === undefined || own === 'UNKNOWN') merged[column] = value;
    else if (Array.isArray(own) && own.length === 0) merged[column] = value;
  }
  return merged;
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
