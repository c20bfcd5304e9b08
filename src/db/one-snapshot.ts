import type { Db } from './database.ts';

/** Several statements that see the same state. Nothing is written by them. */
export function oneSnapshot<T>(db: Db, read: (snapshot: Db) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
}
