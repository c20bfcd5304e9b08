import { confidenceShown } from './confidence.ts';
import { type IndicatorType, SEVERITIES, type Severity, TLPS, type Tlp } from './vocabulary.ts';

/** What one source says of one indicator. Null: it does not say. */
export interface Statement {
  /** When the source last stated this. */
  statedAt: Date | null;
  firstSeen: Date | null;
  lastSeen: Date | null;
  /** When we first heard it; stands for the dates where the source gives none. */
  importedAt: Date;
  expiresAt: Date | null;
  /** 0 to 100. */
  confidence: number | null;
  severity: Severity | null;
  tlp: Tlp;
  /** Sorted, without repeats. */
  tags: string[];
  forDetection: boolean;
  /** When it was found missing in a list that it had stood in; null: it stands there, or was never on one. */
  leftAt: Date | null;
}

/** How long an indicator of a type is kept after it was last seen, in seconds. A type that is missing stays. */
export type Lifetimes = Partial<Record<IndicatorType, number>>;

export interface SourceDefaults {
  tlp: Tlp;
  confidence: number;
  severity: Severity;
}

/** What of a source decides what is shown. */
export interface StatingSource {
  id: string;
  name: string;
  defaults: SourceDefaults;
  lifetimes: Lifetimes;
  /** A list: to stand in its last good copy is to be seen. */
  membership: boolean;
}

export interface SourceStatement extends Statement {
  source: StatingSource;
}

/** What is shown of an indicator. */
export interface ResolvedIndicator {
  confidence: number;
  severity: Severity;
  tlp: Tlp;
  tags: string[];
  /** The source whose confidence decides. */
  sourceId: string;
  firstSeen: Date;
  lastSeen: Date;
  expiresAt: Date | null;
  forDetection: boolean;
}

/**
 * Two statements of one source as one. Commutative, associative and idempotent, so that the outcome does not
 * depend on the order of a file. The later statement decides confidence, severity and expiry, unstated ones
 * included; sightings span both; tags unite; the more restrictive TLP holds.
 */
export function mergeStatements(a: Statement, b: Statement): Statement {
  const later = compareStatements(a, b) >= 0 ? a : b;
  return {
    statedAt: later.statedAt,
    confidence: later.confidence,
    severity: later.severity,
    expiresAt: later.expiresAt,
    firstSeen: earliest(a.firstSeen, b.firstSeen),
    lastSeen: latest(a.lastSeen, b.lastSeen),
    importedAt: earliest(a.importedAt, b.importedAt) ?? a.importedAt,
    tlp: mostRestrictive([a.tlp, b.tlp]),
    tags: uniqueTags([...a.tags, ...b.tags]),
    forDetection: a.forDetection || b.forDetection,
    // What is said again stands there again.
    leftAt: a.leftAt && b.leftAt && latest(a.leftAt, b.leftAt),
  };
}

/**
 * What a source without dates says now, in place of what it said before: sightings span both, and what was said under
 * a marking stays under it.
 */
export function replaceUndated(before: Statement, said: Statement): Statement {
  const { firstSeen, lastSeen, importedAt, tlp } = mergeStatements(before, said);
  return { ...said, firstSeen, lastSeen, importedAt, tlp };
}

/** By time; statements of one time by what they say, so that which of them decides is no accident. */
function compareStatements(a: Statement, b: Statement): number {
  const keys = (s: Statement) => [
    s.statedAt?.getTime() ?? Number.NEGATIVE_INFINITY,
    s.confidence ?? -1,
    s.severity ? SEVERITIES.indexOf(s.severity) : -1,
    s.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
  ];
  const [left, right] = [keys(a), keys(b)];
  const differing = left.findIndex((key, i) => key !== right[i]);
  return differing < 0 ? 0 : (left[differing] ?? 0) - (right[differing] ?? 0);
}

