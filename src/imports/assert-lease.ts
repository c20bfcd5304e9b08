import type { Transaction } from 'kysely';
import type { Tables } from '../db/tables.ts';

/** Asked in each transaction that writes, under the revision's lock. @throws when whoever writes may do so no more */
export type Guard = (trx: Transaction<Tables>) => Promise<void>;

/** What decides whether an import may write, and what becomes of what it replaces. */
export interface LeaseHolder {
  guard: Guard;
  /** The import of files that keeps what it replaces; null: a feed's run, which cannot be undone. */
  runId: string | null;
}

export const NO_LEASE: LeaseHolder = { guard: async () => {}, runId: null };
