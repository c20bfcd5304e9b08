import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sources } from './entities.mjs';
import { SEED } from './generate.mjs';
import { importFile, writeCsv } from './import.mjs';
import { indicators } from './indicators.mjs';
import * as servers from './servers.mjs';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** Starts a server with its worker on an embedded database with so many imported indicators. @returns its process id, URL and a key */
export async function startEmbedded(count) {
  const settings = { TIPLINE_DATA_DIR: servers.temporaryDirectory(), TIPLINE_WORKER: 'on' };
  const now = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000);
  const file = await writeCsv(indicators({ count, now, seed: SEED, sources }), count);
  await importFile(undefined, file, { settings });
  const { url, pid } = await servers.startTiplineProcess(undefined, undefined, settings);
  const created = execFileSync(process.execPath, [MAIN, 'keys', 'create', '--name', 'bench', '--json'], {
    env: { ...servers.tiplineEnvironment(), ...settings },
  });
  return { url, pid, key: JSON.parse(created).key };
}
