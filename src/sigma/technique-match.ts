const parentOf = (id: string) => id.slice(0, 'T0000'.length);

/**
 * Which techniques' rules are meant by these: those that are named and, where one is named without any of its
 * sub-techniques, all of them: who is known to use T1059 uses some. A sub-technique means itself alone.
 * @param techniqueIds ATT&CK ids (`T1059`, `T1003.001`)
 */
export function techniqueMatcher(techniqueIds: Iterable<string>): (id: string) => boolean {
  const named = new Set(techniqueIds);
  const detailed = new Set([...named].filter((id) => id.includes('.')).map(parentOf));
  return (id) => named.has(id) || (named.has(parentOf(id)) && !detailed.has(parentOf(id)));
}
