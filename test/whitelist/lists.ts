import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { INDICATOR_TYPES, type IndicatorType } from '../../src/model/vocabulary.ts';
import { buildMatcher, type WhitelistHit } from '../../src/whitelist/matching/matcher.ts';
import type { ListKind } from '../../src/whitelist/matching/rule.ts';
import {
  type ParsedWarninglist,
  parseWarninglist,
  type Warninglist,
} from '../../src/whitelist/matching/warninglist.ts';

/** A list as if it had been parsed. */
export function listOf(
  kind: ListKind,
  entries: readonly string[],
  types: readonly IndicatorType[] = INDICATOR_TYPES,
): Warninglist {
  return { name: 'test', description: '', version: '1', kind, types, entries };
}

/** What hits a value in one list of that kind. */
export function hitIn(
  kind: ListKind,
  entries: readonly string[],
  type: IndicatorType,
  value: string,
  types?: readonly IndicatorType[],
): WhitelistHit | null {
  return buildMatcher([{ id: 'list', list: listOf(kind, entries, types) }]).find(type, value);
}

export function parsed(json: unknown): ParsedWarninglist {
  const list = parseWarninglist(json);
  if ('rejected' in list) throw new Error(list.rejected);
  return list;
}

/** The lists of a folder, by file name. */
export function listsIn(folder: string): { id: string; json: unknown }[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({ id: file, json: JSON.parse(readFileSync(join(folder, file), 'utf8')) }));
}

export const SHIPPED = fileURLToPath(new URL('../../whitelist/', import.meta.url));
