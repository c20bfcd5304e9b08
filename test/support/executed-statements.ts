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
  'indicator|indicator_summary|indicator_tag_summary|campaign_summary|source_summary|indicator_campaign|indicator_source|entity_source|actor|campaign|technique|software|report|relationship';
const READ = new RegExp(
  `\\b(?:from|join)\\s+"?(${TABLES})"?(?![\\w(])(?:\\s+(?:as\\s+)?"?(?!(?:where|on|join|left|right|inner|cross|order|group|limit|union|for|using|natural|full|window|having|offset)\\b)(\\w+)"?)?`,
  'g',
);

/** Reads that need no condition, by method and path of the request, and why. */
const EXCEPTIONS: readonly { request: RegExp; statement: RegExp; reason: string }[] = [
  {
    request: /./,
    statement: /^\s*insert into change_date /,
    reason: 'the time of a change; no response has it but with the change',
  },
  {
    request: /^GET \/app\/indicators\/[\da-f-]+$/,
    statement: /^select ("indicator"\.\*|"created_at" as|\* from "indicator_source")/,
    reason:
      'the state of an indicator that the principal sees; details.mappers.ts leaves out sources above the ceiling',
  },
  {
    request:
      /^(GET (\/api\/v1\/(indicators|feeds\/[^/?]+)\/changes|\/v1\/decisions\/stream)(\?|$)|POST \/mcp$)/,
    statement:
      /^\s*(with held as materialized|\(select indicator\.id, indicator\.type, indicator\.value, (true|false) as was\s+from |select "id", "revision", "expires_at" from "indicator" where id = any|select\s+\(select max\(expires_at\)|with entity as \(|select indicator\.id(, indicator\.expires_at|, indicator\.type, indicator\.value)?(, indicator\.number, indicator\.tags, indicator\.expires_at, indicator\.for_detection, indicator\.whitelisted_parts)? from (indicator|\()|select max\(revision\) as last from \(\s*select revision from indicator |select shown\.\*, indicator\.id, indicator\.revision, indicator\.expires_at from \(\s*\(select \* from indicator )/,
    reason:
      'which rows have changed, and what the client has of them; the response has rows that it may see, and removes those that it has (test/properties/changes.test.ts, crowdsec.test.ts)',
  },
  {
    request: /^GET \/taxii2\/root\/collections\/[^/?]+\/objects/,
    statement: /^\s*select (distinct on \(place|distinct 'indicator' as kind)/,
    reason:
      'states of hidden rows in which the caller saw them; the condition is that of the state (test/properties/taxii.test.ts)',
  },
  {
    request: /^GET \/taxii2\/root\/collections\/[^/?]+\/objects/,
    statement: /^\s*select id, place, modified_at as "modifiedAt"/,
    reason:
      'which entities have changed, also hidden ones, whose ends the caller may get (test/properties/taxii.test.ts)',
  },
  {
    request: /^\w+ \/app\/(imports|sources)\/[\da-f-]+\/(undo|remov)/,
    statement: /./,
    reason: 'requires an administrator who sees everything (requireFullVisibility)',
  },
  {
    request: /^POST \/app\/(indicators\/[\da-f-]+\/(pin|unpin|whitelist)|whitelist)/,
    statement:
      /^\s*(select ("indicator"\.\*, "hit"|\* from "indicator_source" where "indicator_number" = any)|update indicator set value)/,
    reason: 'the state of an indicator follows from all statements about it; the response holds none of them',
  },
  {
    request: /^POST \/app\/(indicators\/[\da-f-]+\/whitelist|whitelist)/,
    statement:
      /^\s*select (id from indicator where id = any\(|indicator\.id, indicator\.type, indicator\.normalized, hit\.list_id)/,
    reason: 'an entry hides all indicators that it matches; the response counts those within the ceiling',
  },
  {
    request: /^POST \/app\/imports\?/,
    statement: /./,
    reason: 'an import merges with all statements; what is above the ceiling counts as new (ImportContext)',
  },
];

/** The alias of indicators up to the ceiling that are only counted: an id that several have stands for none, also while one is hidden. */
const COUNTED_ONLY = 'same_id';

const requests = new AsyncLocalStorage<Asked>();
const violations = new Set<string>();
let executed = 0;

/** Returns how many statements requests have executed so far. */
export const executedStatements = (): number => executed;

/** Runs the handling of a request, whose statements are checked. */
export const handling = <T>(asked: Asked, handle: () => T): T => requests.run(asked, handle);

/** Receives each statement, also of those that no request executes. */
let listener: (statement: LogEvent['query']) => void = () => {};

/** Hands all statements from now on to `listen`. @returns a function that ends this */
export function listenToStatements(listen: typeof listener): () => void {
  listener = listen;
  return () => {
    listener = () => {};
  };
}

export function checkStatement({ query }: LogEvent): void {
  listener(query);
  const { sql } = query;
  const asked = requests.getStore();
  if (!asked) return;
  executed++;
  const { method, url } = asked;
  if (EXCEPTIONS.some(({ request, statement }) => request.test(`${method} ${url}`) && statement.test(sql)))
    return;
  for (const [, table = '', alias = table] of sql.matchAll(READ)) {
    const named = `(?<![\\w"])"?${alias}"?\\.`;
    const hasCeiling = new RegExp(`${named}"?tlp"? <= `).test(sql);
    const needsState = !url.startsWith('/app/') && table === 'indicator' && alias !== COUNTED_ONLY;
    const hasState = new RegExp(`not ${named}"?whitelisted"?`).test(sql);
    if (hasCeiling && (hasState || !needsState)) continue;
    violations.add(
      `${method} ${url} reads ${table} as ${alias} without its condition: ${sql.replaceAll(/\s+/g, ' ')}`,
    );
  }
}

/** @throws for the statements since the last call that read a marked table without its condition */
export function requireConditions(): void {
  const found = [...violations];
  violations.clear();
  if (found.length > 0) throw new Error(found.join('\n'));
}
