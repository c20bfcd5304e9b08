import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import { deferIndexes } from '../db/pending-lists.ts';
import { type OpenRevision, readRevision } from '../db/revision/revision.ts';
import type { Tables } from '../db/tables.ts';
import { requestAutomatic } from '../enrichment/access-tracker.ts';
import { PRIORITY } from '../enrichment/requests.queries.ts';
import { type ExternalIdWrite, writeExternalIds } from '../entities/resolution/external-ids.queries.ts';
import type { IndicatorRecord } from '../importers/importer.ts';
import { recompute, sameHit } from '../indicators/state/recompute.ts';
import { findOtherHolders } from '../indicators/state/records.queries.ts';
import {
  findExisting,
  findSameStatements,
  type IndicatorWrite,
  type LoadedIndicator,
  loadIndicators,
  type PreparedIndicators,
  prepareIndicators,
  prepareStatements,
  type StatementWrite,
  writeIndicators,
  writeStatements,
} from '../indicators/state/state.queries.ts';
import { indicatorId } from '../model/identity.ts';
import { isForDetection, latestRecords, markedRecords, type RecordVersion } from '../model/source-record.ts';
import {
  compareTlp,
  mergeStatements,
  replaceUndated,
  type SourceStatement,
  type Statement,
  sameShownStatement,
  sameStatement,
  uniqueTags,
  withLatest,
  withoutRecord,
} from '../model/statement.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { loadSources, type Source } from '../sources/store/sources.queries.ts';
import { currentMatcher } from '../whitelist/current-matcher.ts';
import type { WhitelistMatcher } from '../whitelist/matching/matcher.ts';
import { recordObjectChanges } from './changes.queries.ts';
import type { DryRun } from './dry-run.ts';
import { type ImportContext, writePlanned } from './import-context.ts';
import {
  changeableIndicators,
  ownVersion,
  replacedIndicators,
  statedVersions,
  unheldWithdrawals,
  versionReplacer,
} from './record-versions.ts';
import { findWithdrawals, writeWithdrawals } from './withdrawals.queries.ts';

/** The changes that a batch would make. */
export interface IndicatorPlan {
  /** The revision that the plan is based on. */
  revision: number;
  indicators: PreparedIndicators;
  /** Of changed indicators of which the source has no statement yet, and of others. */
  addedStatements: ReturnType<typeof prepareStatements>;
  changedStatements: ReturnType<typeof prepareStatements>;
  externalIds: ExternalIdWrite[];
  /** Withdrawals of records that no indicator holds, and how many of them are not stored yet. */
  withdrawals: RecordVersion[];
  newWithdrawals: number;
  outcomes: Outcome[];
  /** Ids of all indicators in the batch but those of rejected withdrawals, and of others that earlier versions of its records were about. */
  objectIds: string[];
  /** Ids of the records that stand for objects of the source. */
  recordIds: string[];
  /** Ids of the indicators whose statement the batch changes. */
  changed: string[];
  /** Ids of the changed indicators of which the source has no statement yet. */
  added: string[];
}

type Outcome = 'new' | 'updated' | 'unchanged' | 'withdrawn';

/**
 * Imports a batch of indicators.
 * @param early the plan of the batch, if it was begun while another batch was being written
 */
export async function importIndicators(
  context: ImportContext,
  records: readonly IndicatorRecord[],
  dryRunState: DryRun,
  early?: Promise<IndicatorPlan>,
): Promise<void> {
  const { counts, dryRun, now } = context;
  const plan = await writePlanned(
    context,
    (db) => planIndicators({ ...context, db }, records, dryRunState),
    changesAnything,
    async (trx, planned, revision, keeper) => {
      await recordObjectChanges(trx, keeper, 'indicator', planned);
      await writeWithdrawals(trx, keeper, planned.withdrawals);
      if (!changesAnything(planned)) return;
      if (!context.lastBatch.besideReaders) await deferIndexes(trx);
      await write(trx, planned, revision, now);
    },
    early,
  );
  for (const [n, outcome] of plan.outcomes.entries()) {
    const { withdrawn = '', externalIds: [where = ''] = [] } = records[n] ?? {};
    if (outcome === 'withdrawn') counts.reject('indicator', withdrawn, where);
    else counts.count('indicator', outcome);
  }
  if (!dryRun)
    counts.hidden += plan.indicators.writes.filter(({ shown }) => shown.suppressedBy !== null).length;
}

