import { effectiveConfidence } from './confidence.ts';
import { isWithinCalendar } from './dates.ts';
import {
  isForDetection,
  mergeRecords,
  type RecordVersion,
  type SourceRecord,
  sameRecords,
  withdrawnAt,
  withLatestVersion,
} from './source-record.ts';
import { type IndicatorType, SEVERITIES, type Severity, TLPS, type Tlp } from './vocabulary.ts';
import { type Kev, mergeKev, sameKev } from './vulnerability.ts';

/** The statement of one source about one indicator. Null: not stated. */
export interface Statement {
  /** When the source last stated this. */
  statedAt: Date | null;
  firstSeen: Date | null;
  lastSeen: Date | null;
  /** When it was first imported; used in place of dates that the source does not give. */
  importedAt: Date;
  expiresAt: Date | null;
  /** 0 to 100. */
  confidence: number | null;
  severity: Severity | null;
  tlp: Tlp;
  /** Sorted, without repeats. */
  tags: string[];
  forDetection: boolean;
  /** Whether a hash is the fingerprint of an X.509 certificate; otherwise it is that of a file. */
  ofCertificate: boolean;
  /** The ids of the files that a hash is of, where the source states other hashes of them. Sorted, without repeats. */
  files: readonly string[];
  /**
   * When it was found missing from a list that had contained it; null: the list contains it, or never did.
   */
  delistedAt: Date | null;
  /** The other statements of its records, the latest first. */
  records: readonly SourceRecord[];
  /** What CISA's catalogue of known exploited vulnerabilities states about a vulnerability; null: nothing. */
  kev: Kev | null;
}

/**
 * Seconds that an indicator of a type is kept after it was last seen. Types without an entry do not expire.
 */
export type Lifetimes = Partial<Record<IndicatorType, number>>;

export interface SourceDefaults {
  tlp: Tlp;
  confidence: number;
  severity: Severity;
}

/** The properties of a source that affect resolved indicators. */
export interface StatingSource {
  id: string;
  name: string;
  defaults: SourceDefaults;
  lifetimes: Lifetimes;
  /** The source is a list: an indicator in its last good copy counts as seen. */
  isSnapshotList: boolean;
}

export interface SourceStatement extends Statement {
  source: StatingSource;
}

/** The resolved state of an indicator. */
export interface ResolvedIndicator {
  confidence: number;
  severity: Severity;
  tlp: Tlp;
  tags: string[];
  /** The source that determines the confidence. */
  sourceId: string;
  firstSeen: Date;
  lastSeen: Date;
  expiresAt: Date | null;
  forDetection: boolean;
  ofCertificate: boolean;
  /** Whether any source has records about it. */
  hasRecords: boolean;
  /** What CISA's catalogue states, by a source whose list still has it; null: nothing. */
  kev: Kev | null;
}

/**
 * Merges two statements of one source. Commutative, associative and idempotent, so that the outcome does not
 * depend on the order of a file. The later statement decides confidence, severity and expiry, unstated ones
 * included; sightings span both; tags unite; the more restrictive TLP holds. It is for detection if the current version of any
 * record is.
 */
export function mergeStatements(a: Statement, b: Statement): Statement {
  const later = compareStatements(a, b) >= 0 ? a : b;
  const records = mergeRecords(a.records, b.records);
  return {
    statedAt: later.statedAt,
    confidence: later.confidence,
    severity: later.severity,
    expiresAt: later.expiresAt,
    firstSeen: earliest(a.firstSeen, b.firstSeen),
    lastSeen: latest(a.lastSeen, b.lastSeen),
    importedAt: earliest(a.importedAt, b.importedAt) ?? a.importedAt,
    tlp: mostRestrictive([a.tlp, b.tlp]),
    tags: mergeTags(a.tags, b.tags),
    forDetection: records.length > 0 ? records.some(isForDetection) : latestForDetection(a, b),
    ofCertificate: a.ofCertificate || b.ofCertificate,
    files: mergeFiles(a.files, b.files),
    // An indicator that is stated again is on the list again.
    delistedAt: a.delistedAt && b.delistedAt && latest(a.delistedAt, b.delistedAt),
    records,
    kev: mergeKev(a.kev, b.kev),
  };
}

/**
 * Returns the statement of a source that withdraws a record; null: it does not have the record.
 * @param isWhole whether the record is all that the source states about the indicator
 */
export function withoutRecord(
  before: Statement,
  { id, statedAt }: { id: string; statedAt: Date },
  isWhole: boolean,
): Statement | null {
  if (isWhole)
    return (before.statedAt ?? statedAt) > statedAt
      ? before
      : { ...before, statedAt, expiresAt: statedAt, records: [] };
  if (!before.records.some((record) => record.id === id)) return null;
  return withRecords(
    before,
    mergeRecords(before.records, [{ id, statedAt: statedAt.toISOString(), withdrawn: true }]),
  );
}

