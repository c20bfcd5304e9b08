import { DiskFullError } from './disk-guard.ts';
import type { Connection } from './engine.ts';

/** PostgreSQL's code for a server that has ended (Appendix A, crash_shutdown). */
export const CRASHED = '57P02';
/** After an attempt that failed, others are spared another one for so long. */
const PAUSE_MS = 2_000;

/**
 * A connection to the embedded database that is opened anew after the database has ended by itself, as it does on a disk
 * that is full: it recovers from its log then, as after a kill. Only between leases: what is left of the one that was
 * under way fails.
 * @param clock milliseconds that only go up
 * @throws when it cannot be opened the first time
 */
export async function reviving(
  connect: () => Promise<Connection>,
  clock = () => performance.now(),
): Promise<Required<Connection>> {
  let current: Connection | null = await connect();
  let refused = { at: Number.NEGATIVE_INFINITY, error: null as unknown };
  return {
    async query(sql, parameters) {
      if (!current) throw crashed(refused.error);
      try {
        return await current.query(sql, parameters);
      } catch (error) {
        if ((error as { code?: unknown }).code === CRASHED) current = null;
        throw error;
      }
    },
    isInTransaction: () => current?.isInTransaction() ?? false,
    async revive() {
      if (current) return false;
      if (clock() - refused.at < PAUSE_MS) throw crashed(refused.error);
      try {
        current = await connect();
        return true;
      } catch (error) {
        refused = { at: clock(), error };
        throw crashed(error);
      }
    },
    close: async () => current?.close(),
  };
}

/** A disk that is full says so itself. */
function crashed(cause: unknown): unknown {
  if (cause instanceof DiskFullError) return cause;
  const message = 'The embedded database has ended, and cannot be opened again yet.';
  return Object.assign(new Error(message, { cause }), { code: CRASHED });
}
