import type { Clock } from '../../clock.ts';
import type { IndicatorType } from '../../model/vocabulary.ts';
import { type Outbound, type OutboundAnswer, OutboundError } from '../../outbound/outbound.ts';
import { retryAfter } from '../../outbound/with-retry.ts';
import type { RateLimitStore } from '../../rate-limit/store.ts';
import {
  type Breaker,
  fingerprint,
  type KeyPool,
  openBreaker,
  openKeyPool,
  type Permit,
  takeFromQuota,
} from './key-pool.ts';
import type { QueryableProvider } from './provider.ts';
import { type Answered, type Failed, failure, outcomeOf } from './provider.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 15_000;
/** Delay until a provider without keys is tried again: the operator may have added one. */
const WITHOUT_KEYS_MS = 3_600_000;

export interface ProviderSettings {
  /** null: the provider's default. */
  baseUrl: string | null;
  keys: readonly string[];
  /** Changes when an operator sets the keys, also to the same ones: then none of them is paused. */
  keysVersion: string | null;
  /** Limit of each key; null: as documented for the free tier. */
  perMinute: number | null;
  perDay: number | null;
}

/** There is no result, and nothing is stored: the request is to be repeated at `retryAt`. */
interface Deferred {
  kind: 'later';
  retryAt: Date;
  /** `key refused`: by the provider, within the last hour. */
  reason: 'quota' | 'rate limited' | 'breaker open' | 'key refused' | 'no key';
}

export type Outcome = Answered | Failed | Deferred;

export interface ProviderClientDeps {
  outbound: Pick<Outbound, 'request'>;
  /** Shared by all nodes, and so are the quotas counted in it. */
  rateLimits: Pick<RateLimitStore, 'consume'>;
  clock: Clock;
  /**
   * Called when a provider refuses a key, once an hour per node.
   * @param place index of the key in the settings, from 0
   */
  onKeyRefused?: (provider: string, place: number) => void;
  /** Called with the outcome of each look-up: `answered`, `failed` or the reason to wait. */
  onOutcome?: (provider: string, outcome: string) => void;
}

export interface ProviderClient {
  /**
   * Queries a provider about one indicator, with the first key that may be used now. Any response is an
   * outcome.
   * @throws {OutboundError} `aborted`, when the outbound client was closed
   * @throws {RangeError} for a type that the provider does not accept
   */
  ask(
    provider: QueryableProvider,
    settings: ProviderSettings,
    indicator: { type: IndicatorType; normalized: string },
  ): Promise<Outcome>;
}

interface LookUp {
  provider: QueryableProvider;
  settings: ProviderSettings;
  indicator: { type: IndicatorType; normalized: string };
  keyPool: KeyPool;
  permit: Permit;
}

interface ProviderState {
  breaker: Breaker;
  keyPool: KeyPool;
  keysVersion: string | null;
}

/** Creates a client that holds, for this node, each provider's circuit breaker and paused keys. */
export function openProviderClient(deps: ProviderClientDeps): ProviderClient {
  const states = new Map<string, ProviderState>();
  const stateOf = (name: string, { keysVersion }: ProviderSettings): ProviderState => {
    const before = states.get(name);
    if (before?.keysVersion === keysVersion) return before;
    const state = { breaker: before?.breaker ?? openBreaker(), keyPool: openKeyPool(), keysVersion };
    states.set(name, state);
    return state;
  };
  const ask: ProviderClient['ask'] = async (provider, settings, indicator) => {
    if (!provider.accepts.includes(indicator.type))
      throw new RangeError(`${provider.name} takes no ${indicator.type}`);
    const { breaker, keyPool } = stateOf(provider.name, settings);
    const permit = breaker.admit(deps.clock());
    if ('retryAt' in permit) return { kind: 'later', retryAt: permit.retryAt, reason: 'breaker open' };
    try {
      return await tryKeys(deps, { provider, settings, indicator, keyPool, permit });
    } finally {
      permit.release();
    }
  };
  return {
    async ask(provider, settings, indicator) {
      const outcome = await ask(provider, settings, indicator);
      deps.onOutcome?.(provider.name, outcome.kind === 'later' ? outcome.reason : outcome.kind);
      return outcome;
    },
  };
}