/** Plans the changes of a batch. */
export async function planIndicators(
  { db, source: given, now, dryRun, tlpCeiling, lastBatch }: ImportContext,
  records: readonly IndicatorRecord[],
  dryRunState: DryRun,
): Promise<IndicatorPlan> {
  // The revision is read before the rows: after a commit in between, the batch is planned again.
  const revision = await readRevision(db);
  const matcher = await currentMatcher(db);
  // The settings of the source may have changed since the import began.
  const source = (await loadSources(db, [given.id])).get(given.id) ?? given;
  const ids = records.map(({ type, normalized }) => indicatorId(type, normalized));
  const objectIds = [...new Set(ids)];
  const versions = records.map(ownVersion);
  const stated = statedVersions(versions, ids);
  const others = await findOtherHolders(db, source.id, stated);
  const stored = { others, withdrawals: await findWithdrawals(db, source.id, [...stated.latest.keys()]) };
  const { existing: found, same } = await findStored(
    db,
    source,
    { records, ids, objectIds, changeable: changeableIndicators(stated, stored) },
    lastBatch,
    dryRun ? dryRunState : null,
  );
  const otherIds = new Set(others.flatMap(({ id, isSettled }) => (isSettled ? [] : id)));
  const existing = new Set([...found, ...otherIds]);
  const known = await loadIndicators(db, [
    ...new Set([...objectIds.filter((id) => found.has(id) && !same.has(id)), ...otherIds]),
  ]);
  if (dryRun) dryRunState.recall([...objectIds, ...otherIds], known);
  const added = new Set<string>();
  const changed = new Set<string>();
  const rewritten = new Set<string>();
  const externalIds: ExternalIdWrite[] = [];
  // An indicator above the ceiling counts as new, so that counts do not reveal it.
  const isAbove = (tlp: Tlp) => compareTlp(tlp, tlpCeiling) > 0;
  function change(id: string, indicator: LoadedIndicator, statement: Statement, isRewritten: boolean) {
    if (!indicator.statements.has(source.id)) added.add(id);
    indicator.statements.set(source.id, { source, ...statement });
    known.set(id, indicator);
    if (dryRun) dryRunState.keep(id, indicator);
    changed.add(id);
    if (isRewritten) rewritten.add(id);
  }
  const replaceEarlier = versionReplacer(stated, stored, {
    find(id) {
      const statement = known.get(id)?.statements.get(source.id);
      return statement && !isAbove(statement.tlp) ? statement : undefined;
    },
    change(id, statement) {
      const indicator = known.get(id);
      if (indicator) change(id, indicator, statement, true);
    },
  });
  const outcomes = records.map((record, n): Outcome => {
    const id = ids[n] ?? '';
    if (same.has(id)) return 'unchanged';
    const version = versions[n];
    const latest = version && replaceEarlier(version, id);
    const entry = known.get(id);
    const current = entry ?? unknownIndicator(record);
    const before = current.statements.get(source.id);
    const isSecret = entry?.stored != null && isAbove(entry.stored.tlp);
    const isNew = !entry || entry.statements.size === 0 || (isSecret && (!before || isAbove(before.tlp)));
    const merged =
      record.withdrawn === undefined
        ? withRecord(before, record, source, now)
        : before && !isAbove(before.tlp) && withdrawnFrom(before, record, current.externalIds);
    // The source states nothing about the indicator that it could withdraw.
    if (!merged) return 'withdrawn';
    const after = latest ? withLatest(merged, latest) : merged;
    const newIds = record.externalIds.filter((externalId) => !current.externalIds.has(externalId));
    for (const externalId of newIds) {
      current.externalIds.add(externalId);
      externalIds.push({ externalId, id, kind: 'indicator' });
    }
    const sameValue = current.value <= record.value;
    const isShownSame = before && sameShownStatement(before, after) && newIds.length === 0 && sameValue;
    if (isShownSame && sameStatement(before, after)) return isNew ? 'new' : 'unchanged';
    if (!sameValue) current.value = record.value;
    change(id, current, after, !isShownSame);
    return isNew ? 'new' : 'updated';
  });
  const withdrawals = unheldWithdrawals(
    stated,
    stored,
    (id) => known.get(id)?.statements.get(source.id)?.records ?? [],
  );
  return {
    revision,
    withdrawals,
    newWithdrawals: withdrawals.filter(
      ({ id, statedAt }) => (stored.withdrawals.get(id)?.statedAt ?? '') < statedAt,
    ).length,
    ...writesFor({ changed, added, rewritten, existing }, known, source, matcher, now),
    externalIds,
    outcomes,
    objectIds: [
      ...new Set([
        ...ids.filter((_, n) => outcomes[n] !== 'withdrawn'),
        ...replacedIndicators(stated, stored),
      ]),
    ],
    recordIds: [...stated.latest.keys()],
    changed: [...changed],
    added: [...added],
  };
}

