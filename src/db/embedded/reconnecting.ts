import type { Connection } from './connection.ts';
import { DiskFullError } from './disk-guard.ts';

/** PostgreSQL's code for a server that has ended (Appendix A, crash_shutdown). */
export const CRASHED = '57P02';
/** How long no further attempt is made after a failed one. */
const RETRY_MS = 2_000;

/**
 * Returns a connection that is opened again after PGlite has exited, as it does on a full disk; PostgreSQL
 * then recovers from its log, as after a kill. It reconnects between leases only: the remaining statements of
 * the lease in progress fail, because their transaction is gone.
 * @param clock monotonic milliseconds
 * @throws when the first connection cannot be opened
 */
export async function reconnecting(
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
    async reconnect() {
      if (current) return false;
      if (clock() - refused.at < RETRY_MS) throw crashed(refused.error);
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

/** A full disk is reported as such. */
function crashed(cause: unknown): unknown {
  if (cause instanceof DiskFullError) return cause;
  const message = 'The embedded database has exited and cannot be opened again yet.';
  return Object.assign(new Error(message, { cause }), { code: CRASHED });
}
