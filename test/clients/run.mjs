// Generates clients from the OpenAPI document, compiles programs that use them, and runs these against a demo of its own.
// Needs `npm ci` here, the built product, and Node.js 22.18 or newer, for the generators.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** @throws when it fails */
function run(command, args, env = {}) {
  const { status } = spawnSync(command, args, {
    cwd: here,
    stdio: 'inherit',
    env: { ...process.env, ...env },
    timeout: 600_000,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
}

/** A demo with a store of its own, once it answers. */
async function startDemo(directory) {
  const env = { ...process.env, PORT: '0', TIPLINE_DATA_DIR: directory };
  const demo = spawn(process.execPath, [main, 'demo'], {
    cwd: directory,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => demo.once('exit', resolve));
  let said = '';
  // Its output stays open: the demo ends when it cannot print the rest.
  return await new Promise((resolve, reject) => {
    demo.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      const [, url] = said.match(/listens on (http:\S+)/) ?? [];
      const [, key] = said.match(/TIPLINE_KEY=(tip_\S+)\n/) ?? [];
      if (url && key) resolve({ url, key, stop: () => demo.kill() && ended });
    });
    void ended.then(() => reject(new Error(`the demo ended: ${said}`)));
  });
}

for (const name of ['generated', 'compiled']) rmSync(join(here, name), { recursive: true, force: true });
run('npm', ['run', '--silent', 'generate']);
run('npm', ['run', '--silent', 'compile']);
const directory = mkdtempSync(join(tmpdir(), 'tipline-clients-'));
try {
  const { url, key, stop } = await startDemo(directory);
  try {
    for (const name of ['openapi-fetch', 'hey-api', 'orval'])
      run(process.execPath, [`compiled/with-${name}.js`], { TIPLINE_URL: url, TIPLINE_KEY: key });
  } finally {
    await stop();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