/** Returns a statement with the records that follow from the latest version of one of them; the same statement if they are the same. */
export function withLatest<S extends Statement>(statement: S, latest: RecordVersion): S {
  const records = withLatestVersion(statement.records, latest);
  return records === statement.records ? statement : withRecords(statement, records);
}

function withRecords<S extends Statement>(statement: S, records: readonly SourceRecord[]): S {
  return { ...statement, records, forDetection: records.some(isForDetection) };
}

/** Returns whether the later of two statements without records is for detection, of two of the same time whether either is. */
function latestForDetection(a: Statement, b: Statement): boolean {
  const [left, right] = [timeOf(a), timeOf(b)];
  if (left === right) return a.forDetection || b.forDetection;
  return left > right ? a.forDetection : b.forDetection;
}

/**
 * The maximum number of files of one source and hash; the smallest ids are stored. Most hashes have one. An MD5 that a
 * source states with thousands of others must not make its row unbounded.
 */
export const MAX_FILES = 20;

function mergeFiles(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  return [...new Set([...a, ...b])].sort().slice(0, MAX_FILES);
}

/**
 * The maximum number of tags of one source and indicator, which is that of a record; the first by code point are stored. A value that
 * a source states with thousands of others must not make its row unbounded.
 */
export const MAX_TAGS = 1_000;

function mergeTags(a: string[], b: string[]): string[] {
  const [many, few] = a.length >= b.length ? [a, b] : [b, a];
  const known = few.length > 1 ? new Set(many) : null;
  const added = few.filter((tag) => !(known?.has(tag) ?? many.includes(tag)));
  return added.length === 0 ? many : [...many, ...added].sort().slice(0, MAX_TAGS);
}

/**
 * Replaces the earlier statement of a source without dates by its current one: sightings span both, and the
 * more restrictive TLP holds.
 */
export function replaceUndated(before: Statement, said: Statement): Statement {
  const { firstSeen, lastSeen, importedAt, tlp } = mergeStatements(before, said);
  return { ...said, firstSeen, lastSeen, importedAt, tlp };
}

/** Compares statements by time, and at equal times by their content, so that precedence is deterministic. */
function compareStatements(a: Statement, b: Statement): number {
  const keys = (s: Statement) => [
    timeOf(s),
    s.confidence ?? -1,
    s.severity ? SEVERITIES.indexOf(s.severity) : -1,
    s.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
  ];
  const [left, right] = [keys(a), keys(b)];
  const differing = left.findIndex((key, i) => key !== right[i]);
  return differing < 0 ? 0 : (left[differing] ?? 0) - (right[differing] ?? 0);
}

const timeOf = ({ statedAt }: Statement) => statedAt?.getTime() ?? Number.NEGATIVE_INFINITY;

/** @returns whether two statements are equal in everything that exports and details depend on */
export function sameShownStatement(a: Statement, b: Statement): boolean {
  return (
    compareStatements(a, b) === 0 &&
    sameTime(a.firstSeen, b.firstSeen) &&
    sameTime(a.lastSeen, b.lastSeen) &&
    sameTime(a.importedAt, b.importedAt) &&
    sameTime(a.delistedAt, b.delistedAt) &&
    a.tlp === b.tlp &&
    a.forDetection === b.forDetection &&
    a.ofCertificate === b.ofCertificate &&
    a.tags.length === b.tags.length &&
    a.tags.every((tag, i) => tag === b.tags[i]) &&
    sameRecords(a.records, b.records) &&
    sameKev(a.kev, b.kev)
  );
}

export function sameStatement(a: Statement, b: Statement): boolean {
  return a.files.join() === b.files.join() && sameShownStatement(a, b);
}

/**
 * Resolves an indicator from the statements of its sources. It expires when the last of them expires it; a
 * source without an expiry keeps it. A source that has withdrawn its statement has no part in confidence, severity and detection, unless
 * all have.
 * @param type decides how long a source keeps it
 * @param scores of each provider's latest successful response
 * @param pinned the confidence that an analyst has set, or null
 * @throws when there is no statement
 */
