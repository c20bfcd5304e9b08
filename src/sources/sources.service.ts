import { type AuditActor, writeAudit } from '../audit/audit.queries.ts';
import type { Db } from '../db/database.ts';
import { idPages } from '../db/expressions.ts';
import { withRevision } from '../db/revision/revision.ts';
import { loadIndicators } from '../indicators/state/state.queries.ts';
import { findStatedIndicators } from '../indicators/state/stated.queries.ts';
import { endpointUrl, httpUrl } from '../model/normalize-url.ts';
import { expiryOf } from '../model/statement.ts';
import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import { recomputeInBatches } from '../whitelist/reevaluate.ts';
import { FEED_KINDS, feedRulesOf, optionsProblem } from './feed-kinds.ts';
import {
  findSources,
  findSourcesCalled,
  findStoredSource,
  markExpiredAsDelisted,
  markRecomputed,
  type StaleSource,
  staleSources,
  writeSource,
} from './feeds.queries.ts';
import type { SourceSettings, StoredSource } from './source-settings.ts';
import { sourceId } from './store/sources.queries.ts';

/** Thrown when a setting is invalid, or a source does not exist or cannot be removed; the message is for people. */
export class SourceError extends Error {
  override name = 'SourceError';
}

export interface Change extends AuditActor {
  /** Headers that are sent only to the origin of the address. undefined: unchanged; null: none. */
  credentials?: Record<string, string> | null;
}

const MAX_SOURCE_NAME = 200;
const MIN_INTERVAL_SECONDS = 60;

/**
 * Creates a source or changes its settings, and recomputes the indicators that it states.
 * @throws {SourceError} with the invalid setting and the allowed values; nothing is written then
 */
export async function saveSource(
  db: Db,
  secrets: SecretBox,
  settings: SourceSettings,
  { credentials, ...by }: Change,
): Promise<StoredSource> {
  const { now } = by;
  const id = sourceId(settings.name);
  const before = await findStoredSource(db, id);
  const hasKey = credentials === undefined ? (before?.hasCredentials ?? false) : credentials !== null;
  // A source of imported files stays one: it has no rules, and is not fetched.
  if (before && !feedRulesOf(before.kind) && settings.kind === before.kind) checkLifetimes(settings);
  else check(settings, hasKey);
  if (before?.hasCredentials && credentials === undefined)
    requireSameOrigin(before.address, settings.address);
  if (before && !before.isSnapshotList && settings.isSnapshotList) await delistExpired(db, id, now);
  await withRevision(db, async (trx, revision) => {
    const sealed = credentials ? secrets.seal(JSON.stringify(credentials)) : credentials;
    if (!(await writeSource(trx, id, settings, sealed, now)))
      throw new SourceError(`the source "${settings.name}" is being removed; wait until that has ended`);
    await writeAudit(trx, by, {
      action: before ? 'source.change' : 'source.add',
      object: { kind: 'source', id },
      before: before ? forAudit(before, before.hasCredentials) : null,
      after: forAudit(settings, hasKey),
      reason: null,
    });
    // Imports that are planned with the previous settings must be planned again.
    revision.advance();
  });
  for (const stale of await staleSources(db)) if (stale.id === id) await recomputeSource(db, stale, now);
  const saved = await findStoredSource(db, id);
  if (!saved) throw new SourceError('the source is gone');
  return saved;
}

/**
 * Marks what a source has ceased to keep as delisted, before the source becomes a complete list: nothing says that its list still has it.
 * For a source that is no list yet, the mark changes no expiry.
 */
async function delistExpired(db: Db, id: string, now: Date): Promise<void> {
  for await (const ids of idPages((after) => findStatedIndicators(db, id, after, BATCH, true))) {
    const expired = [...(await loadIndicators(db, ids))].flatMap(([indicatorId, { type, statements }]) => {
      const statement = statements.get(id);
      const expiry = statement && expiryOf(type, statement);
      return expiry && expiry <= now ? indicatorId : [];
    });
    if (expired.length === 0) continue;
    await withRevision(db, async (trx, revision) => {
      await markExpiredAsDelisted(trx, id, expired);
      // Imports that are planned with the previous statements must be planned again.
      revision.advance();
    });
  }
}

