import { readdirSync, readFileSync } from 'node:fs';
import { ROOT } from '../root.ts';

const DIRECTORY = new URL('sigma/', ROOT);
const FILE = /^(T\d{4}(?:\.\d{3})?)\.yml$/;

let rules: ReadonlyMap<string, string> | undefined;

/**
 * Returns the Sigma rules for ATT&CK techniques, from a technique's id (`T1003.001`) to its YAML document,
 * which ends in a newline and has no `---`, in order of the ids. The files are read at the first call: they
 * are part of the program and do not change while it runs.
 */
export function techniqueRules(): ReadonlyMap<string, string> {
  rules ??= read();
  return rules;
}

/** Returns the documents for these techniques (see `techniqueMatcher`), in order of their ids, each once. */
export function rulesFor(techniqueIds: readonly string[]): string[] {
  const isMeant = techniqueMatcher(techniqueIds);
  return [...techniqueRules()].filter(([id]) => isMeant(id)).map(([, document]) => document);
}

function read(): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of readdirSync(DIRECTORY).sort()) {
    const id = FILE.exec(file)?.[1];
    if (id) found.set(id, readFileSync(new URL(file, DIRECTORY), 'utf8'));
  }
  return found;
}

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
