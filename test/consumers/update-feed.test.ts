import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';

const SCRIPT = fileURLToPath(new URL('../../examples/update-feed.sh', import.meta.url));
const isInstalled = spawnSync('curl', ['--version']).status === 0;

describe.skipIf(!isInstalled)('examples/update-feed.sh', () => {
  let server: Server;
  let directory: string;
  let file: string;
  let respond: Parameters<typeof createServer>[1];

  beforeEach(async () => {
    directory = temporaryDirectory();
    file = join(directory, 'list');
    writeFileSync(join(directory, 'netrc'), 'machine 127.0.0.1 login tipline password tip_secret\n');
    server = createServer((request, response) => respond?.(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  /** Runs the script with a command, which appends the content of the list to a log. */
  const run = (command = `cat ${file} >> ${directory}/log`) =>
    new Promise<{ status: number; stderr: string }>((resolve) => {
      const { port } = server.address() as AddressInfo;
      const env = { ...process.env, TIPLINE_NETRC: join(directory, 'netrc') };
      execFile(SCRIPT, [`http://127.0.0.1:${port}/list`, file, command], { env }, (error, _, stderr) =>
        resolve({ status: Number(error?.code ?? 0), stderr }),
      );
    });
  const update = async (command?: string) => (await run(command)).status;
  const content = () => readFileSync(file, 'utf8');

  it('reads the feed with the key, and runs the command when the list changes', async () => {
    const keys: (string | undefined)[] = [];
    respond = (request, response) => {
      keys.push(request.headers.authorization);
      response.end(keys.length < 3 ? 'first\n' : 'second\n');
    };
    for (let run = 0; run < 4; run++) expect(await update()).toBe(0);
    expect(readFileSync(join(directory, 'log'), 'utf8')).toBe('first\nsecond\n');
    expect(new Set(keys)).toEqual(new Set([`Basic ${btoa('tipline:tip_secret')}`]));
  });

  it('leaves no temporary file when it is ended', async () => {
    const { port } = server.address() as AddressInfo;
    const env = { ...process.env, TIPLINE_NETRC: join(directory, 'netrc') };
    const script = spawn(SCRIPT, [`http://127.0.0.1:${port}/list`, file, 'true'], { env, detached: true });
    // While it waits for the response.
    respond = () => void process.kill(-Number(script.pid), 'SIGTERM');
    await once(script, 'close');
    expect(readdirSync(directory)).toEqual(['netrc']);
  });

  it('replaces a list by an empty one', async () => {
    writeFileSync(file, 'old\n');
    respond = (_, response) => void response.end();
    expect(await update()).toBe(0);
    expect(content()).toBe('');
  });

  it.each<[string, Parameters<typeof createServer>[1]]>([
    ['an error', (_, response) => void response.writeHead(503).end('down\n')],
    // As REDIRECT_PORT answers.
    [
      'a redirect without a body',
      (_, response) => void response.writeHead(308, { location: 'https://127.0.0.1:8443/list' }).end(),
    ],
    [
      'a redirect with a page',
      (_, response) =>
        void response.writeHead(301, { location: 'https://127.0.0.1/' }).end('<html>Moved</html>\n'),
    ],
    ['a success without content', (_, response) => void response.writeHead(204).end()],
    [
      'a response that ends early',
      (_, response) => {
        response.write('new\n');
        setImmediate(() => response.destroy());
      },
    ],
  ])('keeps the list after %s', async (_, answer) => {
    writeFileSync(file, 'old\n');
    respond = answer;
    expect(await update()).not.toBe(0);
    expect(content()).toBe('old\n');
    expect(readdirSync(directory).sort()).toEqual(['list', 'netrc']);
  });

  it('names the status of a redirect', async () => {
    respond = (_, response) => void response.writeHead(308, { location: 'https://127.0.0.1/' }).end();
    expect((await run()).stderr).toContain('/list answered 308, not 200');
  });

  it('restores the list if the command rejects the new one', async () => {
    writeFileSync(file, 'old\n');
    respond = (_, response) => void response.end('new\n');
    expect(await update('exit 3')).toBe(1);
    expect(content()).toBe('old\n');
  });

  it('runs the command again if it was killed before the command had ended, and restores the last loaded list', async () => {
    writeFileSync(file, 'old\n');
    respond = (_, response) => void response.end('new\n');
    // The shell of the command ends the script.
    await update('kill -9 $PPID');
    expect(content()).toBe('new\n');
    expect(await update('exit 3')).toBe(1);
    expect(content()).toBe('old\n');
    expect(await update()).toBe(0);
    expect(readFileSync(join(directory, 'log'), 'utf8')).toBe('new\n');
  });
});
