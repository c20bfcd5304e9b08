import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { SigmaDocument, SigmaFacts } from '../formats/sigma.ts';
import { ROOT } from '../root.ts';

const DIRECTORY = new URL('sigma/', ROOT);
const FILE = /^(T\d{4}(?:\.\d{3})?)\.yml$/;

let ids: readonly string[] | undefined;
const documents = new Map<string, readonly SigmaDocument[]>();

/** Returns the ids of the ATT&CK techniques with rules (`T1003.001`), in order. */
export function ruledTechniques(): readonly string[] {
  ids ??= readdirSync(DIRECTORY)
    .flatMap((file) => FILE.exec(file)?.[1] ?? [])
    .sort();
  return ids;
}

/**
 * Returns the Sigma rules for a technique of `ruledTechniques`. A file is read once: it is part of the program and does
 * not change while it runs.
 */
export function rulesOf(id: string): readonly SigmaDocument[] {
  const kept = documents.get(id);
  if (kept) return kept;
  const texts = readFileSync(new URL(`${id}.yml`, DIRECTORY), 'utf8').split(/^---\n/m);
  const read = texts.map((text) => {
    const content = parse(text) as SigmaFacts & SigmaDocument['content'];
    const { level, status, logsource } = content;
    return { text, content, level, status, logsource };
  });
  documents.set(id, read);
  return read;
}

/** Returns the rules for these techniques (see `techniqueMatcher`), in order of their ids, each once. */
export function rulesFor(techniqueIds: readonly string[]): SigmaDocument[] {
  return ruledTechniques().filter(techniqueMatcher(techniqueIds)).flatMap(rulesOf);
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
