import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Db } from '../db/database.ts';
import { forgetHoldsOfSource } from '../feeds/feed-guards.queries.ts';
import { recordDayCounts } from '../feeds/feed-guards.ts';
import { type Importer, type ImportRecord, UnreadableInput } from '../importers/importer.ts';
import type { OpenImporter } from '../importers/parser-threads.ts';
import type { AssertLease } from '../imports/import-context.ts';
import { createCounts, type ImportCounts, type WidestNetworks } from '../imports/import-context.ts';
import { importFiles } from '../imports/imports.service.ts';
import { indicatorId } from '../model/identity.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { OutboundError } from '../outbound/outbound-error.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import { delistMissing } from './delist-missing.ts';
import { feedRulesOf } from './feed-kinds.ts';
import {
  countMembers,
  dropLease,
  findRunState,
  findStoredSource,
  forgetMemory,
  holdsLease,
  LEASE_MS,
  renewLease,
  takeLease,
  writeOutcome,
} from './feeds.queries.ts';
import { FeedRunError, type Fetched } from './fetching.ts';
import type { Counts, DelistingCounts, FetchState, RunCounts, StoredSource } from './source-settings.ts';
import { type Copy, inputOf, validateFeed } from './validate-feed.ts';

export interface RunDeps {
  db: Db;
  outbound: Outbound;
  secrets: SecretBox;
  /** The directory for the files of runs. */
  directory: string;
  /** The maximum size of all responses of one run together, decoded, in bytes. */
  maxBytes: number;
  /** The widest networks that are imported. */
  widest: WidestNetworks;
  /** The version of the product. */
  version: string;
  openImporter: OpenImporter;
}

export interface RunResult {
  /** null: the run succeeded. */
  error: string | null;
  /** null: nothing had changed at the source, or the run failed. */
  counts: RunCounts | null;
}

const RENEWAL_MS = 30_000;

export interface RunOptions {
  now: Date;
  signal: AbortSignal;
  /** Whether a snapshot list may lose most of its members, and take feeds under their bounds. */
  allowShrink?: boolean;
}

/**
 * Fetches a source and imports what is new. Everything is fetched and parsed before anything is written: a feed that
 * cannot be fetched or parsed changes only the health of its source. A source has at most one run at a time; a change
 * of its settings ends that run.
 * @throws on an internal error, such as a failure of the database, or when there is no such source
 */
export async function runSource(
  deps: RunDeps,
  id: string,
  { now, signal, allowShrink = false }: RunOptions,
): Promise<RunResult> {
  const { db } = deps;
  const token = randomUUID();
  if (!(await takeLease(db, id, token, now, new Date(now.getTime() + LEASE_MS)))) {
    if (!(await findStoredSource(db, id))) throw new Error('there is no such source');
    return { error: 'it is being fetched already', counts: null };
  }
  const stopRenewing = keepLease(db, id, token, now);
  try {
    const [source, state] = [await findStoredSource(db, id), await findRunState(db, id)];
    if (!source || !state) throw new Error('there is no such source');
    return await runLeased(deps, { source, state, token, now, signal, allowShrink });
  } finally {
    stopRenewing();
  }
}

