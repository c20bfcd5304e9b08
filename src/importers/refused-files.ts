import { jsonShape } from './json-shape.ts';

const WARNINGLIST_KEYS = new Set(['description', 'list', 'matching_attributes', 'name', 'type', 'version']);

/**
 * Returns what a file is that accompanies feeds and holds no intelligence of its own, for the error message
 * of its import; null for any other file.
 */
export function refusedFile(head: string): string | null {
  const shape = jsonShape(head);
  if (shape === null)
    return isHashIndex(head) ? 'the index of a MISP feed (hashes.csv), not its events' : null;
  const { root, keys } = shape;
  // The head of a long warninglist contains the list and the members before it.
  if (keys.has('list') && [...keys].every((key) => WARNINGLIST_KEYS.has(key)))
    return 'a MISP warninglist: it says what is harmless';
  if (keys.has('namespace') && keys.has('predicates')) return 'a MISP taxonomy: it names tags';
  if (root === 'array' && keys.has('date_added') && keys.has('media_type'))
    return 'a TAXII manifest: it names objects and holds none';
  if (root === 'object' && /^\s*\{\s*"[0-9a-f-]{36}"\s*:\s*\{[^}]*"(Orgc|info|timestamp)"\s*:/i.test(head))
    return 'the manifest of a MISP feed, not its events';
  return null;
}

/** Returns whether a line holds the MD5 digest of a value and the uuid of its event. */
function isHashIndex(head: string): boolean {
  return /^[0-9a-f]{32},[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\r?\n/i.test(head);
}
