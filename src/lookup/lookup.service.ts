import type { Db, Read } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import {
  findIndicator,
  findPrefixLengths,
  type IndicatorRow,
} from '../indicators/read/indicators.queries.ts';
import { isWithinAny, rangeOf } from '../model/address-ranges.ts';
import { indicatorId } from '../model/identity.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
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
  indicator: Found;
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
  candidates: Candidate[];
}

/**
 * Looks values up, in their order. Only values that may be listed are looked for in the database, by one statement for all
 * of them.
 */
export async function lookUp(
  { read, listed }: LookupSource,
  principal: Principal,
  values: readonly string[],
  filters: LookupFilters,
): Promise<LookedUp[]> {
  const known = await listed.upTo(principal.tlpCeiling, principal.now);
  const lengths = filters.related ? (known?.prefixLengths ?? (await read(findPrefixLengths))) : null;
  const isWorthAsking = (type: IndicatorType, normalized: string) =>
    (filters.types?.includes(type) ?? true) && (known?.mayHave(type, normalized) ?? true);
  const questions = values.map((asked) => questionOf(asked, lengths, isWorthAsking));
  const ids = new Set(questions.flatMap(({ candidates }) => candidates.map(idOf)));
  const found = ids.size === 0 ? new Map() : await read((db) => findAll(db, principal, ids));
  return questions.map((question) => answerOf(question, found, filters.minConfidence ?? 0));
}

/** Returns the highest confidence of the matches; null: there are none. */
export function confidenceOf(matches: readonly Match[]): number | null {
  return matches.reduce<number | null>(
    (most, { indicator }) => Math.max(most ?? 0, indicator.confidence),
    null,
  );
}

const idOf = ({ type, normalized }: Candidate) => indicatorId(type, normalized);

function questionOf(
  asked: string,
  lengths: ReadonlyMap<IndicatorType, number[]> | null,
  isWorthAsking: (type: IndicatorType, normalized: string) => boolean,
): Question {
  const read = readValue(asked);
  const candidates: Candidate[] = [];
  const visit: Visit = (relation, type, normalized) => {
    if (isWorthAsking(type, normalized)) candidates.push({ relation, type, normalized });
  };
  if ('unreadable' in read) visitAnyType(asked, visit);
  else visitCandidates(read, lengths, visit);
  return { asked, read, candidates };
}

async function findAll(db: Db, principal: Principal, ids: ReadonlySet<string>): Promise<Map<string, Found>> {
  const rows = await Promise.all([...ids].map((id) => findIndicator(db, principal, id)));
  return new Map(rows.flatMap((row) => (row ? [[row.id, row]] : [])));
}

function answerOf(
  { asked, read, candidates }: Question,
  found: ReadonlyMap<string, Found>,
  minConfidence: number,
): LookedUp {
  const matches = candidates.flatMap((candidate) => {
    const indicator = found.get(idOf(candidate));
    const isMatch = indicator && indicator.confidence >= minConfidence && covers(candidate, indicator, read);
    return isMatch ? [{ relation: candidate.relation, indicator }] : [];
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
