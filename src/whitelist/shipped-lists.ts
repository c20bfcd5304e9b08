import type { Db } from '../db/database.ts';
import { findLists } from './whitelist.queries.ts';

/** A list that comes with Tipline, in MISP's format. */
export interface ShippedList {
  name: string;
  version: number;
}

/**
 * Inserts the lists that come with Tipline, replacing those of another version. The worker or the next
 * command re-evaluates the indicators.
 */
export async function ensureShippedLists(db: Db, lists: readonly ShippedList[], now: Date): Promise<void> {
  const stored = new Map((await findLists(db)).map(({ name, version }) => [name, version]));
  const others = lists.filter(({ name, version }) => stored.get(name) !== String(version));
  if (others.length === 0) return;
  // Loaded only then: every command checks these lists, and the matcher takes a tenth of a second to load.
  const { writeShippedLists } = await import('./whitelist.service.ts');
  await writeShippedLists(db, others, now);
}
