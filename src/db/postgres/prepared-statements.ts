import { LRUCache } from 'lru-cache';
import type pg from 'pg';

/** Precedes a statement that PostgreSQL prepares; the embedded engine ignores the comment. */
export const PREPARED = '/* prepared */ ';
/** The same, with rows as arrays of PostgreSQL's own texts, for reads of many rows. */
export const PREPARED_TEXTS = '/* prepared, as texts */ ';
/** The same two for statements whose best plan does not depend on the parameters. */
export const GENERIC_PLAN = '/* prepared and planned once */ ';
export const GENERIC_PLAN_RAW = '/* prepared and planned once, as texts */ ';
const MARKS = [PREPARED, PREPARED_TEXTS, GENERIC_PLAN, GENERIC_PLAN_RAW];
const AS_TEXTS = { rowMode: 'array', types: { getTypeParser: () => (text: string) => text } };

/** Statements that a connection keeps prepared; the least recently used is deallocated for a new one. */
export const MAX_PREPARED = 200;

interface Prepared {
  config: { name: string; text: string; rowMode?: string };
  isPlannedOnce: boolean;
}

type Query = (...given: unknown[]) => Promise<unknown>;
/** The statements that the server has parsed, by name: pg parses a name anew only when it is not listed here. */
type Parsed = Record<string, string>;

/**
 * Has a connection prepare the marked statements. They are planned for their parameters each time, as all others are, or once:
 * `plan_cache_mode` is set whenever that changes.
 */
export function withPreparedStatements(client: pg.PoolClient): void {
  const query = client.query.bind(client) as Query;
  const statements = preparedStatements(client, query);
  let plansOnce = false;
  client.query = ((text: unknown, values: unknown, ...more: unknown[]) => {
    const prepared = typeof text === 'string' ? statements.find(text) : undefined;
    const ask = () =>
      prepared ? query({ ...prepared.config, values }, ...more) : query(text, values, ...more);
    if (typeof text !== 'string') return ask();
    const isPlannedOnce = prepared?.isPlannedOnce ?? false;
    const evicted = prepared && statements.deallocateEvicted();
    if (isPlannedOnce === plansOnce) return evicted ? evicted.then(ask) : ask();
    plansOnce = isPlannedOnce;
    const mode = isPlannedOnce ? 'force_generic_plan' : 'force_custom_plan';
    // A failed transaction refuses SET; its rollback restores the mode.
    const setMode = () => query(`set plan_cache_mode = ${mode}`).then(ask, ask);
    return evicted ? evicted.then(setMode) : setMode();
  }) as typeof client.query;
}

function preparedStatements(client: pg.PoolClient, query: Query) {
  const { parsedStatements } = (client as unknown as { connection: { parsedStatements: Parsed } }).connection;
  const evicted = new Set<string>();
  const known = new LRUCache<string, Prepared>({
    max: MAX_PREPARED,
    dispose: ({ config }) => void evicted.add(config.name),
  });
  let named = 0;
  const deallocateAll = async () => {
    for (const name of evicted) {
      try {
        // A statement that was never parsed cannot be deallocated: the error would abort the transaction.
        if (parsedStatements[name] !== undefined) await query(`deallocate ${name}`);
      } catch {
        // A failed transaction refuses it: it is repeated later.
        return;
      }
      delete parsedStatements[name];
      evicted.delete(name);
    }
  };
  return {
    /** undefined: nothing is to be deallocated. Never fails. */
    deallocateEvicted: () => (evicted.size > 0 ? deallocateAll() : undefined),
    find(text: string): Prepared | undefined {
      const mark = MARKS.find((one) => text.startsWith(one));
      if (!mark) return undefined;
      const before = known.get(text);
      if (before) return before;
      const asTexts = mark === PREPARED_TEXTS || mark === GENERIC_PLAN_RAW;
      const config = { name: `tipline_${named++}`, text, ...(asTexts && AS_TEXTS) };
      const prepared = { config, isPlannedOnce: mark === GENERIC_PLAN || mark === GENERIC_PLAN_RAW };
      known.set(text, prepared);
      return prepared;
    },
  };
}
