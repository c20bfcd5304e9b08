import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { forwarder } from '../../src/mcp/forward.ts';
import { run } from '../support/processes.ts';
import { createKey, type Service, serve } from '../support/service.ts';
import { inputFile } from './inputs.ts';

const line = (method: string, params: object = {}, id: number | null = 1) =>
  `${JSON.stringify({ jsonrpc: '2.0', ...(id !== null && { id }), method, params })}\n`;

describe('tipline mcp', () => {
  let service: Service;
  let env: Record<string, string>;

  beforeAll(async () => {
    service = await serve();
    env = { TIPLINE_SERVER: `${service.address}/`, TIPLINE_KEY: await createKey(service) };
    await service.command(
      'import',
      inputFile('list.txt', 'evil.test-feed.net\n'),
      '--source',
      'List',
      '--tlp',
      'GREEN',
    );
  });

  const connect = async (options: ClientOptions) => {
    const client = new Client({ name: 'test', version: '1' }, options);
    const main = inject('productMain') ?? '';
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [main, 'mcp'], env }));
    return client;
  };

  it.each([
    ['2025-03-26', { supportedProtocolVersions: ['2025-03-26'] }],
    ['2025-11-25', {}],
    ['2026-07-28', { versionNegotiation: { mode: { pin: '2026-07-28' } } }],
  ])('serves the client of the SDK by the revision %s', async (revision, options) => {
    const client = await connect(options);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect((await client.listTools()).tools).toHaveLength(9);
    const calls = ['evil.test-feed.net', 'evil[.]test-feed[.]net', 'other.test-feed.net'].map((value) =>
      client.callTool({ name: 'look_up', arguments: { values: [value] } }),
    );
    const verdicts = (await Promise.all(calls)).map(
      ({ structuredContent }) => (structuredContent as { results: [{ verdict: string }] }).results[0].verdict,
    );
    expect(verdicts).toEqual(['SUSPICIOUS', 'SUSPICIOUS', 'UNKNOWN']);
    const name = 'Жар-птица';
    await expect(client.readResource({ uri: `tipline://actors/${name}` })).rejects.toThrow('not found');
    await client.close();
  });

  it('writes nothing but answers to standard output, and ends when its input ends', async () => {
    const input = `${line('ping')}no JSON\n\n${line('notifications/initialized', {}, null)}${line('nothing', {}, 7)}`;
    const { code, stdout } = await run(['mcp'], { env, input });
    expect(code).toBe(0);
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(answers).toHaveLength(3);
    expect(answers).toEqual(
      expect.arrayContaining([
        { jsonrpc: '2.0', id: 1, result: {} },
        { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'A line is not a JSON message.' } },
        { jsonrpc: '2.0', id: 7, error: { code: -32601, message: 'Method not found' } },
      ]),
    );
  });

  it('answers with the error of the server under the id of the request', async () => {
    const wrong = { ...env, TIPLINE_KEY: `tip_${'A'.repeat(43)}` };
    const { stdout } = await run(['mcp'], { env: wrong, input: line('ping', {}, 5) });
    expect(JSON.parse(stdout)).toMatchObject({ id: 5, error: { message: 'The API key is not valid.' } });
  });

  it('answers when the server does not, or is another one', async () => {
    const other = createServer((_, response) => response.writeHead(502).end('<html>'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const address = `http://127.0.0.1:${port}`;
    const bad = await run(['mcp'], { env: { ...env, TIPLINE_SERVER: address }, input: line('ping') });
    expect(JSON.parse(bad.stdout)).toMatchObject({
      id: 1,
      error: { message: `${address}/mcp answers 502 without JSON.` },
    });
    other.close();
    await once(other, 'close');
    const none = await run(['mcp'], { env: { ...env, TIPLINE_SERVER: address }, input: line('ping') });
    expect(JSON.parse(none.stdout).error.message).toMatch(/does not answer: .*ECONNREFUSED/);
    const answers: string[] = [];
    const url = `${address}/mcp`;
    const write = (answer: string) => answers.push(answer);
    const forward = forwarder({ url, key: 'tip_key', userAgent: 'test', write, warn: () => {} });
    const batch = [line('ping', {}, 3), line('notifications/initialized', {}, null), line('ping', {}, 4)];
    await forward(`[${batch.join(',')}]`);
    const error = { code: -32_000, message: expect.stringContaining('does not answer') };
    expect(answers.map((answer) => JSON.parse(answer))).toEqual([
      [3, 4].map((id) => ({ jsonrpc: '2.0', id, error })),
    ]);
  });

  it('sends neither key nor message to the address of a redirect', async () => {
    let asked = 0;
    const other = createServer((_, response) => {
      asked++;
      response.writeHead(asked === 1 ? 307 : 200, { location: '/elsewhere' }).end('{}');
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/mcp`;
    const answers: string[] = [];
    const write = (answer: string) => answers.push(answer);
    const forward = forwarder({ url, key: 'tip_key', userAgent: 'test', write, warn: () => {} });
    await forward(line('ping'));
    other.close();
    expect(asked).toBe(1);
    const message = `${url} redirects to /elsewhere. Redirects are not followed: give the address of the server itself.`;
    expect(answers.map((answer) => JSON.parse(answer).error)).toEqual([{ code: -32_000, message }]);
  });

  it('answers a message that is too long for the server with its id', async () => {
    const input = `${line('ping', { _meta: { note: 'x'.repeat(3_000_000) } }, 1)}\n${line('ping', {}, 2)}`;
    const { stdout } = await run(['mcp'], { env, input });
    const answers = stdout
      .trim()
      .split('\n')
      .map((answer) => JSON.parse(answer));
    expect(answers).toHaveLength(2);
    expect(answers).toContainEqual({
      jsonrpc: '2.0',
      id: 1,
      error: expect.objectContaining({ code: expect.any(Number) }),
    });
    expect(answers).toContainEqual(expect.objectContaining({ id: 2, result: {} }));
  });

  it('leaves out a message that is longer than 16 MiB, and goes on', async () => {
    const input = `${line('ping', { note: 'x'.repeat(17_000_000) }, 1)}\n${line('ping', {}, 2)}`;
    const { stdout, stderr } = await run(['mcp'], { env, input });
    expect(JSON.parse(stdout)).toMatchObject({ id: 2, result: {} });
    expect(stderr).toContain('A message has more than 16777216 characters and is left out.');
  });

  it.each([
    [{ TIPLINE_KEY: '' }, 'TIPLINE_KEY must be set to an API key.'],
    [{ TIPLINE_SERVER: 'ftp://x' }, '--server must be an http or https URL.'],
  ])('does not start with %j', async (settings, expected) => {
    const { code, stdout, stderr } = await run(['mcp'], { env: { ...env, ...settings }, input: '' });
    expect([code, stdout, stderr.trim()]).toEqual([2, '', expected]);
  });
});