export function resolve(
  type: IndicatorType,
  statements: readonly SourceStatement[],
  scores: readonly number[],
  pinned: number | null,
): ResolvedIndicator {
  const holding = holdingStatements(statements);
  const deciding = mostConfident(holding);
  const stated = holding.flatMap(({ severity }) => severity ?? []);
  const severities = stated.length > 0 ? stated : holding.map(({ source }) => source.defaults.severity);
  const expiries = statements.map((statement) => expiryOf(type, statement));
  return {
    confidence: effectiveConfidence({ pinned, scores, stated: confidenceOf(deciding) }),
    severity: highest(SEVERITIES, severities),
    tlp: mostRestrictive(statements.map(({ tlp }) => tlp)),
    tags: uniqueTags(statements.flatMap(({ tags }) => tags)),
    sourceId: deciding.source.id,
    firstSeen: statements.map(seenFrom).reduce((a, b) => (a <= b ? a : b)),
    lastSeen: statements.map(seenUntil).reduce((a, b) => (a >= b ? a : b)),
    expiresAt: expiries.includes(null) ? null : expiries.reduce(latest, null),
    forDetection: holding.some(({ forDetection }) => forDetection),
    ofCertificate: statements.some(({ ofCertificate }) => ofCertificate),
    hasRecords: statements.some(({ records }) => records.length > 0),
    kev: statements
      .filter(({ delistedAt }) => !delistedAt)
      .reduce<Kev | null>((kev, said) => mergeKev(kev, said.kev), null),
  };
}

/**
 * Returns when a source expires an indicator: when it withdrew all of its records, or as its record states, else its lifetime for
 * the type after it was last seen. An indicator on a list counts as seen as long as it is on it. A lifetime that ends after the last year
 * of the calendar never ends: sources write its last day for “no end”, and databases store no later one.
 */
export function expiryOf(type: IndicatorType, statement: SourceStatement): Date | null {
  const { expiresAt, delistedAt, records, source } = statement;
  const withdrawn = withdrawnAt(records);
  if (withdrawn) return earliest(expiresAt, withdrawn);
  const lifetime = source.lifetimes[type];
  if (expiresAt || lifetime === undefined) return expiresAt;
  if (source.isSnapshotList && !delistedAt) return null;
  const from = latest(seenUntil(statement), delistedAt) ?? statement.importedAt;
  const end = new Date(from.getTime() + lifetime * 1000);
  return isWithinCalendar(end) ? end : null;
}

/**
 * Returns the source whose confidence applies if there is no provider score and no pinned value, and that
 * confidence.
 */
export function decidingStatement(statements: readonly SourceStatement[]): {
  source: StatingSource;
  confidence: number;
} {
  const statement = mostConfident(holdingStatements(statements));
  return { source: statement.source, confidence: confidenceOf(statement) };
}

/** Returns the statements that their sources have not withdrawn; all, if there are no others. */
function holdingStatements(statements: readonly SourceStatement[]): readonly SourceStatement[] {
  if (!statements.some(isWithdrawn)) return statements;
  const holding = statements.filter((statement) => !isWithdrawn(statement));
  return holding.length > 0 ? holding : statements;
}

/** Whether a source has withdrawn all of its records about an indicator, or all that it states, which then ended when it was stated. */
function isWithdrawn({ records, statedAt, expiresAt }: Statement): boolean {
  if (records.length > 0) return withdrawnAt(records) !== null;
  return expiresAt !== null && expiresAt.getTime() === statedAt?.getTime();
}

/** Returns the statement of the most confident source; of equals the one that saw it first, then by name. */
function mostConfident(statements: readonly SourceStatement[]): SourceStatement {
  return statements.reduce((first, each) => (compareDecision(each, first) < 0 ? each : first));
}

function compareDecision(a: SourceStatement, b: SourceStatement): number {
  return (
    confidenceOf(b) - confidenceOf(a) ||
    seenFrom(a).getTime() - seenFrom(b).getTime() ||
    (a.source.name < b.source.name ? -1 : 1)
  );
}

function confidenceOf({ confidence, source }: SourceStatement): number {
  return confidence ?? source.defaults.confidence;
}

function seenFrom({ firstSeen, lastSeen, importedAt }: Statement): Date {
  return earliest(firstSeen, lastSeen) ?? importedAt;
}

function seenUntil({ firstSeen, lastSeen, importedAt }: Statement): Date {
  return latest(firstSeen, lastSeen) ?? importedAt;
}

export function mostRestrictive(tlps: readonly Tlp[]): Tlp {
  return highest(TLPS, tlps);
}

/** Compares TLPs; negative: the audience of `a` is wider than that of `b`. */
export function compareTlp(a: Tlp, b: Tlp): number {
  return TLPS.indexOf(a) - TLPS.indexOf(b);
}

function highest<T extends string>(scale: readonly T[], values: readonly T[]): T {
  return scale[Math.max(...values.map((value) => scale.indexOf(value)))] as T;
}

/** Sorted by code point, without repeats. */
export function uniqueTags(tags: readonly string[]): string[] {
  return tags.length < 2 ? [...tags] : [...new Set(tags)].sort();
}

function earliest(a: Date | null, b: Date | null): Date | null {
  return a && b ? (a <= b ? a : b) : (a ?? b);
}

function latest(a: Date | null, b: Date | null): Date | null {
  return a && b ? (a >= b ? a : b) : (a ?? b);
}

function sameTime(a: Date | null, b: Date | null): boolean {
  return a?.getTime() === b?.getTime();
}
