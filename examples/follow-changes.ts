/**
 * Keeps a copy of a list of Tipline's indicators in a JSON file.
 *
 *     TIPLINE_KEY=tip_… node follow-changes.ts http://127.0.0.1:8080 copy.json minConfidence=70 forDetection=true
 *
 * With --once it ends when the copy is complete. Node 22.18 or newer, without other packages.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

interface Indicator {
  id: string;
  type: string;
  value: string;
}

type Change = { op: 'upsert'; indicator: Indicator } | { op: 'remove'; id: string };

interface Changes {
  changes: Change[];
  cursor: string;
  hasMore: boolean;
}

interface Copy {
  cursor: string | null;
  indicators: Record<string, Indicator>;
}

const PAGE = 5_000;
const WAIT_SECONDS = 30;
/** The cursor is not valid here, belongs to another key, or is too old: the copy is replaced. */
const BEGIN_AGAIN = [400, 409, 410];
const TRY_LATER = [429, 502, 503, 504];

/** Returns the next changes; null: the cursor cannot be used. Waits while the server cannot answer. */
async function fetchChanges(
  base: string,
  query: Record<string, string>,
  key: string,
): Promise<Changes | null> {
  const url = `${base}/api/v1/indicators/changes?${new URLSearchParams(query)}`;
  for (let pause = 1; ; pause = Math.min(2 * pause, 60)) {
    let problem = 'the response is not JSON';
    // A redirect is an error: another address is no place for the key, or for changes to come from.
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${key}` },
      redirect: 'manual',
    }).catch((error: Error) => {
      problem = String(error.cause ?? error);
      return null;
    });
    const found = response?.ok ? ((await response.json().catch(() => null)) as Changes | null) : null;
    if (found) return found;
    if (response && query.cursor && BEGIN_AGAIN.includes(response.status)) return null;
    if (response && !response.ok && !TRY_LATER.includes(response.status))
      throw new Error(`${response.status}: ${await response.text()}`);
    if (response && !response.ok) problem = `status ${response.status}`;
    const retryAfter = response?.headers.get('retry-after') ?? '';
    // It may also be a date.
    const seconds = Math.max(1, /^\d{1,5}$/.test(retryAfter) ? Number(retryAfter) : pause);
    console.error(`${problem}: trying again in ${seconds} s`);
    await delay(1000 * seconds);
  }
}

async function readCopy(path: string): Promise<Copy> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return text === null ? { cursor: null, indicators: {} } : JSON.parse(text);
}

/** Replaces the file as a whole: a reader never sees half of it, and the cursor always belongs to the indicators. */
async function writeCopy(path: string, copy: Copy): Promise<void> {
  await writeFile(`${path}.new`, JSON.stringify(copy));
  await rename(`${path}.new`, path);
}

/** Follows the changes. The file is written whenever the copy is complete. */
export async function follow(
  base: string,
  path: string,
  filters: Record<string, string>,
  key: string,
  once = false,
): Promise<void> {
  let copy = await readCopy(path);
  for (;;) {
    // The server rejects a cursor of other filters: then the copy is replaced.
    const from = copy.cursor === null ? filters : { ...filters, cursor: copy.cursor };
    const wait = once ? 0 : WAIT_SECONDS;
    const found = await fetchChanges(base, { limit: String(PAGE), wait: String(wait), ...from }, key);
    if (found === null) {
      copy = { cursor: null, indicators: {} };
      continue;
    }
    for (const change of found.changes) {
      if (change.op === 'upsert') copy.indicators[change.indicator.id] = change.indicator;
      else delete copy.indicators[change.id];
    }
    const isNew = copy.cursor !== found.cursor;
    copy.cursor = found.cursor;
    if (found.hasMore) continue;
    if (isNew) await writeCopy(path, copy);
    if (once) return;
  }
}

/** Reads arguments of the form name=value. */
export function filtersOf(texts: readonly string[]): Record<string, string> {
  const filters = new Map<string, string>();
  for (const text of texts) {
    const end = text.indexOf('=');
    const name = text.slice(0, Math.max(0, end));
    if (name === '' || filters.has(name))
      throw new Error(
        `${text}: a filter is name=value, each name once; a list has commas, as in types=IPV4,IPV6.`,
      );
    filters.set(name, text.slice(end + 1));
  }
  return Object.fromEntries(filters);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [base = '', path = '', ...rest] = process.argv.slice(2);
  const filters = filtersOf(rest.filter((text) => !text.startsWith('--')));
  const key = process.env.TIPLINE_KEY?.trim() ?? '';
  // The error of fetch would show the key that it rejects.
  if (!/^[!-~]+$/.test(key)) throw new Error('TIPLINE_KEY must be set to an API key.');
  await follow(base, path, filters, key, rest.includes('--once'));
}
