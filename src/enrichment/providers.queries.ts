import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { Tlp } from '../model/vocabulary.ts';

/** A configured provider. */
export interface StoredProvider {
  name: string;
  /**
   * Whether the provider is queried about new indicators, and those that playbooks read, without a user's
   * request.
   */
  automatic: boolean;
  /** Encrypted; null if the provider needs none. */
  keys: string | null;
  baseUrl: string | null;
  /** Indicators above this marking are never sent to the provider. */
  tlpCeiling: Tlp;
  perMinute: number | null;
  perDay: number | null;
  pausedUntil: Date | null;
  lastQueriedAt: Date | null;
  lastError: string | null;
}

export async function findProviders(db: Db): Promise<StoredProvider[]> {
  return db
    .selectFrom('provider')
    .select([
      'name',
      'automatic',
      'keys',
      'base_url as baseUrl',
      'tlp_ceiling as tlpCeiling',
      'per_minute as perMinute',
      'per_day as perDay',
      'paused_until as pausedUntil',
      'last_queried_at as lastQueriedAt',
      'last_error as lastError',
    ])
    .orderBy('name')
    .execute();
}

export type ProviderChange = Omit<StoredProvider, 'pausedUntil' | 'lastQueriedAt' | 'lastError'>;

export async function writeProvider(trx: Transaction<Tables>, provider: ProviderChange): Promise<void> {
  const values = {
    automatic: provider.automatic,
    keys: provider.keys,
    base_url: provider.baseUrl,
    tlp_ceiling: provider.tlpCeiling,
    per_minute: provider.perMinute,
    per_day: provider.perDay,
    paused_until: null,
    last_error: null,
  };
  await trx
    .insertInto('provider')
    .values({ name: provider.name, ...values })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
    .execute();
}

export async function deleteProvider(trx: Transaction<Tables>, name: string): Promise<void> {
  await trx.deleteFrom('provider').where('name', '=', name).execute();
  await trx.deleteFrom('enrichment_request').where('provider', '=', name).execute();
}

/** Records the outcome of the last look-ups, for the provider's health. */
export async function noteAsked(
  db: Db,
  name: string,
  went: { at: Date; error: string | null; pausedUntil: Date | null },
): Promise<void> {
  await db
    .updateTable('provider')
    .set({ last_queried_at: went.at, last_error: went.error, paused_until: went.pausedUntil })
    .where('name', '=', name)
    .execute();
}
