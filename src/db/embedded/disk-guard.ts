import { statfsSync } from 'node:fs';
import type { Connection } from './thread-connection.ts';

/** PostgreSQL's code for a disk that is full (Appendix A). */
const DISK_FULL = '53100';
const READ_ONLY_TRANSACTION = '25006';
/** How long the free space of a disk is cached. */
const CACHE_MS = 200;

/** Returns whether an error of the database means that its disk is full. */
export const isDiskFull = (error: unknown) => (error as { code?: unknown } | null)?.code === DISK_FULL;

/** The disk that holds a directory. */
export interface Disk {
  directory: string;
  /** Returns the free bytes that this user may write. */
  free(): number;
}

export function diskOf(directory: string): Disk {
  let known = { at: Number.NEGATIVE_INFINITY, free: 0 };
  return {
    directory,
    free() {
      const at = performance.now();
      if (at - known.at < CACHE_MS) return known.free;
      const { bavail, bsize } = statfsSync(directory);
      known = { at, free: bavail * bsize };
      return known.free;
    },
  };
}

/**
 * With fewer free bytes PGlite exits when it writes a temporary file at COMMIT, and hangs when it opens a
 * directory.
 */
const MIN_FREE_BYTES = 32 * 1024 * 1024;

/**
 * @throws {DiskFullError} when too little is free to open the embedded database or to write temporary files
 */
export function requireSpace({ directory, free }: Disk): void {
  const has = free();
  if (has >= MIN_FREE_BYTES) return;
  throw new DiskFullError(
    `The disk of ${directory} is full: ${megabytes(has)} MB are free, and the embedded database needs ${megabytes(MIN_FREE_BYTES)}.`,
  );
}

/** Thrown instead of a write when the disk is full or nearly full. */
export class DiskFullError extends Error {
  override name = 'DiskFullError';
  readonly code = DISK_FULL;
}

export interface Guarded {
  connection: Connection;
  /** Returns why nothing is written, for operators; null while writing is allowed. */
  problem(): string | null;
}

/**
 * Makes every transaction of the embedded database read-only while less than `reserve` bytes of its disk are
 * free, open transactions included. PGlite exits when it cannot write its log; the reserve is for the
 * statement in progress.
 * @param changed called with the reason when writing stops, and with null when it resumes
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
  /** Applies to the open transaction, otherwise to the session. */
  const restrict = async () => {
    const isLow = problem() !== null;
    if (!connection.isInTransaction()) {
      isRestricted = false;
      if (isLow === isReadOnly) return;
      await connection.query(`set default_transaction_read_only = ${isLow ? 'on' : 'off'}`, []);
      isReadOnly = isLow;
    } else if (isLow && !isRestricted) {
      isRestricted = true;
      // PostgreSQL rejects every statement of a failed transaction, this one too (25P02).
      await connection.query('set transaction read only', []).catch(() => {});
    }
  };
  return {
    problem,
    connection: {
      ...connection,
      async reconnect() {
        const isAnother = (await connection.reconnect?.()) ?? false;
        if (isAnother) isReadOnly = false;
        return isAnother;
      },
      async query(sql, parameters) {
        await restrict();
        try {
          return await connection.query(sql, parameters);
        } catch (error) {
          const isRejected = (error as { code?: unknown }).code === READ_ONLY_TRANSACTION;
          if (!isRejected || !(isReadOnly || isRestricted)) throw error;
          // A transaction stays read-only to its end, also when space has been freed meanwhile.
          throw new DiskFullError(problem() ?? `The disk of ${disk.directory} was nearly full. Try again.`, {
            cause: error,
          });
        }
      },
    },
  };
}

function nearlyFull({ directory }: Disk, free: number, reserve: number): string {
  return `The disk of ${directory} is nearly full: ${megabytes(free)} MB are free, and nothing is written with less than ${megabytes(reserve)} MB (TIPLINE_DISK_RESERVE_MB).`;
}

const megabytes = (bytes: number) => Math.floor(bytes / 1024 / 1024);
