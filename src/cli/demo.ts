import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { readConfig } from '../config.ts';
import type { Database, Db } from '../db/open.ts';
import { findKeyByHash } from '../features/api-keys/api-keys.queries.ts';
import { createKey } from '../features/api-keys/api-keys.service.ts';
import { findExample } from '../features/sample/sample.queries.ts';
import { loadSample } from '../features/sample/sample.service.ts';
import { hashApiKey, isUsable, looksLikeApiKey } from '../model/api-key.ts';
import { print } from './dependencies.ts';
import { byWhoRunsThis } from './person.ts';
import { firstStartLines, type RunningServer, startServer } from './serve.ts';

const KEY_FILE = 'demo-key';

export function demoCommand(): Command {
  return new Command('demo')
    .description('run the service with the sample that the repository carries, and a key to read it with')
    .action(demo);
}

async function demo(): Promise<void> {
  const config = readConfig({ serving: true });
  let key = '';
  let example: string | undefined;
  const prepare = async ({ db, refreshStatistics }: Database) => {
    const now = new Date();
    process.stderr.write('Loading the sample if it is not there yet …\n');
    if (await loadSample(db, now)) await refreshStatistics();
    key = await demoKey(db, config.dataDirectory, now);
    example = await findExample(db);
  };
  const server = await startServer(config, { prepare });
  for (const line of welcome(server, key, example)) print(line);
}

/** The same key at each start, as long as it is usable: kept in a file that only this user can read. */
async function demoKey(db: Db, directory: string, now: Date): Promise<string> {
  const path = join(directory, KEY_FILE);
  const kept = (await readFile(path, 'utf8').catch(() => '')).trim();
  const known = looksLikeApiKey(kept) ? await findKeyByHash(db, hashApiKey(kept)) : null;
  if (known && isUsable(known.key, now)) return kept;
  const wanted = { name: 'demo', scopes: [], tlpCeiling: 'RED' as const, networks: [], expiresAt: null };
  const { key } = await createKey(db, wanted, byWhoRunsThis(now));
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, `${key}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return key;
}

/** The key stands in it once. */
function welcome(server: RunningServer, key: string, example: string | undefined): string[] {
  const { address } = server;
  const curl = (path: string) => `  curl -sH "Authorization: Bearer $TIPLINE_KEY" "${address}${path}"`;
  return [
    '',
    `Tipline answers at ${address} with a sample of real threat intelligence.`,
    'Your API key, for this shell:',
    '',
    `  export TIPLINE_KEY=${key}`,
    '',
    'Three things to try:',
    '',
    curl('/api/v1/indicators?type=IPV4&pageSize=3'),
    curl('/api/v1/campaigns?pageSize=3'),
    curl(`/api/v1/indicators/${example}/context`),
    '',
    `All that can be asked: ${address}/api/docs   The application: ${address}/   Stop with Ctrl-C.`,
    ...firstStartLines(server),
  ];
}
