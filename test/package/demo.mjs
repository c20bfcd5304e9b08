// Starts the demo in a directory with a command, does what it prints, and stops it.
//   node test/package/demo.mjs DIRECTORY COMMAND AGAIN
// AGAIN is a pattern of the command that the demo must print for starting Tipline again.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [directory, command, again] = process.argv.slice(2);
const before = readdirSync(directory);
const started = performance.now();
// A process group of its own, so that a signal reaches all of it, like Ctrl-C in a terminal.
const server = spawn('sh', ['-c', `exec ${command}`], {
  cwd: directory,
  env: { ...process.env, PORT: '0', LOG_LEVEL: 'warn' },
  stdio: ['ignore', 'pipe', 'inherit'],
  detached: true,
});
const printed = await readUntil(/Stop with Ctrl-C/);
const [, address] = printed.match(/listens on (http:\S+)/);
const [, key] = printed.match(/export TIPLINE_KEY=(tip_\S+)/);
const [, tipline] = printed.match(/The key again: (.*) demo --show-key/);

try {
  await followPrinted();
  await openPages();
  showKey();
  const written = command === 'tipline demo' ? runCommands() : [];
  assert.deepEqual(readdirSync(directory).sort(), [...before, 'data', ...written].sort());
} catch (error) {
  await stop();
  throw error;
}
const code = await stop();
if (!command.startsWith('npx')) assert.equal(code, 0);

/** Ends the server and returns its exit code. */
async function stop() {
  process.kill(-server.pid, 'SIGINT');
  const [code] = await once(server, 'exit');
  return code;
}

/** Returns what the server has printed once it contains words; what comes later is read too, or the server would end. */
function readUntil(words) {
  let text = '';
  return new Promise((done, fail) => {
    server.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      if (words.test(text)) done(text);
    });
    server.once('exit', () => fail(new Error(`${command} has ended: ${text}`)));
  });
}

/** Sends the requests that the demo prints. */
async function followPrinted() {
  const urls = [...printed.matchAll(/curl .*"(http:[^"]+)"/g)].map(([, url]) => url);
  assert.equal(urls.length, 3);
  const [indicators] = await Promise.all(urls.map(getJson));
  console.log(`${command}: first answer after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  assert.equal(indicators.data.length, 3);
}

async function getJson(url) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  assert.equal(response.status, 200, url);
  return response.json();
}

/** Loads the first page of the application and of the reference, with a script of each. */
async function openPages() {
  const page = await (await fetch(`${address}/`)).text();
  const [, script] = page.match(/src="(\/assets\/[^"]+\.js)"/);
  for (const path of [script, '/api/docs', '/api/docs/static/swagger-ui-bundle.js', '/api/openapi.json']) {
    const response = await fetch(address + path);
    assert.equal(response.status, 200, path);
    // The server waits for responses in progress when it ends.
    await response.arrayBuffer();
  }
}

/** Starts Tipline again with the command that the demo prints. */
function showKey() {
  assert.match(tipline, new RegExp(`^${again}$`));
  assert.equal(shell(`${tipline} demo --show-key`).stdout, `export TIPLINE_KEY=${key}\n`);
}

/** Runs commands beside the server, which use its other threads; returns the names of the files written. */
function runCommands() {
  const names = Array.from({ length: 300 }, (_, i) => `host${i}.evil-domain.net`);
  writeFileSync(join(directory, 'ours.txt'), names.join('\n'));
  assert.equal(shell('tipline import ours.txt --source Ours').status, 0);
  assert.equal(shell('tipline export --format csv -o export.csv').status, 0);
  const found = shell(`TIPLINE_KEY=${key} tipline lookup --server ${address} ours.txt`);
  assert.equal(found.stdout.trim().split('\n').length, names.length);
  return ['ours.txt', 'export.csv'];
}

function shell(script) {
  const result = spawnSync('sh', ['-c', script], { cwd: directory, encoding: 'utf8' });
  if (result.status === 1) console.error(result.stderr);
  return result;
}
