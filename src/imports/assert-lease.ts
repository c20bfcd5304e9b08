import type { Transaction } from 'kysely';
import type { Tables } from '../db/tables.ts';

/** Asserts that an import may write; called in each of its transactions, under the revision lock. @throws if not */
export type AssertLease = (trx: Transaction<Tables>) => Promise<void>;

/** The permission of an import to write, and the run that its undo data belongs to. */
export interface LeaseHolder {
  guard: AssertLease;
  /** The import of files that stores undo data; null: none is stored, as for a feed's run, which cannot be undone. */
  runId: string | null;
}

export const NO_LEASE: LeaseHolder = { guard: async () => {}, runId: null };
