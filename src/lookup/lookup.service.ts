import type { Db, Read } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import {
  findIndicator,
  findPrefixLengths,
  type IndicatorRow,
} from '../indicators/read/indicators.queries.ts';
import { isWithinAny, rangeOf } from '../model/address-ranges.ts';
import { indicatorId } from '../model/identity.ts';
import { FILE_HASHES, type IndicatorType, isFileHash } from '../model/vocabulary.ts';
import {
  addressOf,
  type Candidate,
  type ReadValue,
  type Relation,
  readValue,
  type Visit,
  visitAnyType,
  visitCandidates,
} from './candidates.ts';
import type { ListedValues } from './listed-values.ts';
import { findSameFile } from './same-file.queries.ts';

export interface LookupSource {
  read: Read;
  listed: Pick<ListedValues, 'upTo'>;
}

export interface LookupFilters {
  types?: readonly IndicatorType[] | undefined;
  minConfidence?: number | undefined;
  /** Whether indicators count that are not the value itself. */
  related: boolean;
}

type Found = IndicatorRow & { whitelisted_parts: string[] | null };

export interface Match {
  relation: Relation;
  indicator: IndicatorRow;
}

/** The answer for a value; `read` is its reason if it could not be read. */
export interface LookedUp {
  asked: string;
  read: Pick<ReadValue, 'type' | 'value'> | { unreadable: string };
  matches: Match[];
}

/** A value, and the indicators that would match it and may be listed. */
interface Question {
  asked: string;
  read: ReadValue | { unreadable: string };
  candidates: readonly Candidate[];
}

/** The indicators that were found, and the other hashes of the files of those that are hashes; both by id. */
interface Findings {
  found: ReadonlyMap<string, Found>;
  sameFile: ReadonlyMap<string, readonly IndicatorRow[]>;
}

/**
 * Looks values up, in their order. Only values that may be listed are looked for in the database, by one statement for all
 * of them, and one more for the files of hashes that are found.
 */
export async function lookUp(
  { read, listed }: LookupSource,
  principal: Principal,
  values: readonly string[],
  filters: LookupFilters,
): Promise<LookedUp[]> {
  const known = await listed.upTo(principal.tlpCeiling, principal.now);
  const lengths = filters.related ? (known?.prefixLengths ?? (await read(findPrefixLengths))) : null;
  const isWanted = (type: IndicatorType) => filters.types?.includes(type) ?? true;
  const followsFiles = filters.related && FILE_HASHES.some(isWanted);
  const isWorthAsking: IsWorthAsking = (type, text, start, end) =>
    (isWanted(type) || (followsFiles && isFileHash(type))) &&
    (known?.mayHave(type, text, start, end) ?? true);
  const questions = values.map((asked) => questionOf(asked, lengths, isWorthAsking));
  const ids = new Set<string>();
  for (const { candidates } of questions) for (const candidate of candidates) ids.add(idOf(candidate));
  const findings =
    ids.size === 0 ? NOTHING : await read((db) => findAll(db, principal, ids, followsFiles ? filters : null));
  return questions.map((question) => answerOf(question, findings, filters));
}

/** Returns the highest confidence of the matches; null: there are none. */
export function confidenceOf(matches: readonly Match[]): number | null {
  return matches.reduce<number | null>(
    (most, { indicator }) => Math.max(most ?? 0, indicator.confidence),
    null,
  );
}

/** Most values have no candidates that may be listed. */
const NONE: Candidate[] = [];
const NOTHING: Findings = { found: new Map(), sameFile: new Map() };

const idOf = ({ type, normalized }: Candidate) => indicatorId(type, normalized);

type IsWorthAsking = (type: IndicatorType, text: string, start?: number, end?: number) => boolean;

function questionOf(
  asked: string,
  lengths: ReadonlyMap<IndicatorType, number[]> | null,
  isWorthAsking: IsWorthAsking,
): Question {
  const read = readValue(asked);
  let candidates = NONE;
  const visit: Visit = (relation, type, text, start, end) => {
    if (!isWorthAsking(type, text, start, end)) return;
    if (candidates === NONE) candidates = [];
    candidates.push({ relation, type, normalized: text.slice(start, end) });
  };
  if ('unreadable' in read) visitAnyType(asked, visit);
  else visitCandidates(read, lengths, visit);
  return { asked, read, candidates };
}

/** @param filters of other hashes of the same file; null: they are not looked for */
async function findAll(
  db: Db,
  principal: Principal,
  ids: ReadonlySet<string>,
  filters: LookupFilters | null,
): Promise<Findings> {
  const rows = await Promise.all([...ids].map((id) => findIndicator(db, principal, id)));
  const found = new Map(rows.flatMap((row) => (row ? [[row.id, row]] : [])));
  const hashes = [...found.values()].filter(({ type }) => isFileHash(type)).map(({ id }) => id);
  const isAlone = filters === null || hashes.length === 0;
  return { found, sameFile: isAlone ? NOTHING.sameFile : await findSameFile(db, principal, hashes, filters) };
}

function answerOf(
  { asked, read, candidates }: Question,
  { found, sameFile }: Findings,
  { types, minConfidence = 0 }: LookupFilters,
): LookedUp {
  if (candidates === NONE) return { asked, read, matches: [] };
  const matches = candidates.flatMap((candidate): Match[] => {
    const id = idOf(candidate);
    const indicator = found.get(id);
    const isMatch =
      indicator &&
      (types?.includes(indicator.type) ?? true) &&
      indicator.confidence >= minConfidence &&
      covers(candidate, indicator, read);
    const others = sameFile.get(id) ?? [];
    return [
      ...(isMatch ? [{ relation: candidate.relation, indicator }] : []),
      ...others.map((other) => ({ relation: 'same-file' as const, indicator: other })),
    ];
  });
  const [first] = matches;
  return { asked, read: 'unreadable' in read && first ? first.indicator : read, matches };
}

/** A whitelisted part of a network is not known by it. */
function covers(
  { relation }: Candidate,
  { whitelisted_parts: parts }: Found,
  read: Question['read'],
): boolean {
  if (relation !== 'in-network' || parts === null || 'unreadable' in read) return true;
  const address = addressOf(read);
  return address === null || !isWithinAny(rangeOf(address.normalized), parts.map(rangeOf));
}
