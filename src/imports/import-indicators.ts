import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import { commitRevision, lockRevision, readRevision } from '../db/revision/revision.ts';
import type { Tables } from '../db/tables.ts';
import { requestAutomatic } from '../enrichment/access-tracker.ts';
import { PRIORITY } from '../enrichment/requests.queries.ts';
import { type ExternalIdWrite, writeExternalIds } from '../entities/resolution/external-ids.queries.ts';
import type { IndicatorRecord } from '../importers/importer.ts';
import { recompute, sameHit } from '../indicators/state/recompute.ts';
import {
  type IndicatorWrite,
  type KnownIndicator,
  loadIndicators,
  type StatementWrite,
  writeIndicators,
  writeStatements,
} from '../indicators/state/state.queries.ts';
import { indicatorId } from '../model/identity.ts';
import {
  compareTlp,
  mergeStatements,
  replaceUndated,
  type SourceStatement,
  type Statement,
  sameStatement,
  uniqueTags,
} from '../model/statement.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { loadSources, type Source } from '../sources/store/sources.queries.ts';
import { currentMatcher } from '../whitelist/current-matcher.ts';
import type { WhitelistMatcher } from '../whitelist/matching/matcher.ts';
import { type LeaseHolder, NO_LEASE } from './assert-lease.ts';
import { hasUndoable, keepObjects } from './changes.queries.ts';
import type { ImportCounts } from './counts.ts';
import type { DryRun } from './dry-run.ts';

/** What a batch would change. */
interface Plan {
  /** The revision up to which it was worked out. */
  revision: number;
  indicators: IndicatorWrite[];
  statements: StatementWrite[];
  externalIds: ExternalIdWrite[];
  outcomes: Outcome[];
  /** Of all that the batch speaks of. */
  said: string[];
  /** Of those whose statement it changes. */
  changed: string[];
}

type Outcome = 'new' | 'updated' | 'unchanged';

/**
 * Imports a batch: works out without a lock what it changes, then, when it changes anything, takes the revision
 * and writes. When somebody else has written in between it is worked out again, under the lock.
 */
export async function importIndicators(
  db: Db,
  source: Source,
  records: readonly IndicatorRecord[],
  now: Date,
  counts: ImportCounts,
  tlpCeiling: Tlp,
  writer: LeaseHolder = NO_LEASE,
): Promise<void> {
  const mayBeUndone = await hasUndoable(db, source, writer.runId);
  let plan = await planBatch(db, source, records, now, tlpCeiling);
  if (mayBeUndone || changesAnything(plan)) {
    await db.transaction().execute(async (trx) => {
      const lock = await lockRevision(trx);
      await writer.guard(trx);
      if (lock.previous !== plan.revision) plan = await planBatch(trx, source, records, now, tlpCeiling);
      await keepObjects(trx, { source, runId: writer.runId, revision: lock.next }, 'indicator', plan);
      if (changesAnything(plan)) await write(trx, plan, lock, now);
    });
  }
  for (const outcome of plan.outcomes) counts.count('indicator', outcome);
  counts.hidden += plan.indicators.filter(({ shown }) => shown.suppressedBy !== null).length;
}

export async function dryRunIndicators(
  db: Db,
  source: Source,
  records: readonly IndicatorRecord[],
  now: Date,
  counts: ImportCounts,
  dryRunState: DryRun,
  tlpCeiling: Tlp,
): Promise<void> {
  const plan = await planBatch(db, source, records, now, tlpCeiling, dryRunState);
  for (const outcome of plan.outcomes) counts.count('indicator', outcome);
}

