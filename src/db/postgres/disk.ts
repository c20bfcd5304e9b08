import { type LogEvent, sql } from 'kysely';
import type { Db } from '../database.ts';
import { isDiskFull } from '../embedded/disk-guard.ts';

/** Allocates 8 MB, as a table of the database itself: 4,000 rows of 2 KB, too short to be compressed. */
const PROBE = sql`create unlogged table tipline_disk_probe as
  select repeat(md5(number::text), 62) as text from generate_series(1, 4000) as number`;

class Allocated extends Error {}

/**
 * Detects whether the disk of PostgreSQL is full: from the statements that it rejects (53100, Appendix A)
 * and, until space is free again, by a trial allocation.
 */
export function postgresDisk(db: () => Db) {
  let hasFailed = false;
  return {
    /** Receives the events that Kysely logs. */
    note(event: LogEvent): void {
      if (event.level === 'error' && isDiskFull(event.error)) hasFailed = true;
    },
    async problem(): Promise<string | null> {
      if (hasFailed) hasFailed = await isFull(db());
      return hasFailed ? 'The disk of PostgreSQL is full: it rejected a write.' : null;
    },
  };
}

async function isFull(db: Db): Promise<boolean> {
  try {
    await db.transaction().execute(async (trx) => {
      await PROBE.execute(trx);
      throw new Allocated();
    });
  } catch (error) {
    return isDiskFull(error);
  }
  return false;
}
