/** The type of an attribute that is a STIX pattern. */
export const STIX_PATTERN = 'stix-pattern';

/** A step of an attack (STIX 2.1 §2.11), such as `lockheed-martin-cyber-kill-chain` and `delivery`. */
export interface KillChainPhase {
  chain: string;
  phase: string;
}

/** The MISP object that an attribute is part of. */
export interface MispObject {
  id: string;
  /** Of its template, such as `file`. */
  name: string;
  /** The attribute's part in it, such as `filename`. */
  relation?: string;
  metaCategory?: string;
  templateId?: string;
  templateVersion?: string;
  comment?: string;
}

/** The statements of one record of a source, a STIX object or a MISP attribute, about an indicator besides its dates and markings. */
export interface SourceRecord {
  /** Such as `indicator--0c7b…`. */
  id?: string;
  /** When the source last stated it; ISO 8601. */
  statedAt?: string;
  /** The external id of the report that it is part of. */
  reportId?: string;
  name?: string;
  /** A description or comment. */
  description?: string;
  /** Whether the value is where an attack comes from, or where it goes to. */
  direction?: 'source' | 'destination';
  /** MISP's type and category, such as `ip-src` and `Network activity`. */
  type?: string;
  category?: string;
  /**
   * The value as the source wrote it, where it has more than the indicator, such as a port. Never one that has another
   * indicator in it, which may be hidden.
   */
  original?: string;
  killChainPhases?: KillChainPhase[];
  object?: MispObject;
  /** The record gives several indicators. */
  isShared?: boolean;
  /** Only if the source has withdrawn the record, or replaced this version of it. A withdrawn record has nothing but its id and time. */
  withdrawn?: true;
  /** Only of a withdrawn record: a later version of it exists, which is about other indicators. */
  replaced?: true;
  /** Only if the record is not meant for detection or blocking, such as MISP's `to_ids: false`. */
  forDetection?: false;
}

/**
 * The maximum number of records of one source about one indicator; the latest are stored. An address that a source
 * states in thousands of reports must not make its row unbounded.
 */
export const MAX_RECORDS = 50;

/** All keys, in the order of the text by which records are compared: a database may return them in another. */
const KEYS: readonly (keyof SourceRecord | keyof KillChainPhase | keyof MispObject)[] = [
  ...([
    'id',
    'statedAt',
    'reportId',
    'name',
    'description',
    'direction',
    'type',
    'category',
    'original',
  ] as const),
  ...(['killChainPhases', 'chain', 'phase', 'object', 'relation', 'metaCategory', 'templateId'] as const),
  ...(['templateVersion', 'comment', 'isShared', 'forDetection', 'withdrawn', 'replaced'] as const),
];

function textOf(record: SourceRecord): string {
  return JSON.stringify(record, KEYS as string[]);
}

/** Whether a record holds and is for detection. */
export function isForDetection({ forDetection, withdrawn }: SourceRecord): boolean {
  return forDetection !== false && !withdrawn;
}

/** Returns when the source withdrew the last of its records; null: one holds, or may hold, or it has none. */
export function withdrawnAt(records: readonly SourceRecord[]): Date | null {
  // The latest comes first.
  const [latest] = records;
  const isComplete = records.length < MAX_RECORDS;
  return latest?.statedAt !== undefined && isComplete && records.every(({ withdrawn }) => withdrawn)
    ? new Date(latest.statedAt)
    : null;
}

/** Returns the records of a statement, those that hold marked if the statement is not for detection. */
export function markedRecords(
  records: readonly SourceRecord[],
  { forDetection }: { forDetection: boolean },
): readonly SourceRecord[] {
  if (forDetection) return records;
  return records.map((record) => (record.withdrawn ? record : { ...record, forDetection: false }));
}

/**
 * Merges the records of two statements of one source: of records with the same id the later one holds. Commutative,
 * associative and idempotent, also where the maximum number leaves records out: they are the earliest ones.
 */