interface IdentifiedRecords {
  records: readonly IndicatorRecord[];
  /** The id of the indicator of each record. */
  ids: readonly string[];
  /** The ids, each once. */
  objectIds: readonly string[];
  /** The ids of those whose stored statement may change although it is stated again. */
  changeable: ReadonlySet<string>;
}

/**
 * Returns which of the indicators exist, and those of them whose stored statement is exactly the one of their only record in the
 * batch: merging it once more changes nothing, so that they need not be loaded. Others may be unchanged as well.
 */
async function findStored(
  db: Db,
  source: Source,
  identified: IdentifiedRecords,
  expected: { mostAreSame: boolean },
  dryRunState: DryRun | null,
): Promise<{ existing: Set<string>; same: Set<string> }> {
  const { objectIds } = identified;
  // The plan of another batch may end meanwhile, and change what is expected.
  const { mostAreSame } = expected;
  // Where most statements of the last batch were the same, those that do not exist are found among the rest.
  const first = mostAreSame ? new Set(objectIds) : await findExisting(db, objectIds);
  const same = await findRestated(db, source, identified, first, dryRunState);
  const existing = mostAreSame
    ? new Set([
        ...same,
        ...(await findExisting(
          db,
          objectIds.filter((id) => !same.has(id)),
        )),
      ])
    : first;
  expected.mostAreSame = same.size * 2 > objectIds.length;
  return { existing, same };
}

/** @param among the ids of the indicators that may exist */
async function findRestated(
  db: Db,
  source: Source,
  { records, ids, changeable }: IdentifiedRecords,
  among: ReadonlySet<string>,
  dryRunState: DryRun | null,
): Promise<Set<string>> {
  const single = new Map<string, IndicatorRecord | null>();
  for (const [n, record] of records.entries()) {
    const id = ids[n] ?? '';
    if (among.has(id)) single.set(id, single.has(id) ? null : record);
  }
  const candidates = [...single].flatMap(([id, record]) =>
    record === null || record.withdrawn !== undefined || changeable.has(id) || dryRunState?.has(id)
      ? []
      : [
          {
            indicatorId: id,
            sourceId: source.id,
            value: record.value,
            externalIds: record.externalIds,
            statement: statementOf(record, source, NEVER),
          },
        ],
  );
  return findSameStatements(db, candidates);
}

/** Stands for the time of an import, which is not compared. */
const NEVER = new Date(0);

function unknownIndicator({ type, normalized, value }: IndicatorRecord): LoadedIndicator {
  return {
    type,
    normalized,
    value,
    pinned: null,
    statements: new Map(),
    lastSource: null,
    scores: [],
    externalIds: new Set(),
    stored: null,
  };
}

/** Ids of the indicators whose statement changes, is added, whose row is written again, and of those that have a row. */
type Changes = Record<'changed' | 'added' | 'rewritten' | 'existing', ReadonlySet<string>>;

