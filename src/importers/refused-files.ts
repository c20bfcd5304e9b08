import { jsonShape } from './json-shape.ts';

const WARNINGLIST_KEYS = new Set(['description', 'list', 'matching_attributes', 'name', 'type', 'version']);

/**
 * Files that stand beside feeds and hold no intelligence of their own: what one is, for whoever tries to import it.
 * Null: none of those.
 */
export function refusedFile(head: string): string | null {
  const shape = jsonShape(head);
  if (shape === null)
    return isHashIndex(head) ? 'the index of a MISP feed (hashes.csv), not its events' : null;
  const { root, keys } = shape;
  // Of a long one the head holds the list and what stands before it.
  if (keys.has('list') && [...keys].every((key) => WARNINGLIST_KEYS.has(key)))
    return 'a MISP warninglist: it says what is harmless';
  if (keys.has('namespace') && keys.has('predicates')) return 'a MISP taxonomy: it names tags';
  if (root === 'array' && keys.has('date_added') && keys.has('media_type'))
    return 'a TAXII manifest: it names objects and holds none';
  if (root === 'object' && /^\s*\{\s*"[0-9a-f-]{36}"\s*:\s*\{[^}]*"(Orgc|info|timestamp)"\s*:/i.test(head))
    return 'the manifest of a MISP feed, not its events';
  return null;
}

/** MD5 digests of values, and the events they stand in. */
function isHashIndex(head: string): boolean {
  return /^[0-9a-f]{32},[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\r?\n/i.test(head);
}