export function mergeRecords(
  a: readonly SourceRecord[],
  b: readonly SourceRecord[],
): readonly SourceRecord[] {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  return latestRecords([...a, ...b]);
}

/** Returns the latest version of each record, the latest first. */
export function latestRecords(records: readonly SourceRecord[]): readonly SourceRecord[] {
  const latest = new Map<string, SourceRecord>();
  for (const record of records) {
    const key = record.id ?? textOf(record);
    const other = latest.get(key);
    if (other === undefined || compareRecords(record, other) < 0) latest.set(key, record);
  }
  return [...latest.values()].sort(compareRecords).slice(0, MAX_RECORDS);
}

/** Orders records: the latest first. */
function compareRecords(a: SourceRecord, b: SourceRecord): number {
  const [left, right] = [a.statedAt ?? '', b.statedAt ?? ''];
  if (left !== right) return left > right ? -1 : 1;
  const [first, second] = [weightOf(a), weightOf(b)];
  if (first !== second) return second - first;
  // A version that an earlier release stored has no mark; what has no time may be in any order.
  if (left !== '' && a.forDetection !== b.forDetection) return a.forDetection === false ? -1 : 1;
  const [x, y] = [textOf(a), textOf(b)];
  return x === y ? 0 : x > y ? -1 : 1;
}

const WITHDRAWN = 2;

/** Of equal times: a replaced version that is stated again holds, unless the record is withdrawn. */
function weightOf({ withdrawn, replaced }: SourceRecord): number {
  return replaced ? 0 : withdrawn ? WITHDRAWN : 1;
}

/** A version of a record that stands for an object of its source: a STIX object, a MISP attribute. */
export interface RecordVersion {
  id: string;
  /** ISO 8601. */
  statedAt: string;
  /** Whether the source withdrew the object with it. */
  withdrawn: boolean;
}

/** Returns the later of two versions of a record; of two of the same time the one that withdraws it. */
export function laterVersion(a: RecordVersion, b: RecordVersion): RecordVersion {
  if (a.statedAt !== b.statedAt) return a.statedAt > b.statedAt ? a : b;
  return b.withdrawn && !a.withdrawn ? b : a;
}

/** Returns the version of a record that is stored among these; undefined: there is none, or it has no time. */
export function versionAmong(records: readonly SourceRecord[], id: string): RecordVersion | undefined {
  const record = records.find((each) => each.id === id);
  if (record?.statedAt === undefined) return undefined;
  return { id, statedAt: record.statedAt, withdrawn: weightOf(record) === WITHDRAWN };
}

/**
 * Returns the records of a statement, given the latest version of one of them: if it withdraws the record, so it is; if it is later than
 * the stored version, it is about other indicators, because it would be stored otherwise.
 */
export function withLatestVersion(
  records: readonly SourceRecord[],
  { id, statedAt, withdrawn }: RecordVersion,
): readonly SourceRecord[] {
  const record = records.find((each) => each.id === id);
  if (record?.statedAt === undefined || record.statedAt > statedAt) return records;
  const isSame = record.statedAt === statedAt;
  if (withdrawn)
    return isSame && weightOf(record) === WITHDRAWN
      ? records
      : mergeRecords(records, [{ id, statedAt, withdrawn }]);
  // A version that was withdrawn is replaced like any other: its withdrawal may have been stated before it, and is not stored then.
  if (isSame || record.replaced) return records;
  const replaced = { id, statedAt: record.statedAt, withdrawn: true, replaced: true } as const;
  return latestRecords(records.map((each) => (each === record ? replaced : each)));
}

export function sameRecords(a: readonly SourceRecord[], b: readonly SourceRecord[]): boolean {
  return (
    a === b ||
    (a.length === b.length && a.every((record, i) => textOf(record) === textOf(b[i] as SourceRecord)))
  );
}
