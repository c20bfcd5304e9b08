import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { SigmaDocument, SigmaFacts } from '../formats/sigma.ts';
import { ROOT } from '../root.ts';

const DIRECTORY = new URL('sigma/', ROOT);
const FILE = /^(T\d{4}(?:\.\d{3})?)\.yml$/;

let rules: ReadonlyMap<string, SigmaDocument> | undefined;

/**
 * Returns the Sigma rules for ATT&CK techniques by a technique's id (`T1003.001`), in order of the ids. The files are
 * read at the first call: they are part of the program and do not change while it runs.
 */
export function techniqueRules(): ReadonlyMap<string, SigmaDocument> {
  rules ??= read();
  return rules;
}

/** Returns the documents for these techniques (see `techniqueMatcher`), in order of their ids, each once. */
export function rulesFor(techniqueIds: readonly string[]): SigmaDocument[] {
  const isMeant = techniqueMatcher(techniqueIds);
  return [...techniqueRules()].filter(([id]) => isMeant(id)).map(([, document]) => document);
}

function read(): Map<string, SigmaDocument> {
  const found = new Map<string, SigmaDocument>();
  for (const file of readdirSync(DIRECTORY).sort()) {
    const id = FILE.exec(file)?.[1];
    if (!id) continue;
    const text = readFileSync(new URL(file, DIRECTORY), 'utf8');
    found.set(id, { text, ...(parse(text) as SigmaFacts) });
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
