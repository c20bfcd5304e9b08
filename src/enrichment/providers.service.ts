import { type AuditActor, writeAudit } from '../audit/audit.queries.ts';
import { CLOCK_DIFFERENCE_MS } from '../clock.ts';
import type { Db } from '../db/database.ts';
import { endpointUrl } from '../model/normalize-url.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import { QUERYABLE_PROVIDERS } from './providers/catalogue.ts';
import type { QueryableProvider } from './providers/provider.ts';
import { deleteProvider, findProviders, type StoredProvider, writeProvider } from './providers.queries.ts';
import { deleteAutomatic, type QueueCriteria } from './requests.queries.ts';

/** Thrown for an invalid setting; the message is shown to the operator. */
class ProviderError extends Error {
  override name = 'ProviderError';
}

/** Settings that an operator changes; undefined leaves a setting as it is. */
export interface ProviderSettingsChange {
  automatic?: boolean;
  keys?: readonly string[];
  baseUrl?: string | null;
  tlpCeiling?: Tlp;
  perMinute?: number | null;
  perDay?: number | null;
}

/** A provider that can be queried, with its stored settings. */
export interface ReadyProvider {
  provider: QueryableProvider;
  stored: StoredProvider;
}

/** @throws {ProviderError} */
function requireAddress(address: string): void {
  const url = endpointUrl(address);
  if ('rejected' in url) throw new ProviderError(url.rejected);
}

/** Returns the configured providers. Providers are queried only once an operator has configured them. */
export async function readyProviders(db: Db): Promise<ReadyProvider[]> {
  const stored = new Map((await findProviders(db)).map((provider) => [provider.name, provider]));
  return QUERYABLE_PROVIDERS.flatMap((provider) => {
    const own = stored.get(provider.name);
    return own ? [{ provider, stored: own }] : [];
  });
}

/**
 * Returns the time until which a provider is not queried; null: it may be queried now. A pause that began in the future is from
 * before the clock was set back: it does not count.
 */
export function pauseEnd({ pausedUntil, lastQueriedAt }: StoredProvider, now: Date): Date | null {
  const began = lastQueriedAt?.getTime() ?? 0;
  const counts = began <= now.getTime() + CLOCK_DIFFERENCE_MS;
  return pausedUntil !== null && pausedUntil > now && counts ? pausedUntil : null;
}

export function queueCriteria({ provider, stored }: ReadyProvider): QueueCriteria {
  return { provider: provider.name, accepts: provider.accepts, tlpCeiling: stored.tlpCeiling };
}

/**
 * Configures a provider, or changes its settings.
 * @throws {ProviderError} when there is no such provider, or a setting is invalid
 */
export async function saveProvider(
  db: Db,
  secrets: SecretBox,
  name: string,
  change: ProviderSettingsChange,
  by: AuditActor,
): Promise<StoredProvider> {
  const known = QUERYABLE_PROVIDERS.find((provider) => provider.name === name);
  if (!known) throw new ProviderError(`there is no provider "${name}"; there are: ${names()}`);
  if (change.baseUrl) requireAddress(change.baseUrl);
  return db.transaction().execute(async (trx) => {
    const before = (await findProviders(trx)).find((provider) => provider.name === name);
    const { keys, ...rest } = change;
    const after = {
      name,
      automatic: false,
      keys: null,
      baseUrl: null,
      tlpCeiling: 'AMBER' as const,
      perMinute: null,
      perDay: null,
      pausedUntil: null,
      lastQueriedAt: null,
      lastError: null,
      ...before,
      ...rest,
      ...(keys && { keys: keys.length > 0 ? secrets.seal(JSON.stringify(keys)) : null, pausedUntil: null }),
    };
    if (after.keys === null) throw new ProviderError(`${name} needs a key`);
    await writeProvider(trx, after);
    if (!after.automatic) await deleteAutomatic(trx, name);
    await writeAudit(trx, by, {
      action: 'provider.change',
      object: { kind: 'provider', id: name },
      before: before ? forAudit(before) : null,
      after: forAudit(after),
      reason: null,
    });
    return after;
  });
}

/** @throws {ProviderError} when the provider is not configured */
export async function removeProvider(db: Db, name: string, by: AuditActor): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const before = (await findProviders(trx)).find((provider) => provider.name === name);
    if (!before) throw new ProviderError(`"${name}" is not configured`);
    await deleteProvider(trx, name);
    await writeAudit(trx, by, {
      action: 'provider.change',
      object: { kind: 'provider', id: name },
      before: forAudit(before),
      after: null,
      reason: null,
    });
  });
}

function forAudit({ automatic, keys, baseUrl, tlpCeiling, perMinute, perDay }: StoredProvider) {
  return { automatic, hasKeys: keys !== null, baseUrl, tlpCeiling, perMinute, perDay };
}

function names(): string {
  return QUERYABLE_PROVIDERS.map(({ name }) => name).join(', ');
}