async function tryKeys(deps: ProviderClientDeps, lookUp: LookUp): Promise<Outcome> {
  const waits: Deferred[] = [];
  let refused = false;
  for (const key of lookUp.keyPool.inTurn(lookUp.settings.keys)) {
    const outcome = (await waitOf(deps, lookUp, key)) ?? (await askWith(deps, lookUp, key));
    if (outcome === 'refused') refused = true;
    else if (outcome.kind === 'later') waits.push(outcome);
    else return outcome;
  }
  // While another key is only waiting, the provider can still be queried: `onKeyRefused` alone reports the
  // refusal.
  const [soonest] = waits.sort((a, b) => a.retryAt.getTime() - b.retryAt.getTime());
  if (soonest !== undefined) return soonest;
  if (refused) return failure('the provider refused the key', null, deps.clock());
  return { kind: 'later', retryAt: after(deps.clock(), WITHOUT_KEYS_MS), reason: 'no key' };
}

/** Returns why a key cannot be used now; null when it can, and one request of its quota is taken. */
async function waitOf(deps: ProviderClientDeps, lookUp: LookUp, key: string): Promise<Deferred | null> {
  const held = lookUp.keyPool.pausedUntil(key, deps.clock());
  if (held !== null) return { kind: 'later', ...held };
  const { provider, settings } = lookUp;
  const waitMs = await takeFromQuota(deps.rateLimits, `${provider.name}:${fingerprint(key)}`, {
    perSecond: provider.perSecond,
    perMinute: settings.perMinute ?? provider.quota.perMinute,
    perDay: settings.perDay ?? provider.quota.perDay,
  });
  return waitMs === null ? null : { kind: 'later', retryAt: after(deps.clock(), waitMs), reason: 'quota' };
}

async function askWith(deps: ProviderClientDeps, lookUp: LookUp, key: string): Promise<Outcome | 'refused'> {
  const { provider, keyPool, permit } = lookUp;
  let answer: OutboundAnswer;
  try {
    answer = await send(deps.outbound, lookUp, key);
  } catch (error) {
    if (!(error instanceof OutboundError) || error.code === 'aborted') throw error;
    if (isOutage(error)) permit.down(deps.clock());
    return failure(error.reason, null, deps.clock());
  }
  const now = deps.clock();
  if (answer.status >= 500) permit.down(now);
  else permit.up();
  if (answer.status === 429) return rateLimited(lookUp, key, answer, now);
  if (answer.status === 401 || answer.status === 403) {
    const place = lookUp.settings.keys.indexOf(key);
    if (keyPool.onRejected(key, now)) deps.onKeyRefused?.(provider.name, place);
    return 'refused';
  }
  keyPool.onAccepted(key);
  return outcomeOf(provider, answer, key, now);
}

function send(
  outbound: ProviderClientDeps['outbound'],
  lookUp: LookUp,
  key: string,
): Promise<OutboundAnswer> {
  const { provider, settings, indicator } = lookUp;
  const { path, method, credentials, body } = provider.request(indicator.type, indicator.normalized, key);
  return outbound.request({
    url: `${(settings.baseUrl ?? provider.defaultBaseUrl).replace(/\/+$/, '')}${path}`,
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    credentials,
    ...(body !== undefined && { body }),
    maxBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
  });
}

function rateLimited(
  { provider, keyPool }: LookUp,
  key: string,
  answer: OutboundAnswer,
  now: Date,
): Deferred {
  const retryAt = keyPool.onRateLimited(key, retryAfter(answer.headers, provider.resetHeader, now), now);
  return { kind: 'later', retryAt, reason: 'rate limited' };
}

/** Returns whether the provider or the connection to it failed, rather than the content of its response. */
function isOutage({ code }: OutboundError): boolean {
  return (
    code === 'timeout' || code === 'unreachable' || code === 'broken_transfer' || code === 'bad_certificate'
  );
}

function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}