export function sameStatement(a: Statement, b: Statement): boolean {
  return (
    compareStatements(a, b) === 0 &&
    sameTime(a.firstSeen, b.firstSeen) &&
    sameTime(a.lastSeen, b.lastSeen) &&
    sameTime(a.importedAt, b.importedAt) &&
    sameTime(a.leftAt, b.leftAt) &&
    a.tlp === b.tlp &&
    a.forDetection === b.forDetection &&
    a.tags.length === b.tags.length &&
    a.tags.every((tag, i) => tag === b.tags[i])
  );
}

/**
 * What is shown of an indicator: the union of what its sources say. An indicator expires when the last of its
 * sources lets it; one that never does keeps it.
 * @param type decides how long a source keeps it
 * @param scores of the last answer of each provider that did not fail
 * @param pinned the confidence an analyst has set, or null
 * @throws when there is no statement
 */
export function resolve(
  type: IndicatorType,
  statements: readonly SourceStatement[],
  scores: readonly number[],
  pinned: number | null,
): ResolvedIndicator {
  const deciding = decidingSource(statements);
  const stated = statements.flatMap(({ severity }) => severity ?? []);
  const severities = stated.length > 0 ? stated : statements.map(({ source }) => source.defaults.severity);
  const expiries = statements.map((statement) => expiryOf(type, statement));
  return {
    confidence: confidenceShown({ pinned, scores, stated: confidenceOf(deciding) }),
    severity: highest(SEVERITIES, severities),
    tlp: mostRestrictive(statements.map(({ tlp }) => tlp)),
    tags: uniqueTags(statements.flatMap(({ tags }) => tags)),
    sourceId: deciding.source.id,
    firstSeen: new Date(Math.min(...statements.map((s) => seenFrom(s).getTime()))),
    lastSeen: new Date(Math.max(...statements.map((s) => seenUntil(s).getTime()))),
    expiresAt: expiries.includes(null) ? null : expiries.reduce(latest, null),
    forDetection: statements.some(({ forDetection }) => forDetection),
  };
}

/**
 * When a source lets an indicator go: as its record says, else its lifetime for the type after it was last seen. What
 * stands in a list is seen as long as it stands there.
 */
function expiryOf(type: IndicatorType, statement: SourceStatement): Date | null {
  const { expiresAt, leftAt, source } = statement;
  const lifetime = source.lifetimes[type];
  if (expiresAt || lifetime === undefined) return expiresAt;
  if (source.membership && !leftAt) return null;
  const from = latest(seenUntil(statement), leftAt) ?? statement.importedAt;
  return new Date(from.getTime() + lifetime * 1000);
}

/** Whose confidence holds where no provider has judged and nothing is pinned, and what it is. */
export function decidingStatement(statements: readonly SourceStatement[]): {
  source: StatingSource;
  confidence: number;
} {
  const statement = decidingSource(statements);
  return { source: statement.source, confidence: confidenceOf(statement) };
}

/** The most confident source; of equals the one that saw it first, then by name. */
function decidingSource(statements: readonly SourceStatement[]): SourceStatement {
  const [first] = [...statements].sort(
    (a, b) =>
      confidenceOf(b) - confidenceOf(a) ||
      seenFrom(a).getTime() - seenFrom(b).getTime() ||
      (a.source.name < b.source.name ? -1 : 1),
  );
  if (!first) throw new Error('an indicator without a source');
  return first;
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

/** Negative when `a` may reach more people than `b`. */
export function compareTlp(a: Tlp, b: Tlp): number {
  return TLPS.indexOf(a) - TLPS.indexOf(b);
}

function highest<T extends string>(scale: readonly T[], values: readonly T[]): T {
  return scale[Math.max(...values.map((value) => scale.indexOf(value)))] as T;
}

/** Sorted by code point, without repeats. */
export function uniqueTags(tags: readonly string[]): string[] {
  return [...new Set(tags)].sort();
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