function writesFor(
  { changed, added, rewritten, existing }: Changes,
  known: ReadonlyMap<string, LoadedIndicator>,
  source: Source,
  matcher: WhitelistMatcher,
  now: Date,
): Pick<IndicatorPlan, 'indicators' | 'addedStatements' | 'changedStatements'> {
  const indicators: IndicatorWrite[] = [];
  const statements: StatementWrite[] = [];
  let newPlace = 0;
  for (const id of [...changed].sort()) {
    const entry = known.get(id);
    const statement = entry?.statements.get(source.id);
    if (!entry || !statement) continue;
    statements.push({ indicatorId: id, sourceId: source.id, statement });
    // Exports of an indicator do not depend on the files that a hash is of: its version stays.
    if (!rewritten.has(id)) continue;
    const { type, value, normalized, stored } = entry;
    const shown = recompute(entry, matcher, now);
    const whitelistHitChanged = !sameHit(stored?.suppressedBy ?? null, shown.suppressedBy);
    indicators.push({
      id,
      newPlace: existing.has(id) ? null : ++newPlace,
      type,
      value,
      normalized,
      shown,
      whitelistHitChanged,
    });
  }
  return {
    indicators: prepareIndicators(indicators),
    addedStatements: prepareStatements(statements.filter(({ indicatorId }) => added.has(indicatorId))),
    changedStatements: prepareStatements(statements.filter(({ indicatorId }) => !added.has(indicatorId))),
  };
}

function withRecord(
  before: SourceStatement | undefined,
  record: IndicatorRecord,
  source: Source,
  now: Date,
): Statement {
  // A repeated import is not a sighting.
  const said = statementOf(record, source, before?.importedAt ?? now);
  if (!before) return said;
  // The return of a delisted indicator to a snapshot list is a sighting.
  if (before.delistedAt && source.isSnapshotList) said.lastSeen = laterOf(said.lastSeen, now);
  const undated = before.statedAt === null && said.statedAt === null;
  return undated && record.isCompleteStatement ? replaceUndated(before, said) : mergeStatements(before, said);
}

/** @param known the external ids of the indicator */
function withdrawnFrom(
  before: Statement,
  { externalIds: [id], statedAt, isCompleteStatement = false }: IndicatorRecord,
  known: ReadonlySet<string>,
): Statement | null {
  if (id === undefined || statedAt === null || (isCompleteStatement && !known.has(id))) return null;
  return withoutRecord(before, { id, statedAt }, isCompleteStatement);
}

/** Returns the statement of a source that has made no other about the indicator. */
function statementOf(record: IndicatorRecord, source: Source, importedAt: Date): Statement {
  return {
    statedAt: record.statedAt,
    firstSeen: record.firstSeen,
    lastSeen: record.lastSeen,
    importedAt,
    expiresAt: record.expiresAt,
    confidence: record.confidence,
    severity: record.severity,
    tlp: record.tlp ?? source.defaults.tlp,
    tags: uniqueTags(record.tags),
    forDetection: record.forDetection,
    ofCertificate: record.ofCertificate ?? false,
    files: record.file === undefined ? [] : [record.file],
    delistedAt: null,
    records: recordsOf(record),
    kev: record.kev ?? null,
  };
}

/** Returns the records of a statement; one of them is for detection if the statement is. */
function recordsOf({ records = [], externalIds: [id], statedAt, forDetection }: IndicatorRecord) {
  const marked = latestRecords(markedRecords(records, { forDetection }));
  if (marked.length === 0 || !forDetection || marked.some(isForDetection)) return marked;
  const own = { ...(id && { id }), ...(statedAt && { statedAt: statedAt.toISOString() }) };
  return latestRecords([own, ...marked]);
}

function laterOf(a: Date | null, b: Date): Date {
  return a && a > b ? a : b;
}

function changesAnything({ changed, externalIds, newWithdrawals }: IndicatorPlan): boolean {
  return changed.length > 0 || externalIds.length > 0 || newWithdrawals > 0;
}

async function write(
  trx: Transaction<Tables>,
  plan: IndicatorPlan,
  revision: OpenRevision,
  now: Date,
): Promise<void> {
  await writeIndicators(trx, plan.indicators, revision, now);
  await writeStatements(trx, plan.addedStatements, true);
  await writeStatements(trx, plan.changedStatements);
  await writeExternalIds(trx, plan.externalIds);
  const fresh = plan.indicators.writes.filter(({ newPlace }) => newPlace !== null).map(({ id }) => id);
  await requestAutomatic(trx, fresh, PRIORITY.policy, now);
  revision.advance(fresh.length);
}