/** @throws {SourceError} for another origin, which must not get the credentials */
function requireSameOrigin(before: string, after: string): void {
  const origin = httpUrl(before)?.origin;
  if (httpUrl(after)?.origin === origin) return;
  throw new SourceError(
    `the stored credentials are for ${origin}; give those for the new address, or --without-credentials`,
  );
}

function forAudit(settings: SourceSettings | StoredSource, hasCredentials: boolean) {
  const { name, kind, address, options, intervalSeconds, enabled, defaults, lifetimes, isSnapshotList } =
    settings;
  return {
    name,
    kind,
    address,
    options,
    intervalSeconds,
    enabled,
    defaults,
    lifetimes,
    isSnapshotList,
    hasCredentials,
  };
}

function check(settings: SourceSettings, hasKey: boolean): void {
  const { name, kind, address, intervalSeconds, isSnapshotList } = settings;
  const rules = feedRulesOf(kind);
  if (!rules) throw new SourceError(`there is no kind "${kind}"; allowed: ${FEED_KINDS.join(', ')}`);
  if (name.trim() === '' || name.length > MAX_SOURCE_NAME)
    throw new SourceError(`the name must have 1 to ${MAX_SOURCE_NAME} characters`);
  const url = endpointUrl(address);
  if ('rejected' in url) throw new SourceError(url.rejected);
  if (intervalSeconds !== null && intervalSeconds < MIN_INTERVAL_SECONDS)
    throw new SourceError('a source can be fetched once a minute at most');
  checkLifetimes(settings);
  if (isSnapshotList && rules.sendsChanges)
    throw new SourceError(`${kind} sends only what has changed: it is no complete list (--snapshot off)`);
  const problem = optionsProblem(kind, rules, settings.options);
  if (problem) throw new SourceError(problem);
  if (rules.keyNeeded && !hasKey)
    throw new SourceError(`${kind} needs a key (the header ${rules.keyHeader})`);
}

function checkLifetimes({ lifetimes }: SourceSettings): void {
  for (const [type, seconds] of Object.entries(lifetimes)) {
    if (!INDICATOR_TYPES.some((known) => known === type) || !Number.isSafeInteger(seconds) || seconds < 1)
      throw new SourceError(
        `a lifetime is a number of seconds from 1 for one of ${INDICATOR_TYPES.join(', ')}`,
      );
  }
}

const PAGE = 5_000;
/** Indicators per transaction: written in well under the 200 ms for which the revision may be locked. */
const BATCH = 500;

/**
 * Recomputes the indicators of all sources whose settings have changed.
 * @throws the first error, after the other sources
 */
export async function recomputeSources(db: Db, now: Date, stopped = () => false): Promise<void> {
  const errors: unknown[] = [];
  for (const stale of await staleSources(db)) {
    if (stopped()) break;
    await recomputeSource(db, stale, now, stopped).catch((error) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}

async function recomputeSource(db: Db, stale: StaleSource, now: Date, stopped = () => false): Promise<void> {
  const read = (after: string) => findStatedIndicators(db, stale.id, after, PAGE);
  for await (const ids of idPages(read, stale.position ?? undefined)) {
    await recomputeInBatches(db, ids, now);
    await markRecomputed(db, stale, ids.at(-1) ?? null);
    if (stopped()) return;
  }
  await markRecomputed(db, stale, null);
}

/** @throws {SourceError} when there is no such source, with the names of all sources, or two of them have this name and this id */
export async function requireSource(db: Db, idOrName: string): Promise<StoredSource> {
  const [source, other] = await findSourcesCalled(db, idOrName);
  if (source && other)
    throw new SourceError(
      `"${idOrName}" is the name of one source and the id of another; give the other one of each`,
    );
  if (source) return source;
  const names = (await findSources(db)).map(({ name }) => name);
  throw new SourceError(
    `there is no source "${idOrName}"${names.length > 0 ? `; there are: ${names.join(', ')}` : ''}`,
  );
}
