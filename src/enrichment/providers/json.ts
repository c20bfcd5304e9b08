/** Readers for untrusted JSON: each returns a value of its type or null, and none throws. */

export function objectOf(value: unknown): Record<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return value as Record<string, unknown>;
}

/** Returns the object's own member `key`; inherited members, `__proto__` included, are ignored. */
export function memberOf(value: unknown, key: string): unknown {
  const object = objectOf(value);
  return object !== null && Object.hasOwn(object, key) ? object[key] : undefined;
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Returns a finite number that is not negative, such as a count or a score; otherwise null. */
export function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

export function listOf(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) ? value : null;
}
