import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../db/database.ts';
import { type SecretBox, SecretError } from '../secrets/secret-box.ts';
import { saveOutcome } from './enrichments.service.ts';
import type { Outcome, ProviderClient } from './providers/provider-client.ts';
import { noteAsked } from './providers.queries.ts';
import { pauseEnd, queueCriteria, type ReadyProvider, readyProviders } from './providers.service.ts';
import { claimRequests, deleteObsolete, type Request, releaseRequests } from './requests.queries.ts';

/** Concurrent look-ups per provider; the provider client enforces the provider's own limits. */
const CONCURRENCY = 4;
/** How long a request stays claimed if its worker is killed. It is longer than any look-up takes. */
const CLAIM_MS = 120_000;
/** How long a provider is paused whose keys cannot be decrypted. */
const SECRET_PAUSE_MS = 60_000;

export interface DrainDeps {
  db: Db;
  client: ProviderClient;
  secrets: SecretBox;
  clock: () => Date;
  /** Called before each batch. */
  stopped: () => boolean | Promise<boolean>;
  /** Restricts the run to these providers. */
  only?: readonly string[];
}

/**
 * Processes the queue of every provider until it is empty, the quota is used up or the provider asks for a
 * delay.
 */
export async function drainRequests(deps: DrainDeps): Promise<void> {
  await deleteObsoleteRequests(deps);
  await drainAll(deps);
}

const POLL_MS = 1_000;
const PROVIDER_POLL_MS = 5_000;

/**
 * Processes the queues like `drainRequests`, and polls every second, because somebody may be waiting for a
 * result.
 * @param signal ends the wait between two polls
 */
export async function runEnrichmentQueue(deps: DrainDeps, signal: AbortSignal): Promise<void> {
  const draining = new Map<string, Promise<void>>();
  const failures: unknown[] = [];
  // In a long queue this takes a while, which the look-ups need not wait for.
  const deleting = deleteObsoleteRequests(deps).catch((error: unknown) => void failures.push(error));
  try {
    while (failures.length === 0 && !(await deps.stopped())) {
      const names = await wantedProviders(deps);
      // A provider whose queue is long does not delay the requests to the others.
      for (const name of names.filter((one) => !draining.has(one))) {
        const drained = drainOne(deps, name)
          .catch((error: unknown) => void failures.push(error))
          .finally(() => draining.delete(name));
        draining.set(name, drained);
      }
      await delay(names.length > 0 ? POLL_MS : PROVIDER_POLL_MS, undefined, { signal }).catch(() => {});
    }
  } finally {
    await Promise.all([deleting, ...draining.values()]);
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Deletes requests that may no longer be sent. Claiming skips them, so deleting them once in a while is
 * enough.
 */
async function deleteObsoleteRequests({ db, clock, stopped }: DrainDeps): Promise<void> {
  for (const { stored } of await readyProviders(db)) {
    const { name: provider, tlpCeiling } = stored;
    await deleteObsolete(db, { provider, tlpCeiling }, clock(), stopped);
  }
}

/** Processes the queues of all providers; a failing provider does not hold up the others. */
async function drainAll(deps: DrainDeps): Promise<void> {
  const names = await wantedProviders(deps);
  const ended = await Promise.allSettled(names.map((name) => drainOne(deps, name)));
  const failed = ended.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

async function wantedProviders({ db, only }: DrainDeps): Promise<string[]> {
  const names = (await readyProviders(db)).map(({ stored }) => stored.name);
  return names.filter((name) => only?.includes(name) ?? true);
}

async function drainOne(deps: DrainDeps, name: string): Promise<void> {
  const { db, clock, stopped } = deps;
  for (let goesOn = true; goesOn && !(await stopped()); ) {
    // Read again each time: an operator may have changed the TLP ceiling or removed the provider.
    const ready = (await readyProviders(db)).find(({ stored }) => stored.name === name);
    const now = clock();
    if (!ready || pauseEnd(ready.stored, now)) return;
    let keys: readonly string[];
    try {
      keys = keysOf(ready, deps.secrets);
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      const pausedUntil = new Date(now.getTime() + SECRET_PAUSE_MS);
      await noteAsked(db, name, { at: now, error: error.message, pausedUntil });
      return;
    }
    const until = new Date(now.getTime() + CLAIM_MS);
    const requests = await claimRequests(db, queueCriteria(ready), CONCURRENCY, now, until);
    if (requests.length === 0) return;
    const outcomes = await Promise.all(requests.map((request) => lookUp(deps, ready, keys, request)));
    goesOn = await recordOutcomes(deps, ready, requests, outcomes);
  }
}

/** @throws {SecretError} when they cannot be decrypted */
function keysOf({ stored: { keys } }: ReadyProvider, secrets: SecretBox): readonly string[] {
  return keys === null ? [] : JSON.parse(secrets.open(keys));
}

async function lookUp(
  deps: DrainDeps,
  { provider, stored }: ReadyProvider,
  keys: readonly string[],
  request: Request,
): Promise<Outcome> {
  const { baseUrl, keys: keysVersion, perMinute, perDay } = stored;
  const settings = { baseUrl, keys, keysVersion, perMinute, perDay };
  const outcome = await deps.client.ask(provider, settings, request);
  if (outcome.kind !== 'later')
    await saveOutcome(deps.db, provider, request.indicatorId, outcome, deps.clock());
  return outcome;
}

/**
 * Records the outcomes of a batch.
 * @returns whether the provider accepts more requests now
 */
async function recordOutcomes(
  { db, clock }: DrainDeps,
  { stored: { name } }: ReadyProvider,
  requests: readonly Request[],
  outcomes: readonly Outcome[],
): Promise<boolean> {
  const deferred = requests
    .filter((_, i) => outcomes[i]?.kind === 'later')
    .map(({ indicatorId }) => indicatorId);
  if (deferred.length > 0) await releaseRequests(db, name, deferred);
  const waits = outcomes.flatMap((outcome) => (outcome.kind === 'later' ? [outcome] : []));
  const failures = outcomes.flatMap((outcome) => (outcome.kind === 'failed' ? [outcome.error] : []));
  const until = waits.map(({ retryAt }) => retryAt).sort((a, b) => a.getTime() - b.getTime())[0] ?? null;
  const error = waits[0]?.reason ?? failures[0] ?? null;
  await noteAsked(db, name, { at: clock(), error, pausedUntil: until });
  return waits.length === 0;
}
