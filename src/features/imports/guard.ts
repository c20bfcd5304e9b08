import type { Transaction } from 'kysely';
import type { Tables } from '../../db/tables.ts';

/** Asked in each transaction that writes, under the revision's lock. @throws when whoever writes may do so no more */
export type Guard = (trx: Transaction<Tables>) => Promise<void>;

export const unguarded: Guard = async () => {};
