import type { Db } from '../db/database.ts';
import { writeLastUsed } from './api-keys.queries.ts';

const FLUSH_MS = 5_000;

export interface LastUsed {
  note(keyId: string, at: Date): void;
  /** Writes the recorded uses now. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** Records when keys were last used, and writes that every few seconds rather than on each request. */
export function trackLastUsed(db: Db, onError: (error: unknown) => void): LastUsed {
  let used = new Map<string, Date>();
  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const written = used;
    used = new Map();
    await writeLastUsed(db, written).catch((error) => {
      for (const [id, at] of written) if (!used.has(id)) used.set(id, at);
      onError(error);
    });
  }
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();
  return {
    note: (keyId, at) => void used.set(keyId, at),
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
