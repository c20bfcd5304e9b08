import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Db } from '../../db/open.ts';
import { type Importer, type ImportInput, UnreadableInput } from '../../importers/importer.ts';
import { importerNamed } from '../../importers/named.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';
import type { SecretBox } from '../../secrets/secret-box.ts';
import { importFiles } from '../imports/imports.service.ts';
import { newTally, type Tally } from '../imports/tally.ts';
import { FEED_RULES } from './feed-kinds.ts';
import { findRunState, findStoredSource, writeOutcome } from './feeds.queries.ts';
import { BrokenRun, type Fetched, type FetchedFile } from './fetching.ts';
import { leaveList } from './leave-list.ts';
import {
  FEED_KINDS,
  type FeedKind,
  type Memory,
  type RunCounts,
  type StoredSource,
} from './source-settings.ts';

export interface RunDeps {
  db: Db;
  outbound: Outbound;
  secrets: SecretBox;
  /** Where a run may put files. */
  directory: string;
  /** Of all that one run fetches, decoded, in bytes. */
  maxBytes: number;
  /** The version of the product: another one may read more out of the same feed. */
  version: string;
}

export interface RunResult {
  /** null: it went well. */
  error: string | null;
  /** null: nothing had changed at the source, or nothing could be read. */
  counts: RunCounts | null;
}

/**
 * Fetches a source and imports what is new. Everything is fetched and read through before anything is written: a run
 * that breaks changes nothing but the source's health.
 * @throws when the database fails, or there is no such source
 */
export async function runSource(
  deps: RunDeps,
  id: string,
  now: Date,
  signal: AbortSignal,
): Promise<RunResult> {
  const source = await findStoredSource(deps.db, id);
  const state = await findRunState(deps.db, id);
  if (!source || !state) throw new Error('there is no such source');
  const next = source.everySeconds === null ? null : new Date(now.getTime() + source.everySeconds * 1000);
  await mkdir(deps.directory, { recursive: true, mode: 0o700 });
  const directory = await mkdtemp(join(deps.directory, 'run-'));
  const outcome = { at: now, nextRunAt: source.enabled ? next : null };
  try {
    const memory = state.memory.version === deps.version ? state.memory : {};
    const fetched = await fetchFeed(deps, source, state.credentials, memory, directory, now, signal);
    const counts = fetched.files.length > 0 ? await importFeed(deps, source, fetched, now) : null;
    const kept: Memory = { ...fetched.memory, version: deps.version };
    await writeOutcome(deps.db, id, { ...outcome, error: null, counts, memory: kept });
    return { error: null, counts };
  } catch (error) {
    const message = told(error);
    if (message === null) throw error;
    await writeOutcome(deps.db, id, { ...outcome, error: message, counts: null, memory: {} });
    return { error: message, counts: null };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What an operator is told; null: it is not the source's fault. */
function told(error: unknown): string | null {
  if (error instanceof BrokenRun || error instanceof OutboundError || error instanceof UnreadableInput)
    return error.message;
  return null;
}

async function fetchFeed(
  deps: RunDeps,
  source: StoredSource,
  sealed: string | null,
  memory: Memory,
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
    throw new BrokenRun((error as Error).message);
  }
}

function rulesOf(source: Pick<StoredSource, 'kind'>) {
  const kind = FEED_KINDS.find((known) => known === source.kind);
  if (!kind) throw new BrokenRun('it is imported by hand, not fetched');
  return FEED_RULES[kind satisfies FeedKind];
}

async function importFeed(
  deps: RunDeps,
  source: StoredSource,
  fetched: Fetched,
  now: Date,
): Promise<RunCounts> {
  const { db } = deps;
  const importer = importerNamed(rulesOf(source).importer, source.options);
  await readThrough(importer, fetched.files);
  const tally = newTally();
  const seen = source.membership && fetched.whole ? new Set<string>() : undefined;
  const files = fetched.files.map((file) => ({ importer, input: inputOf(file) }));
  for (const { reason, where } of fetched.skipped ?? []) tally.reject('report', reason, where);
  await importFiles(db, files, { source, now, dryRun: false, tally, ...(seen && { seen }) });
  const left = seen ? await leaveList(db, source.id, seen, source.health.lastSuccessAt, now) : 0;
  return { ...countsOf(tally), left };
}

function inputOf({ label, path }: FetchedFile): ImportInput {
  return { fileName: label, open: () => createReadStream(path) };
}

/** Of so few records nothing can be told by a share. */
const FEW = 20;
const MOST_REJECTED = 0.5;

/**
 * Reads all of it, and writes nothing: a feed that has become something else must not change anything.
 * @throws {UnreadableInput} or {BrokenRun}, saying what is wrong
 */
async function readThrough(importer: Importer, files: readonly FetchedFile[]): Promise<void> {
  let [accepted, rejected] = [0, 0];
  const reasons = new Map<string, number>();
  for (const file of files) {
    for await (const record of importer.read(inputOf(file))) {
      if (record.kind !== 'rejected') accepted++;
      else {
        rejected++;
        if (reasons.size < 1000) reasons.set(record.reason, (reasons.get(record.reason) ?? 0) + 1);
      }
    }
  }
  const tooMany = rejected > FEW && rejected > (accepted + rejected) * MOST_REJECTED;
  if (!tooMany && (accepted > 0 || rejected === 0)) return;
  const [reason] = [...reasons].sort(([, a], [, b]) => b - a)[0] ?? [''];
  throw new BrokenRun(`${rejected} of ${accepted + rejected} records cannot be used, most often: ${reason}`);
}

function countsOf({ kinds, hidden }: Tally): Omit<RunCounts, 'left'> {
  const counts = {
    read: 0,
    new: 0,
    updated: 0,
    unchanged: 0,
    rejected: 0,
    reasons: {} as Record<string, number>,
  };
  for (const tally of kinds.values()) {
    for (const key of ['read', 'new', 'updated', 'unchanged', 'rejected'] as const) counts[key] += tally[key];
    for (const [reason, count] of Object.entries(tally.reasons)) {
      counts.reasons[reason] = (counts.reasons[reason] ?? 0) + count;
    }
  }
  return { ...counts, hidden };
}
