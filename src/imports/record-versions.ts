import type { IndicatorRecord } from '../importers/importer.ts';
import type { RecordHolder } from '../indicators/state/records.queries.ts';
import { laterVersion, type RecordVersion, type SourceRecord, versionAmong } from '../model/source-record.ts';
import { type Statement, withLatest } from '../model/statement.ts';

/**
 * Returns the version of the object that a record stands for, whose versions replace each other; undefined: it has no id or no time. The
 * records of another Tipline's object are not those of the object itself.
 */
export function ownVersion({ externalIds, records, withdrawn }: IndicatorRecord): RecordVersion | undefined {
  const [id] = externalIds;
  if (id === undefined || records === undefined) return undefined;
  const statedAt = records.find((record) => record.id === id)?.statedAt;
  return statedAt === undefined ? undefined : { id, statedAt, withdrawn: withdrawn !== undefined };
}

/** The versions that a batch states. */
export interface StatedVersions {
  /** The latest of each record, by its id. */
  latest: ReadonlyMap<string, RecordVersion>;
  /** The ids of the indicators that are stated with each record. */
  indicators: ReadonlyMap<string, ReadonlySet<string>>;
  /** The ids of the records of which the batch has several versions. */
  changing: ReadonlySet<string>;
}

/** What is stored of these records. */
export interface StoredVersions {
  /** The indicators that hold them, other than those that are stated with them now. */
  others: readonly RecordHolder[];
  /** Their withdrawals that no indicator holds, by the ids of the records. */
  withdrawals: ReadonlyMap<string, RecordVersion>;
}

/** @param ids the id of the indicator of each version */
export function statedVersions(
  versions: readonly (RecordVersion | undefined)[],
  ids: readonly string[],
): StatedVersions {
  const latest = new Map<string, RecordVersion>();
  const indicators = new Map<string, Set<string>>();
  const changing = new Set<string>();
  for (const [n, version] of versions.entries()) {
    if (version === undefined) continue;
    const other = latest.get(version.id) ?? version;
    if (other.statedAt !== version.statedAt || other.withdrawn !== version.withdrawn)
      changing.add(version.id);
    latest.set(version.id, laterVersion(other, version));
    const stated = indicators.get(version.id) ?? new Set();
    indicators.set(version.id, stated.add(ids[n] ?? ''));
  }
  return { latest, indicators, changing };
}

/** The statements of the source whose records a batch states, as they are planned. */
interface PlannedStatements<S> {
  /** Returns a statement that may be changed; undefined: there is none. */
  find(indicatorId: string): S | undefined;
  change(indicatorId: string, statement: S): void;
}

/**
 * Returns a function that applies versions of records to statements in the order of the batch, and withdraws records from the indicators
 * that their latest version is not about. It takes a version and the indicator that it is about, whose statement is left to the caller,
 * and returns the latest version of the record.
 */
export function versionReplacer<S extends Statement>(
  { indicators }: StatedVersions,
  { others, withdrawals }: StoredVersions,
  { find, change }: PlannedStatements<S>,
): (version: RecordVersion, about: string) => RecordVersion {
  const holders = new Map([...indicators].map(([recordId, ids]) => [recordId, [...ids]]));
  for (const { recordId, id } of others) holders.get(recordId)?.push(id);
  const latest = new Map<string, RecordVersion>();
  return (version, about) => {
    const held = holders.get(version.id) ?? [];
    const before = latest.get(version.id);
    const stored = () => [
      ...held.flatMap((id) => versionAmong(find(id)?.records ?? [], version.id) ?? []),
      withdrawals.get(version.id) ?? version,
    ];
    const after = before ? laterVersion(before, version) : stored().reduce(laterVersion, version);
    latest.set(version.id, after);
    // All of them have been compared with this version already.
    if (after === before) return after;
    for (const id of held) {
      if (id === about) continue;
      const statement = find(id);
      const changed = statement && withLatest(statement, after);
      if (changed && changed !== statement) change(id, changed);
    }
    return after;
  };
}

/** Returns the ids of the indicators whose stored statement may change although it is stated again. */
export function changeableIndicators(
  { indicators, changing }: StatedVersions,
  { others, withdrawals }: StoredVersions,
): ReadonlySet<string> {
  const records = new Set([...changing, ...others.map(({ recordId }) => recordId), ...withdrawals.keys()]);
  return new Set([...records].flatMap((record) => [...(indicators.get(record) ?? [])]));
}

/** Returns the ids of the indicators that earlier versions of the records were about, whether or not they are replaced already. */
export function replacedIndicators({ latest }: StatedVersions, { others }: StoredVersions): string[] {
  return others.flatMap(({ recordId, id, statedAt }) =>
    statedAt <= (latest.get(recordId)?.statedAt ?? '') ? id : [],
  );
}

/**
 * Returns the withdrawals that no indicator holds, of which an older version of the record may still be imported.
 * @param recordsOf the records of the source about an indicator
 */
export function unheldWithdrawals(
  { latest, indicators }: StatedVersions,
  { others }: StoredVersions,
  recordsOf: (indicatorId: string) => readonly SourceRecord[],
): RecordVersion[] {
  const held = new Set(others.map(({ recordId }) => recordId));
  const isHeld = (recordId: string) => (indicatorId: string) =>
    recordsOf(indicatorId).some(({ id }) => id === recordId);
  return [...latest.values()].filter(
    ({ id, withdrawn }) => withdrawn && !held.has(id) && ![...(indicators.get(id) ?? [])].some(isHeld(id)),
  );
}
