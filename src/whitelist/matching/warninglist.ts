import type { IndicatorType } from '../../model/vocabulary.ts';
import { attributeTypes } from './attribute-types.ts';
import { readEntry } from './entry.ts';
import { LIST_KINDS, type ListKind } from './list-kind.ts';

export interface Warninglist {
  name: string;
  description: string;
  version: string;
  kind: ListKind;
  /** Indicator types that the list applies to, including URLs that it matches through their host. */
  types: readonly IndicatorType[];
  /** As written in the list, trimmed. Each entry can be evaluated. */
  entries: readonly string[];
}

interface RejectedEntry {
  /** Position of the entry in the list, from 0. */
  index: number;
  /** Short and fixed, without the entry, for counting. */
  reason: string;
}

export type ParsedWarninglist = Warninglist & { rejectedEntries: readonly RejectedEntry[] };

type Fields = Record<string, unknown>;

/** Twice the longest public list (a million names). */
const MAX_ENTRIES = 2_000_000;
/** Each expression costs a pass over every value; published lists have one or two. */
const MAX_EXPRESSIONS = 50;
const MAX_NAME_LENGTH = 500;
const MAX_DESCRIPTION_LENGTH = 10_000;
const VERSION = /^[\w.:+-]{1,50}$/;
const CONTROL = /[\p{Cc}\u2028\u2029\p{Cs}]/u;

/**
 * Parses a MISP warninglist (`list.json` of the misp-warninglists repository). As in MISP, a list without
 * `type` is a list of strings, of several types the first counts, a missing version is 1, and the entries may
 * be the keys of an object of comments. `rejectedEntries` has the entries that cannot be evaluated, or would
 * hide far more than their author can have meant. `json` is untrusted data, already parsed. Never throws.
 */
export function parseWarninglist(json: unknown): ParsedWarninglist | { rejected: string } {
  if (!isObject(json)) return { rejected: 'not an object' };
  const name = textOf(json.name, MAX_NAME_LENGTH);
  if (name === null || name === '') return { rejected: 'no usable name' };
  const description = textOf(json.description ?? '', MAX_DESCRIPTION_LENGTH);
  if (description === null) return { rejected: 'description not usable' };
  const version = versionOf(json.version ?? 1);
  if (version === null) return { rejected: 'version neither a number nor a short text' };
  const kind = kindOf(json.type);
  if (kind === null) return { rejected: 'type not known' };
  const types = attributeTypes(json.matching_attributes, kind);
  if ('rejected' in types) return types;
  const list = entriesOf(json.list);
  if (list === null) return { rejected: 'no list of entries' };
  if (list.length > MAX_ENTRIES) return { rejected: `more than ${MAX_ENTRIES} entries` };
  return { name, description, version, kind, types: types.types, ...sift(kind, list, types.types) };
}

function sift(kind: ListKind, list: readonly unknown[], types: readonly IndicatorType[]) {
  const entries: string[] = [];
  const rejectedEntries: RejectedEntry[] = [];
  for (const [index, entry] of list.entries()) {
    const reason = reasonAgainst(kind, entry, types, entries.length);
    if (reason === null) entries.push(String(entry).trim());
    else rejectedEntries.push({ index, reason });
  }
  return { entries, rejectedEntries };
}

function reasonAgainst(
  kind: ListKind,
  entry: unknown,
  types: readonly IndicatorType[],
  accepted: number,
): string | null {
  if (typeof entry !== 'string') return 'not text';
  // Checked before compiling: a million expressions would keep the process busy for minutes.
  if (kind === 'regex' && accepted >= MAX_EXPRESSIONS) return `more than ${MAX_EXPRESSIONS} expressions`;
  const rules = readEntry(kind, entry, types);
  return 'rejected' in rules ? rules.rejected : null;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown, longest: number): string | null {
  if (typeof value !== 'string' || value.length > longest) return null;
  const text = value.replace(/\s+/g, ' ').trim();
  return CONTROL.test(text) ? null : text;
}

function versionOf(value: unknown): string | null {
  const version = typeof value === 'number' ? String(value) : value;
  return typeof version === 'string' && VERSION.test(version) ? version : null;
}

function kindOf(type: unknown): ListKind | null {
  const first: unknown = Array.isArray(type) ? type[0] : type;
  return LIST_KINDS.find((kind) => kind === (first ?? 'string')) ?? null;
}

function entriesOf(list: unknown): readonly unknown[] | null {
  if (Array.isArray(list)) return list;
  return isObject(list) ? Object.keys(list) : null;
}
