import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, constants, gunzipSync } from 'node:zlib';
import pg from 'pg';
import { temporaryDirectory } from './directories.ts';
import { freshDatabase } from './postgres-nodes.ts';

/** The stores that releases have left; scripts/make-upgrade-fixture.mjs. */

const folder = new URL('../upgrades/', import.meta.url);

/** The versions, the oldest first. */
export const releases = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

export const fileOf = (release: string, name: string) => new URL(`${release}/${name}`, folder);
const contentOf = (release: string, name: string) => readFileSync(fileOf(release, name));

/** Responses of the release on its stores, and their secrets. */
export const factsOf = (release: string): unknown => JSON.parse(contentOf(release, 'facts.json').toString());

/** Returns a data directory with the embedded store of a release. */
export function unpack(release: string): string {
  const directory = join(temporaryDirectory(), 'data');
  mkdirSync(directory);
  const params = { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 };
  const archive = brotliDecompressSync(contentOf(release, 'data.tar.br'), { params });
  execFileSync('tar', ['-xf', '-', '-C', directory], { input: archive });
  return directory;
}

/** Loads the store of a release into a new database of PostgreSQL. */
export async function loadDump(release: string): Promise<Awaited<ReturnType<typeof freshDatabase>>> {
  const database = await freshDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(gunzipSync(contentOf(release, 'postgresql.sql.gz')).toString());
  await client.end();
  return database;
}
