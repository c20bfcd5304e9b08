import type { Db, Read } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import { toIndicator } from '../indicators/indicators.mappers.ts';
import {
  findIndicator,
  findPrefixLengths,
  type IndicatorRow,
} from '../indicators/read/indicators.queries.ts';
import { isWithinAny, rangeOf } from '../model/address-ranges.ts';
import { indicatorId } from '../model/identity.ts';
import { hasName } from '../model/name-parts.ts';
import { isFileHash } from '../model/vocabulary.ts';
import { hostOf } from '../whitelist/matching/names.ts';
import { addressOf, type Candidate, type ReadValue, type Relation, readAsName } from './candidates.ts';
import type { ListedValues } from './listed-values.ts';
import type { LookupResult } from './lookup.schema.ts';
import { type Asking, followsFiles, type LookupFilters, type Question, readQuestions } from './questions.ts';
import type { ReadTexts } from './reading.ts';
import { type Answer, toResult } from './result.ts';
import { findSameFile } from './same-file.queries.ts';

export interface LookupSource {
  read: Read;
  listed: Pick<ListedValues, 'upTo'>;
}

interface Match {
  relation: Relation;
  indicator: IndicatorRow;
}

/** The answer for a value; `read` is its reason if it could not be read. */
export interface LookedUp extends Pick<Answer, 'asked' | 'read'> {
  matches: Match[];
}

type Found = IndicatorRow & { whitelisted_parts: string[] | null };

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
  source: LookupSource,
  principal: Principal,
  values: readonly string[],
  filters: LookupFilters,
): Promise<LookedUp[]> {
  const questions = readQuestions(await askingOf(source, principal, values, filters));
  const findings = await findFor(source, principal, questions, filters);
  return questions.map((question) => answerOf(question, findings, filters));
}

/**
 * Does the same for many values, with the results as texts.
 * @param separator of results
 */
export async function lookUpTexts(
  { readTexts, ...source }: LookupSource & { readTexts: ReadTexts },
  principal: Principal,
  values: readonly string[],
  filters: LookupFilters,
  separator: string,
): Promise<string> {
  const parts = await readTexts(await askingOf(source, principal, values, filters), separator);
  const questions = parts.filter((part) => typeof part !== 'string');
  const findings = await findFor(source, principal, questions, filters);
  return parts
    .map((part) =>
      typeof part === 'string' ? part : JSON.stringify(resultOf(answerOf(part, findings, filters))),
    )
    .join(separator);
}

export function resultOf({ asked, read, matches }: LookedUp): LookupResult {
  const shown = matches.map(({ relation, indicator }) => ({ relation, indicator: toIndicator(indicator) }));
  return toResult({ asked, read, matches: shown });
}

async function askingOf(
  { read, listed }: LookupSource,
  { tlpCeiling, now }: Principal,
  values: readonly string[],
  filters: LookupFilters,
): Promise<Asking> {
  const known = await listed.upTo(tlpCeiling, now);
  const prefixLengths = known?.prefixLengths ?? (filters.related ? await read(findPrefixLengths) : new Map());
  return { values, filters, listed: known?.filters ?? null, prefixLengths };
}

const NOTHING: Findings = { found: new Map(), sameFile: new Map() };

const idOf = ({ type, normalized }: Candidate) => indicatorId(type, normalized);

async function findFor(
  { read }: Pick<LookupSource, 'read'>,
  principal: Principal,
  questions: readonly Question[],
  filters: LookupFilters,
): Promise<Findings> {
  const ids = new Set<string>();
  for (const { candidates } of questions) for (const candidate of candidates) ids.add(idOf(candidate));
  if (ids.size === 0) return NOTHING;
  return read((db) => findAll(db, principal, ids, followsFiles(filters) ? filters : null));
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
  if (candidates.length === 0) return { asked, read, matches: [] };
  const matches = candidates.flatMap((candidate): Match[] => {
    const id = idOf(candidate);
    const indicator = found.get(id);
    const isMatch =
      indicator &&
      (types?.includes(indicator.type) ?? true) &&
      indicator.confidence >= minConfidence &&
      covers(candidate, indicator, 'type' in read ? read : readAsName(asked));
    const others = sameFile.get(id) ?? [];
    return [
      ...(isMatch ? [{ relation: candidate.relation, indicator }] : []),
      ...others.map((other) => ({ relation: 'same-file' as const, indicator: other })),
    ];
  });
  return { asked, read: readAs({ asked, read }, matches), matches };
}

/** Returns as what a value was read: one whose form identifies no type, as what it is known. */
function readAs(
  { asked, read }: Pick<Question, 'asked' | 'read'>,
  [first]: readonly Match[],
): Answer['read'] {
  if ('type' in read || !first) return read;
  return first.relation === 'exact' ? first.indicator : (readAsName(asked) ?? read);
}

/** A whitelisted part of a network or a domain is not known by it. */
function covers(
  { relation }: Candidate,
  { type, whitelisted_parts: parts }: Found,
  read: ReadValue | null,
): boolean {
  if (relation === 'exact' || parts === null || read === null) return true;
  if (type === 'DOMAIN') {
    const host = hostOf(read.type, read.normalized);
    return host === null || !hasName(new Set(parts), host);
  }
  const address = addressOf(read);
  return (
    relation !== 'in-network' ||
    address === null ||
    !isWithinAny(rangeOf(address.normalized), parts.map(rangeOf))
  );
}