async function planBatch(
  db: Db,
  given: Source,
  records: readonly IndicatorRecord[],
  now: Date,
  tlpCeiling: Tlp,
  dryRunState?: DryRun,
): Promise<Plan> {
  // The revision is read before the rows: rows read later can only be newer, and then it is planned again.
  const revision = await readRevision(db);
  const matcher = await currentMatcher(db);
  // What is set for it may have changed since the import began.
  const source = (await loadSources(db, [given.id])).get(given.id) ?? given;
  const byId = new Map(records.map((record) => [indicatorId(record.type, record.normalized), record]));
  const known = await loadIndicators(db, [...byId.keys()]);
  dryRunState?.recall(byId.keys(), known);
  const fresh = new Set([...byId.keys()].filter((id) => !known.has(id)));
  const changed = new Set<string>();
  const externalIds: ExternalIdWrite[] = [];
  const outcomes = records.map((record): Outcome => {
    const id = indicatorId(record.type, record.normalized);
    const entry = known.get(id);
    const current = entry ?? unknownIndicator(record);
    const before = current.statements.get(source.id);
    // What is above the ceiling of whoever imports is told of as what is not there.
    const isSecret = entry?.stored != null && compareTlp(entry.stored.tlp, tlpCeiling) > 0;
    const isNew =
      !entry ||
      entry.statements.size === 0 ||
      (isSecret && (!before || compareTlp(before.tlp, tlpCeiling) > 0));
    const after = withRecord(before, record, source, now);
    const newIds = record.externalIds.filter((externalId) => !current.externalIds.has(externalId));
    for (const externalId of newIds) {
      current.externalIds.add(externalId);
      externalIds.push({ externalId, id, kind: 'indicator' });
    }
    const sameValue = current.value <= record.value;
    if (before && sameStatement(before, after) && newIds.length === 0 && sameValue)
      return isNew ? 'new' : 'unchanged';
    if (!sameValue) current.value = record.value;
    current.statements.set(source.id, { ...after, source });
    known.set(id, current);
    dryRunState?.keep(id, current);
    changed.add(id);
    return isNew ? 'new' : 'updated';
  });
  return {
    revision,
    ...writesFor(changed, fresh, known, source, matcher, now),
    externalIds,
    outcomes,
    said: [...byId.keys()],
    changed: [...changed],
  };
}

function unknownIndicator({ type, normalized, value }: IndicatorRecord): KnownIndicator {
  return {
    type,
    normalized,
    value,
    pinned: null,
    statements: new Map(),
    scores: [],
    externalIds: new Set(),
    stored: null,
  };
}

function writesFor(
  changed: ReadonlySet<string>,
  fresh: ReadonlySet<string>,
  known: ReadonlyMap<string, KnownIndicator>,
  source: Source,
  matcher: WhitelistMatcher,
  now: Date,
): Pick<Plan, 'indicators' | 'statements'> {
  const indicators: IndicatorWrite[] = [];
  const statements: StatementWrite[] = [];
  for (const id of [...changed].sort()) {
    const entry = known.get(id);
    const statement = entry?.statements.get(source.id);
    if (!entry || !statement) continue;
    const { type, value, normalized, stored } = entry;
    const shown = recompute(entry, matcher, now);
    const hitChanges = !sameHit(stored?.suppressedBy ?? null, shown.suppressedBy);
    // The number's place is held by a 0 until it is given out under the lock.
    indicators.push({ id, number: fresh.has(id) ? 0 : null, type, value, normalized, shown, hitChanges });
    statements.push({ indicatorId: id, sourceId: source.id, statement });
  }
  return { indicators, statements };
}

function withRecord(
  before: SourceStatement | undefined,
  record: IndicatorRecord,
  source: Source,
  now: Date,
): Statement {
  const said: Statement = {
    statedAt: record.statedAt,
    firstSeen: record.firstSeen,
    lastSeen: record.lastSeen,
    // Hearing it again is no sighting.
    importedAt: before?.importedAt ?? now,
    expiresAt: record.expiresAt,
    confidence: record.confidence,
    severity: record.severity,
    tlp: record.tlp ?? source.defaults.tlp,
    tags: uniqueTags(record.tags),
    forDetection: record.forDetection,
    delistedAt: null,
  };
  if (!before) return said;
  // Back in a list that it had left: that is a sighting.
  if (before.delistedAt && source.isSnapshotList) said.lastSeen = laterOf(said.lastSeen, now);
  const undated = before.statedAt === null && said.statedAt === null;
  return undated && record.isCompleteStatement ? replaceUndated(before, said) : mergeStatements(before, said);
}

function laterOf(a: Date | null, b: Date): Date {
  return a && a > b ? a : b;
}

function changesAnything({ indicators, externalIds }: Plan): boolean {
  return indicators.length > 0 || externalIds.length > 0;
}

async function write(
  trx: Transaction<Tables>,
  plan: Plan,
  lock: Awaited<ReturnType<typeof lockRevision>>,
  now: Date,
): Promise<void> {
  let number = lock.lastNumber;
  const numbered = plan.indicators.map((row) => (row.number === null ? row : { ...row, number: ++number }));
  await writeIndicators(trx, numbered, lock.next, now);
  await writeStatements(trx, plan.statements);
  await writeExternalIds(trx, plan.externalIds);
  const fresh = plan.indicators.filter((row) => row.number !== null).map(({ id }) => id);
  await requestAutomatic(trx, fresh, PRIORITY.policy, now);
  await commitRevision(trx, lock, number - lock.lastNumber);
}
