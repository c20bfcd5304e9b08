import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { inject } from 'vitest';
import type { Db } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { temporaryDirectory } from './directories.ts';
import { type Exit, type Running, run, tipline } from './processes.ts';

export const METRICS_TOKEN = 'token-of-the-tests';

export interface Service extends Running {
  /** http://127.0.0.1:port */
  address: string;
  directory: string;
  env: Record<string, string>;
  /** A command with the same settings. */
  command(...args: string[]): Promise<Exit>;
  get(path: string, key?: string, headers?: Record<string, string>): Promise<Response>;
  /** Ends it as an operator does. */
  stop(): Promise<Exit>;
}

/** `tipline serve` (or demo) on a free port, when it answers; on an empty store (or one with the sample) unless a directory is given. */
export async function serve(settings: Record<string, string> = {}, verb = 'serve'): Promise<Service> {
  const directory = settings.TIPLINE_DATA_DIR ?? (verb === 'demo' ? await demoStore() : emptyStore());
  const env = { METRICS_TOKEN, ...settings, TIPLINE_DATA_DIR: directory };
  const running = tipline([verb], { env: { ...env, PORT: '0' } });
  const [, address = ''] = await running.says(/listens on (https?:\S+)/);
  return {
    ...running,
    address,
    directory,
    env,
    command: (...args) => run(args, { env }),
    get: (path, key, headers = {}) =>
      fetch(address + path, { headers: { ...(key && { authorization: `Bearer ${key}` }), ...headers } }),
    stop() {
      running.signal('SIGTERM');
      return running.exit;
    },
  };
}

/** A data directory with an empty store: making one takes seconds, copying it does not. */
export const emptyStore = (): string => copyOf(madeStore());

function madeStore(): string {
  const { directory } = inject('emptyStore');
  if (directory === null) throw new Error('the sources do not compile; see above');
  return directory;
}

function copyOf(directory: string, copy = temporaryDirectory()): string {
  cpSync(directory, copy, { recursive: true });
  return copy;
}

/** A data directory as a demo leaves it, which is made once, beside the empty one. Of those made at the same time the first is used. */
async function demoStore(): Promise<string> {
  const parent = dirname(madeStore());
  const store = join(parent, 'demo');
  if (!existsSync(store)) {
    const demo = await serve({ TIPLINE_DATA_DIR: emptyStore() }, 'demo');
    await demo.says(/Stop with/);
    await demo.stop();
    const made = copyOf(demo.directory, mkdtempSync(join(parent, 'made-')));
    try {
      renameSync(made, store);
    } catch (error) {
      rmSync(made, { recursive: true });
      if (!existsSync(store)) throw error;
    }
  }
  return copyOf(store);
}

/** A new key, made through the command line. */
export async function createKey(
  { command }: Pick<Service, 'command'>,
  ...options: string[]
): Promise<string> {
  const { code, stdout, stderr } = await command('keys', 'create', '--name', 'test', '--json', ...options);
  if (code !== 0) throw new Error(`keys create: ${stderr}`);
  return (JSON.parse(stdout) as { key: string }).key;
}

/** How many of something the API lists. */
export async function total(
  service: Service,
  key: string,
  path = '/api/v1/indicators',
  filters: Record<string, string> = {},
): Promise<number> {
  const answer = await service.get(`${path}?${new URLSearchParams({ pageSize: '1', ...filters })}`, key);
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { total: number }).total;
}

/** Looks into a data directory: as its holder, or through the process that holds it. */
export async function withStore<T>(dataDirectory: string, use: (db: Db) => Promise<T>): Promise<T> {
  const options = { url: undefined, dataDirectory, allowRemote: true, onIdleError: () => {} };
  const database = await openDatabase(options);
  try {
    return await use(database.db);
  } finally {
    await database.close();
  }
}

export interface StoreFacts {
  revision: number;
  indicators: number;
  /** Everything that should never be: each is 0 in a sound store. */
  faults: Record<string, number>;
}

export async function storeFacts(db: Db): Promise<StoreFacts> {
  const { rows } = await sql<{ revision: number; indicators: number } & Record<string, number>>`
    with entity as (
      select id, revision from indicator union all select id, revision from actor
      union all select id, revision from campaign union all select id, revision from technique
      union all select id, revision from software union all select id, revision from report
    )
    select (select value from revision) as revision,
      (select count(*) from indicator) as indicators,
      (select count(*) from relationship where from_id not in (select id from entity)
        or to_id not in (select id from entity)) as "half-linked relationships",
      (select count(*) from indicator as i
        where not exists (select from indicator_source as s where s.indicator_number = i.number)) as "indicators of no source",
      (select count(*) from external_id where entity_id not in (select id from entity)) as "ids of nothing",
      (select count(*) from entity where revision > (select value from revision)) as "rows of the future",
      (select abs(last_number - (select count(*) from indicator)) from revision) as "numbers without indicators"
  `.execute(db);
  const { revision = -1, indicators = -1, ...faults } = rows[0] ?? {};
  return { revision, indicators, faults };
}

export const SOUND = {
  'half-linked relationships': 0,
  'indicators of no source': 0,
  'ids of nothing': 0,
  'rows of the future': 0,
  'numbers without indicators': 0,
};
