import type { Consumed } from './kv.ts';

/** Counts `points` requests of a key at once; tells how many there are with them. */
type CountMany = (key: string, points: number) => Promise<Consumed>;

interface Waiting {
  resolve(consumed: Consumed): void;
  reject(error: unknown): void;
}

/**
 * Counts one by one, and asks the store for many at once: what comes for a key while it is being asked waits, and goes
 * together. Each is told its own place in the count, as if it had been asked for alone.
 */
export function together(countMany: CountMany): (key: string) => Promise<Consumed> {
  /** Of the keys that are being asked for now: what waits for the answer. */
  const busy = new Map<string, Waiting[]>();

  const ask = async (key: string, asking: Waiting[]): Promise<void> => {
    try {
      const { consumed, msBeforeNext } = await countMany(key, asking.length);
      const before = consumed - asking.length;
      asking.forEach(({ resolve }, place) => resolve({ consumed: before + place + 1, msBeforeNext }));
    } catch (error) {
      for (const { reject } of asking) reject(error);
    }
    const next = busy.get(key) ?? [];
    if (next.length === 0) return void busy.delete(key);
    busy.set(key, []);
    void ask(key, next);
  };

  return (key) =>
    new Promise((resolve, reject) => {
      const waiting = busy.get(key);
      if (waiting) return void waiting.push({ resolve, reject });
      busy.set(key, []);
      void ask(key, [{ resolve, reject }]);
    });
}
