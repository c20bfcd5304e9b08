const parentOf = (id: string) => id.slice(0, 'T0000'.length);

/**
 * Returns a predicate of the techniques whose rules apply: the named ones and, if a technique is named
 * without any of its sub-techniques, all of these, because a user of T1059 uses some of them. A named
 * sub-technique selects only itself.
 * @param techniqueIds ATT&CK ids (`T1059`, `T1003.001`)
 */
export function techniqueMatcher(techniqueIds: Iterable<string>): (id: string) => boolean {
  const named = new Set(techniqueIds);
  const detailed = new Set([...named].filter((id) => id.includes('.')).map(parentOf));
  return (id) => named.has(id) || (named.has(parentOf(id)) && !detailed.has(parentOf(id)));
}