/** Renews a lease until the returned function is called; a renewal that fails is left to the next one. */
function keepLease(db: Db, id: string, token: string, now: Date): () => void {
  const start = performance.now();
  const timer = setInterval(() => {
    const until = new Date(now.getTime() + (performance.now() - start) + LEASE_MS);
    renewLease(db, id, token, until).catch(() => {});
  }, RENEWAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

interface LeasedRun extends Required<RunOptions> {
  source: StoredSource;
  state: NonNullable<Awaited<ReturnType<typeof findRunState>>>;
  token: string;
}

/**
 * Returns what decides which records of the same copy are imported. The memory of a run by another version or with other
 * bounds is discarded, because that may have imported less or more.
 */
function readingOf({ version, widest }: Pick<RunDeps, 'version' | 'widest'>): string {
  return `${version} IPv4 /${widest.IPV4} IPv6 /${widest.IPV6}`;
}

/** Carries out a run that holds the lease of its source, and releases it. */
async function runLeased(
  deps: RunDeps,
  { source, state, token, now, signal, allowShrink }: LeasedRun,
): Promise<RunResult> {
  const { db } = deps;
  const { id } = source;
  const next =
    source.intervalSeconds === null ? null : new Date(now.getTime() + source.intervalSeconds * 1000);
  const outcome = { at: now, dueAt: source.health.nextRunAt, nextRunAt: source.enabled ? next : null };
  let directory: string | null = null;
  try {
    await mkdir(deps.directory, { recursive: true, mode: 0o700 });
    directory = await mkdtemp(join(deps.directory, 'run-'));
    const reading = readingOf(deps);
    const memory = state.memory.reading === reading ? state.memory : {};
    const fetched = await fetchFeed(deps, source, state.credentials, memory, directory, now, signal);
    const importer = deps.openImporter(rulesOf(source).importer, source.options);
    const guard = guardOf(id, token);
    // If the run ends between its batches, the source may go back to the copy before, of which nothing would then be read.
    const beforeWriting = () => forgetMemory(db, id, token);
    const run = { source, importer, now, signal, allowShrink, guard, widest: deps.widest, beforeWriting };
    if (source.isSnapshotList) await recordDayCounts(db, now);
    const hasNews = fetched.files.length > 0 || (fetched.skipped?.length ?? 0) > 0;
    const counts = hasNews ? await importFeed(db, fetched, run) : null;
    // What is held back is decided again by the next run, so that one fetches the copy even if it has not changed.
    const isHeldBack = counts !== null && counts.heldBack > 0;
    const fetchState: FetchState = isHeldBack ? {} : { ...fetched.memory, reading };
    await writeOutcome(db, id, token, { ...outcome, error: null, counts, memory: fetchState });
    return { error: null, counts };
  } catch (error) {
    const message = operatorMessage(error, signal);
    // A run that was stopped leaves its source due.
    if (message === STOPPED) await dropLease(db, id, token);
    else {
      await writeOutcome(db, id, token, {
        ...outcome,
        nextRunAt: notBefore(outcome.nextRunAt, error),
        error: message ?? OWN_FAULT,
        counts: null,
        memory: {},
      });
    }
    if (message === null) throw error;
    return { error: message, counts: null };
  } finally {
    if (directory !== null) await rm(directory, { recursive: true, force: true });
  }
}

/** Returns the scheduled time of the next run, or the time from which a busy source accepts requests, if later. */
function notBefore(next: Date | null, error: unknown): Date | null {
  const retryAt = error instanceof FeedRunError ? error.retryAt : null;
  return next && retryAt && retryAt > next ? retryAt : next;
}

const STOPPED = 'the run was stopped';
const OWN_FAULT = 'internal error; see the log';

/** Returns the error message for the operator; null: it is an internal error. */
function operatorMessage(error: unknown, signal: AbortSignal): string | null {
  if (signal.aborted) return isTimeout(signal.reason) ? 'the run took too long' : STOPPED;
  if (error instanceof FeedRunError || error instanceof OutboundError || error instanceof UnreadableInput)
    return error.message;
  return null;
}

const isTimeout = (reason: unknown) => reason instanceof DOMException && reason.name === 'TimeoutError';

function guardOf(id: string, token: string): AssertLease {
  return async (trx) => {
    if (!(await holdsLease(trx, id, token)))
      throw new FeedRunError('the settings of the source changed during the run');
  };
}

async function fetchFeed(
  deps: RunDeps,
  source: StoredSource,
  sealed: string | null,
  memory: FetchState,
  directory: string,
  now: Date,
  signal: AbortSignal,
): Promise<Fetched> {
  const credentials = sealed === null ? {} : openCredentials(deps.secrets, sealed);
  const { outbound, maxBytes } = deps;
  const context = {
    source,
    memory,
    credentials,
    outbound,
    directory,
    maxBytes,
    fetched: { bytes: 0 },
    now,
    signal,
  };
  return rulesOf(source).fetch(context);
}

function openCredentials(secrets: SecretBox, sealed: string): Record<string, string> {
  try {
    return JSON.parse(secrets.open(sealed));
  } catch (error) {
    throw new FeedRunError((error as Error).message);
  }
}

function rulesOf(source: Pick<StoredSource, 'kind'>) {
  const rules = feedRulesOf(source.kind);
  if (!rules) throw new FeedRunError('it is imported by hand, not fetched');
  return rules;
}

interface Run {
  source: StoredSource;
  importer: Importer;
  now: Date;
  signal: AbortSignal;
  allowShrink: boolean;
  guard: AssertLease;
  widest: WidestNetworks;
  /** Called for a whole copy that is valid. */
  beforeWriting(): Promise<void>;
}

async function importFeed(db: Db, fetched: Fetched, run: Run): Promise<RunCounts> {
  const { source, importer, now, signal, guard, widest } = run;
  const copy = fetched.whole
    ? { members: source.isSnapshotList, ids: new Set<string>(), repeated: new Set<string>() }
    : null;
  await validateFeed(importer, fetched, copy, signal);
  const present = source.isSnapshotList && copy ? copy.ids : null;
  if (present && !run.allowShrink) await rejectShrink(db, source, present);
  if (copy) await run.beforeWriting();
  const counts = createCounts();
  const files = fetched.files.map((file) => ({
    importer: copy ? markCompleteStatements(importer, copy) : importer,
    input: inputOf(file),
  }));
  for (const { reason, where } of fetched.skipped ?? []) counts.reject('report', reason, where);
  const broken = await importFiles(db, files, {
    source,
    now,
    dryRun: false,
    counts,
    tlpCeiling: 'RED',
    widest,
    writer: { guard, runId: null },
    signal,
  });
  if (broken[0]) throw new FeedRunError(broken[0].message);
  if (!present) {
    if (!source.isSnapshotList) await forgetHoldsOfSource(db, source.id);
    return { ...countsOf(counts), ...NO_DELISTING };
  }
  const delisted = await delistMissing(db, {
    sourceId: source.id,
    present,
    lastCopyAt: source.health.lastSuccessAt,
    now,
    allowShrink: run.allowShrink,
    assertLease: guard,
  });
  return { ...countsOf(counts), ...delisted };
}

const NO_DELISTING: DelistingCounts = { left: 0, heldBack: 0, heldBackFeeds: [], unguardedFeeds: [] };

/** Returns the importer, which marks records that are the complete undated statement about their indicator. */
function markCompleteStatements(importer: Importer, { repeated }: Copy): Importer {
  function* markIn(part: Iterable<ImportRecord>) {
    for (const record of part) {
      const isCompleteStatement =
        record.kind === 'indicator' &&
        record.statedAt === null &&
        !repeated.has(indicatorId(record.type, record.normalized));
      yield isCompleteStatement ? { isCompleteStatement, ...record } : record;
    }
  }
  return {
    ...importer,
    async *read(input) {
      for await (const part of importer.read(input)) yield markIn(part);
    },
  };
}

/** A list with fewer members may lose any number of them. */
const SMALL_LIST = 20;
const MAX_LEAVING_SHARE = 0.5;

/**
 * Rejects a list that has lost most of its members: a maintenance page that contains a link parses as a list of one.
 * @throws {FeedRunError} with the numbers
 */
async function rejectShrink(db: Db, source: StoredSource, present: ReadonlySet<string>): Promise<void> {
  const members = await countMembers(db, source.id);
  if (members < SMALL_LIST || present.size >= members * MAX_LEAVING_SHARE) return;
  throw new FeedRunError(
    `the list shrank from ${members} to ${present.size} members; to accept that: tipline sources run "${source.name}" --allow-shrink`,
  );
}

function countsOf({ kinds, hidden }: ImportCounts): Omit<RunCounts, keyof DelistingCounts> {
  const counts = { ...none(), hidden, others: none(), reasons: {} as Record<string, number> };
  for (const [kind, ofKind] of kinds) {
    const sum = kind === 'indicator' ? counts : counts.others;
    for (const key of ['read', 'new', 'updated', 'unchanged', 'rejected'] as const) sum[key] += ofKind[key];
    for (const [reason, count] of Object.entries(ofKind.reasons)) {
      counts.reasons[reason] = (counts.reasons[reason] ?? 0) + count;
    }
  }
  return counts;
}

const none = (): Counts => ({ read: 0, new: 0, updated: 0, unchanged: 0, rejected: 0 });

/** The age from which a run's directory is deleted: a worker's run never takes so long. */
const OLD_RUN_MS = 2 * 3600_000;

/**
 * Deletes the directories of killed runs.
 * @param ageMs the age from which a directory is that of a killed run
 */
export async function removeOldRuns(directory: string, now: Date, ageMs = OLD_RUN_MS): Promise<void> {
  const entries = await readdir(directory).catch(() => []);
  for (const name of entries.filter((entry) => entry.startsWith('run-'))) {
    const path = join(directory, name);
    // Another process may have deleted it meanwhile.
    const found = await stat(path).catch(() => null);
    if (found && found.mtimeMs < now.getTime() - ageMs) await rm(path, { recursive: true, force: true });
  }
}
