import { field, isObject, textOf } from './record-fields.ts';

/** A record of a mapped JSON file. */
export interface MappedRecord {
  value: unknown;
  /** The member's name, if the records are members of an object. */
  key: string | null;
}

/** Returns the member names of a dotted path; none for `$`, the whole. `$.a.b` is `a.b`. */
export function namesOf(path: string): string[] {
  const names = path.split('.');
  if (names[0] === '$') names.shift();
  return names;
}

/**
 * Returns the values at a path; a list on the way, or at its end, gives its elements, so there may be none or
 * many.
 */
export function valuesAt({ value, key }: MappedRecord, path: string): unknown[] {
  if (path === '$key') return [key];
  let found: unknown[] = elementsOf(value);
  for (const name of namesOf(path))
    found = found.flatMap((item) => (isObject(item) ? elementsOf(field(item, name)) : []));
  return found;
}

/** The first text at a path. */
export function textAt(record: MappedRecord, path: string): string | null {
  return (
    valuesAt(record, path)
      .map(textOf)
      .find((text) => text !== null) ?? null
  );
}

function elementsOf(value: unknown): unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
