// Runs the conformance suite of the Model Context Protocol against the demo: every scenario is required, or left out for a reason
// (scenarios.mjs). Needs a build, `npm ci --prefix test/mcp-conformance`, and Node.js 22 or newer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXAMPLE_CHECKS, LEFT_OUT, REQUIRED, REVISIONS } from './scenarios.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const main = join(here, '../../dist/main.js');
const suite = join(here, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const directory = mkdtempSync(join(tmpdir(), 'tipline-mcp-conformance-'));

const problems = [];
const { server, address, key } = await startDemo();
const proxy = await startProxy(address, key);
try {
  for (const revision of REVISIONS) await runRevision(revision);
} finally {
  proxy.close();
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(directory, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

async function runRevision(revision) {
  const names = await scenariosOf(revision);
  const unknown = names.filter((name) => !(name in REQUIRED) && !(name in LEFT_OUT));
  for (const name of unknown) problems.push(`${revision} ${name}: neither required nor left out`);
  const output = join(directory, revision);
  const url = `http://localhost:${proxy.address().port}/mcp`;
  const wanted = names.filter((name) => name in REQUIRED);
  for (const name of wanted)
    await run([
      'server',
      '--url',
      url,
      '--scenario',
      name,
      '--spec-version',
      revision,
      '--timeout',
      '120000',
      '--output-dir',
      output,
    ]);
  let passed = 0;
  for (const name of wanted) {
    const checks = checksOf(output, name);
    if (!checks) problems.push(`${revision} ${name}: no result`);
    for (const { id, status, errorMessage } of checks ?? []) {
      if (status === 'SUCCESS') passed++;
      if (status === 'FAILURE' && !EXAMPLE_CHECKS.includes(id))
        problems.push(`${revision} ${name} ${id}: ${errorMessage}`);
    }
  }
  console.log(
    `${revision}: ${wanted.length} scenarios, ${passed} checks passed, ${names.length - wanted.length} scenarios left out`,
  );
}

/** The server scenarios of a revision, without those of extensions. */
async function scenariosOf(revision) {
  const { stdout } = await run(['list', '--server', '--spec-version', revision]);
  return [...stdout.matchAll(/^ {2}- (\S+) \[([^\]]*)\]$/gm)]
    .filter(([, , revisions]) => revisions.split(',').includes(revision))
    .map(([, name]) => name);
}

/** The checks of the last run of a scenario. */
function checksOf(output, name) {
  const folder = readdirSync(output).find((entry) => entry.startsWith(`server-${name}-2`));
  return folder && JSON.parse(readFileSync(join(output, folder, 'checks.json'), 'utf8'));
}

/** The exit code says nothing: checks of the suite's own example server fail. */
async function run(args) {
  const child = spawn(process.execPath, [suite, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  await once(child, 'close');
  return { stdout };
}

async function startDemo() {
  const env = {
    ...process.env,
    PORT: '0',
    TIPLINE_DATA_DIR: join(directory, 'data'),
    PUBLIC_API_RATE_LIMIT_PER_WINDOW: '1000000',
    LOG_LEVEL: 'error',
  };
  const child = spawn(process.execPath, [main, 'demo'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  // The output stays open and is read on: the demo ends when it cannot write.
  const output = child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false });
  for await (const chunk of output) {
    text += chunk;
    const [, found] = /TIPLINE_KEY=(tip_\S+)/.exec(text) ?? [];
    const [, at] = /listens on (http:\S+)/.exec(text) ?? [];
    if (found && at) {
      child.stdout.resume();
      return { server: child, address: at, key: found };
    }
  }
  throw new Error(`the demo did not start: ${text}`);
}

/** Adds the API key to each request: the suite can send none. */
async function startProxy(target, apiKey) {
  const { hostname, port } = new URL(target);
  const listener = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${apiKey}` };
    const { url: path, method } = incoming;
    const forwarded = httpRequest({ host: hostname, port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return listener;
}
