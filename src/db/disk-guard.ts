import { statfsSync } from 'node:fs';
import type { Connection } from './engine.ts';

/** PostgreSQL's code for a disk that is full (Appendix A). */
const DISK_FULL = '53100';
const READ_ONLY_TRANSACTION = '25006';
/** The operating system is asked as often. */
const KNOWN_MS = 200;

/** Of the disk that a directory is on. */
export interface Disk {
  directory: string;
  /** In bytes, for this user. */
  free(): number;
}

export function diskOf(directory: string): Disk {
  let known = { at: Number.NEGATIVE_INFINITY, free: 0 };
  return {
    directory,
    free() {
      const at = performance.now();
      if (at - known.at < KNOWN_MS) return known.free;
      const { bavail, bsize } = statfsSync(directory);
      known = { at, free: bavail * bsize };
      return known.free;
    },
  };
}

/** In bytes: without them the embedded database ends when it is read with a large sort, and hangs when it is opened. */
const LEAST = 32 * 1024 * 1024;

/** @throws {DiskFullError} where the embedded database cannot so much as be opened, or lay rows aside */
export function requireSpace({ directory, free }: Disk): void {
  const has = free();
  if (has >= LEAST) return;
  throw new DiskFullError(
    `The disk of ${directory} is full: ${megabytes(has)} MB are free, and the embedded database needs ${megabytes(LEAST)}.`,
  );
}

/** Nothing can be written: the disk is full, or nearly. */
export class DiskFullError extends Error {
  override name = 'DiskFullError';
  /** As PostgreSQL says it. */
  readonly code = DISK_FULL;
}

export interface Guarded {
  connection: Connection;
  /** What is wrong with the disk, for people; null: nothing. */
  problem(): string | null;
}

/**
 * Keeps some of the disk free: with less than that, every transaction of the embedded database is read-only, and becomes it
 * between two statements. Its log cannot be written on a full disk, which ends the database for good; what is left free
 * is for the statement that is under way.
 * @param reserve bytes
 * @param changed told when writing stops (why), and when it goes on (null)
 */
export function guardDisk(
  connection: Connection,
  { disk, reserve, changed }: { disk: Disk; reserve: number; changed: (problem: string | null) => void },
): Guarded {
  let wasLow = false;
  let isReadOnly = false;
  let isRestricted = false;
  const problem = () => {
    const free = disk.free();
    const isLow = free < reserve;
    const found = isLow ? nearlyFull(disk, free, reserve) : null;
    if (isLow !== wasLow) changed(found);
    wasLow = isLow;
    return found;
  };
  /** The transaction that is open, or those that begin from now on. */
  const restrict = async () => {
    const isLow = problem() !== null;
    if (!connection.isInTransaction()) {
      isRestricted = false;
      if (isLow === isReadOnly) return;
      await connection.query(`set default_transaction_read_only = ${isLow ? 'on' : 'off'}`, []);
      isReadOnly = isLow;
    } else if (isLow && !isRestricted) {
      isRestricted = true;
      // One that has failed refuses this as it refuses everything.
      await connection.query('set transaction read only', []).catch(() => {});
    }
  };
  return {
    problem,
    connection: {
      ...connection,
      async revive() {
        const isAnother = (await connection.revive?.()) ?? false;
        if (isAnother) isReadOnly = false;
        return isAnother;
      },
      async query(sql, parameters) {
        await restrict();
        try {
          return await connection.query(sql, parameters);
        } catch (error) {
          const why = problem();
          if (why !== null && (error as { code?: unknown }).code === READ_ONLY_TRANSACTION)
            throw new DiskFullError(why, { cause: error });
          throw error;
        }
      },
    },
  };
}

function nearlyFull({ directory }: Disk, free: number, reserve: number): string {
  return `The disk of ${directory} is nearly full: ${megabytes(free)} MB are free, and nothing is written with less than ${megabytes(reserve)} MB (TIPLINE_DISK_RESERVE_MB).`;
}

const megabytes = (bytes: number) => Math.floor(bytes / 1024 / 1024);
