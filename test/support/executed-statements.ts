import { AsyncLocalStorage } from 'node:async_hooks';
import type { LogEvent } from 'kysely';

/**
 * Checks the statements that requests execute, not the functions that build them: each names, for every marked table it reads, the
 * condition of `visible` in src/db/visibility.ts.
 */

interface Asked {
  method: string;
  url: string;
}

const TABLES =
  'indicator|indicator_summary|indicator_tag_summary|campaign_summary|indicator_campaign|indicator_source|entity_source|actor|campaign|technique|software|report|relationship';
const READ = new RegExp(
  `\\b(?:from|join)\\s+"?(${TABLES})"?(?![\\w(])(?:\\s+(?:as\\s+)?"?(?!(?:where|on|join|left|right|inner|cross|order|group|limit|union|for|using|natural|full|window|having|offset)\\b)(\\w+)"?)?`,
  'g',
);

/** Reads that need no condition, by the path of the request, and why. */
const EXCEPTIONS: readonly { path: RegExp; statement: RegExp; reason: string }[] = [
  {
    path: /^\/app\/indicators\/[\da-f-]+$/,
    statement: /^select ("indicator"\.\*|"created_at" as|\* from "indicator_source")/,
    reason:
      'the state of an indicator that the principal sees; details.mappers.ts leaves out sources above the ceiling',
  },
  {
    path: /^\/app\/(imports|sources)\/[\da-f-]+\/(undo|removal)/,
    statement: /./,
    reason: 'requires an administrator who sees everything (requireFullSight)',
  },
];

const requests = new AsyncLocalStorage<Asked>();
const violations = new Set<string>();

/** Runs the handling of a request, whose statements are checked. */
export const handling = <T>(asked: Asked, handle: () => T): T => requests.run(asked, handle);

export function checkStatement({ query: { sql } }: LogEvent): void {
  const asked = requests.getStore();
  if (!asked || !['GET', 'HEAD'].includes(asked.method)) return;
  if (EXCEPTIONS.some(({ path, statement }) => path.test(asked.url) && statement.test(sql))) return;
  for (const [, table = '', alias = table] of sql.matchAll(READ)) {
    const named = `(?<![\\w"])"?${alias}"?\\.`;
    const hasCeiling = new RegExp(`${named}"?tlp"? <= `).test(sql);
    const needsState = asked.url.startsWith('/api/') && table === 'indicator';
    const hasState = new RegExp(`not ${named}"?whitelisted"?`).test(sql);
    if (hasCeiling && (hasState || !needsState)) continue;
    violations.add(
      `${asked.url} reads ${table} as ${alias} without its condition: ${sql.replaceAll(/\s+/g, ' ')}`,
    );
  }
}

/** @throws for the statements since the last call that read a marked table without its condition */
export function requireConditions(): void {
  const found = [...violations];
  violations.clear();
  if (found.length > 0) throw new Error(found.join('\n'));
}
