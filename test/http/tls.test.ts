import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, createServer, type Server } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { TlsFiles } from '../../src/config/config.ts';
import { drainConnections } from '../../src/http/connections.ts';
import { handleClientError } from '../../src/http/error-handler.ts';
import { openTls, type Tls } from '../../src/http/tls.ts';
import { authority, identity, selfSigned } from '../support/certificates.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { NOW } from '../support/harness.ts';
import { handshake, linkIdentity, send, writeIdentity } from '../support/tls-client.ts';

const TICKET_KEY = Buffer.alloc(48, 7);

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Line {
  level: string;
  message: string;
  reason?: string;
}

/** TLS of these files, and what it logs. */
async function open(
  files: TlsFiles,
  { ticketKey = TICKET_KEY, handshakeTimeoutMs = 60_000, now = NOW } = {},
): Promise<{ tls: Tls; lines: Line[] }> {
  const lines: Line[] = [];
  const note = (level: string) => (details: object, message: string) =>
    void lines.push({ level, message, ...details });
  const tls = await openTls(files, {
    clock: () => now,
    log: { info: note('info'), warn: note('warn'), error: note('error') },
    ticketKeys: (use) => use(ticketKey),
    handshakeTimeoutMs,
  });
  closing.push(() => void tls.close());
  return { tls, lines };
}

/** A server that answers each request with its URL. @returns its port */
async function serve(tls: Tls): Promise<{ port: number; server: Server }> {
  const server = createServer(tls.options, (request, response) => response.end(request.url));
  server.on('clientError', (error, socket) => handleClientError(error, socket as never));
  tls.applyTo(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, server };
}

/** The cipher suite and the protocol of a connection; the code of the error when there is none. */
async function agreedOn(port: number, options: ConnectionOptions): Promise<string> {
  try {
    const socket = await handshake(port, options);
    const agreed = `${socket.getProtocol()} ${socket.getCipher().standardName} ${socket.alpnProtocol || ''}`;
    socket.destroy();
    return agreed.trim();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

describe('the protocol', () => {
  const own = selfSigned('localhost');
  const port = async () => (await serve((await open(writeIdentity(own))).tls)).port;

  it.each<[string, ConnectionOptions, string]>([
    // Clients of Node prefer this one.
    ['TLS 1.3', {}, 'TLSv1.3 TLS_AES_256_GCM_SHA384'],
    [
      'TLS 1.2 with ECDHE and AES-GCM',
      { maxVersion: 'TLSv1.2' },
      'TLSv1.2 TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
    ],
    [
      'TLS 1.2 with ChaCha20 if the client prefers it',
      { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256' },
      'TLSv1.2 TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
    ],
    ['HTTP/1.1 by ALPN', { ALPNProtocols: ['h2', 'http/1.1'] }, 'TLSv1.3 TLS_AES_256_GCM_SHA384 http/1.1'],
  ])('is %s', async (_, options, expected) => {
    expect(await agreedOn(await port(), { ca: own.cert, ...options })).toBe(expected);
  });

  // The names of alerts differ between versions of OpenSSL.
  it.each<[string, ConnectionOptions, RegExp]>([
    [
      'TLS 1.1',
      { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
      /ALERT_PROTOCOL_VERSION$/,
    ],
    [
      'suites without authenticated encryption',
      { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA' },
      /ALERT_HANDSHAKE_FAILURE$/,
    ],
    [
      'suites without forward secrecy',
      { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256:AES256-GCM-SHA384' },
      /ALERT_HANDSHAKE_FAILURE$/,
    ],
    ['HTTP/2 alone', { ALPNProtocols: ['h2'] }, /ALERT_NO_APPLICATION_PROTOCOL$/],
  ])('is not %s', async (_, options, code) => {
    expect(await agreedOn(await port(), { ca: own.cert, ...options })).toMatch(code);
  });

  it('does not renegotiate', async () => {
    const socket = await handshake(await port(), { ca: own.cert, maxVersion: 'TLSv1.2' });
    const failed = new Promise((done) => socket.once('error', done));
    socket.renegotiate({}, () => {});
    expect(await failed).toMatchObject({ code: 'ERR_SSL_NO_RENEGOTIATION' });
  });

  it('closes the connection of a client that sends plain HTTP', async () => {
    const socket = connect(await port(), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    socket.on('error', () => {});
    await once(socket.resume(), 'close');
  });

  it('sends the certificates of the authorities in the file', async () => {
    const root = authority({ names: ['Root'], isAuthority: true });
    const between = authority({ names: ['Between'], isAuthority: true, issuer: root });
    const leaf = identity({ names: ['localhost'], issuer: between });
    const chain = { key: leaf.key, cert: leaf.cert + between.cert };
    const { tls } = await open(writeIdentity(chain));
    expect(await agreedOn((await serve(tls)).port, { ca: root.cert })).toContain('TLSv1.3');
  });
});

describe('a handshake', () => {
  it('that does not end in time is cut off', async () => {
    const { tls } = await open(writeIdentity(selfSigned('localhost')), { handshakeTimeoutMs: 50 });
    const socket = connect((await serve(tls)).port, '127.0.0.1');
    await once(socket.resume(), 'close');
  });

  /** Whether a session of one server is resumed by another. */
  async function isResumed(ticketKeys: (typeof TICKET_KEY)[]): Promise<boolean> {
    const own = selfSigned('localhost');
    const ports: number[] = [];
    for (const ticketKey of ticketKeys)
      ports.push((await serve((await open(writeIdentity(own), { ticketKey })).tls)).port);
    const first = await handshake(ports[0] ?? 0, { ca: own.cert });
    // TLS 1.3 sends tickets after the handshake.
    const [session] = (await once(first, 'session')) as [Buffer];
    const second = await handshake(ports[1] ?? 0, { ca: own.cert, session });
    const reused = second.isSessionReused();
    for (const socket of [first, second]) socket.destroy();
    return reused;
  }

  it('resumes a session of another server with the same ticket key', async () => {
    expect(await isResumed([TICKET_KEY, TICKET_KEY])).toBe(true);
  });

  it('is complete where the ticket key is another', async () => {
    expect(await isResumed([TICKET_KEY, Buffer.alloc(48, 8)])).toBe(false);
  });
});

describe('a certificate that is replaced', () => {
  const [first, second] = [selfSigned('localhost'), selfSigned('localhost')];

  it('is used for new connections, and open ones go on', async () => {
    const files = writeIdentity(first);
    const { tls, lines } = await open(files);
    const { port } = await serve(tls);
    const url = `https://localhost:${port}`;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await send(`${url}/1`, first.cert, { agent });
    const [before] = Object.values(agent.freeSockets).flat();
    writeFileSync(files.certificate, second.cert);
    writeFileSync(files.key, second.key);
    await tls.reload();
    const reused = await send(`${url}/2`, first.cert, { agent });
    expect(Object.values(agent.freeSockets).flat()).toEqual([before]);
    const fresh = await send(`${url}/3`, second.cert, { agent: new Agent() });
    agent.destroy();
    expect([reused.body, fresh.body]).toEqual(['/2', '/3']);
    expect(lines).toMatchObject([{ level: 'info', message: 'TLS certificate reloaded' }]);
  });

  it('is noticed when a link to its directory is switched', async () => {
    const { files, directory } = linkIdentity(first);
    const { tls } = await open(files);
    const { port } = await serve(tls);
    writeIdentity(second, join(directory, '..2'));
    symlinkSync('..2', join(directory, '..data_tmp'));
    renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
    await tls.reload();
    expect(await agreedOn(port, { ca: second.cert })).toContain('TLSv1.3');
  });

  it('is not reloaded while the content is the same', async () => {
    const files = writeIdentity(first);
    const { tls, lines } = await open(files);
    writeIdentity(first, join(files.certificate, '..'));
    await tls.reload();
    expect(lines).toEqual([]);
  });

  it('without its key leaves the previous one in use, and is reported once until it is complete', async () => {
    const files = writeIdentity(first);
    const { tls, lines } = await open(files);
    const { port } = await serve(tls);
    writeFileSync(files.certificate, second.cert);
    await tls.reload();
    await tls.reload();
    const meanwhile = await agreedOn(port, { ca: first.cert });
    writeFileSync(files.key, second.key);
    await tls.reload();
    const later = await agreedOn(port, { ca: second.cert });
    expect([meanwhile, later]).toEqual(Array(2).fill(expect.stringContaining('TLSv1.3')));
    expect(lines).toMatchObject([
      {
        level: 'error',
        message: 'TLS certificate not reloaded: the previous one stays in use',
        reason: expect.stringContaining('does not belong to the first certificate'),
      },
      { level: 'info', message: 'TLS certificate reloaded' },
    ]);
  });

  it('by nothing leaves the previous one in use', async () => {
    const files = writeIdentity(first);
    const { tls, lines } = await open(files);
    const { port } = await serve(tls);
    rmSync(files.certificate);
    await tls.reload();
    expect(await agreedOn(port, { ca: first.cert })).toContain('TLSv1.3');
    expect(lines).toMatchObject([
      { level: 'error', reason: expect.stringContaining('there is no such file') },
    ]);
  });
});

describe('a certificate whose time', () => {
  const dated = identity({
    names: ['localhost'],
    from: new Date('2026-01-01T00:00:00Z'),
    until: new Date('2026-03-01T00:00:00Z'),
  });

  it.each([
    ['is over is used, and warned of', '2026-03-02T00:00:00Z', ['the TLS certificate has expired']],
    ['has not come is used, and warned of', '2025-12-31T00:00:00Z', ['the TLS certificate is not valid yet']],
    ['is now is used', '2026-02-01T00:00:00Z', []],
  ])('%s', async (_, now, messages) => {
    const { tls, lines } = await open(writeIdentity(dated), { now: new Date(now) });
    expect(lines.map(({ level, message }) => [level, message])).toEqual(
      messages.map((text) => ['warn', text]),
    );
    expect(tls.expiresAt()).toEqual(new Date('2026-03-01T00:00:00Z'));
  });

  it('ends while it is in use is warned of once', async () => {
    const now = new Date('2026-02-28T23:59:59Z');
    const { tls, lines } = await open(writeIdentity(dated), { now });
    await tls.reload();
    expect(lines).toEqual([]);
    now.setTime(Date.parse('2026-03-01T00:00:01Z'));
    await tls.reload();
    await tls.reload();
    expect(lines).toMatchObject([{ level: 'warn', message: 'the TLS certificate has expired' }]);
  });
});

describe('files that cannot be used', () => {
  const own = selfSigned('localhost');
  const encrypted = (passphrase: string) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const cipher = 'aes-256-cbc';
    return privateKey.export({ type: 'pkcs8', format: 'pem', cipher, passphrase }).toString();
  };
  const write = (change: Partial<typeof own>) => writeIdentity({ ...own, ...change });
  const missing = join(temporaryDirectory(), 'missing.pem');

  it.each<[string, TlsFiles, (files: TlsFiles) => string]>([
    [
      'a certificate that does not exist',
      { ...write({}), certificate: missing },
      () => `TIPLINE_TLS_CERT: ${missing} cannot be used: there is no such file or directory.`,
    ],
    [
      'a key that does not exist',
      { ...write({}), key: missing },
      () => `TIPLINE_TLS_KEY: ${missing} cannot be used: there is no such file or directory.`,
    ],
    [
      'a directory',
      { ...write({}), key: join(missing, '..') },
      ({ key }) => `TIPLINE_TLS_KEY: ${key} cannot be used: it is a directory.`,
    ],
    [
      'a certificate that is none',
      write({ cert: own.key }),
      ({ certificate }) => `TIPLINE_TLS_CERT: ${certificate} cannot be used: it holds no certificate in PEM.`,
    ],
    [
      'a certificate that is cut off',
      write({ cert: own.cert.slice(0, 200) }),
      ({ certificate }) => `TIPLINE_TLS_CERT: ${certificate} cannot be used: bad end line.`,
    ],
    [
      'a key that is none',
      write({ key: own.cert }),
      ({ key }) => `TIPLINE_TLS_KEY: ${key} cannot be used: it holds no private key in PEM.`,
    ],
    [
      'the key of another certificate',
      write({ key: selfSigned('localhost').key }),
      ({ key, certificate }) =>
        `TIPLINE_TLS_KEY: the key in ${key} does not belong to the first certificate in ${certificate} (TIPLINE_TLS_CERT).`,
    ],
    [
      'an encrypted key without its passphrase',
      write({ key: encrypted('sesame') }),
      ({ key }) =>
        `TIPLINE_TLS_KEY: ${key} cannot be used: it is encrypted, and TIPLINE_TLS_PASSPHRASE is not set.`,
    ],
    [
      'an encrypted key with another passphrase',
      { ...write({ key: encrypted('sesame') }), passphrase: 'mellon' },
      ({ key }) => `TIPLINE_TLS_KEY: ${key} cannot be used: TIPLINE_TLS_PASSPHRASE does not decrypt it.`,
    ],
  ])('are named with the setting and the reason: %s', async (_, files, message) => {
    await expect(open(files)).rejects.toMatchObject({ name: 'ConfigError', message: message(files) });
  });
});

it('an encrypted key is used with its passphrase', async () => {
  const own = selfSigned('localhost');
  const key = createPrivateKey(own.key)
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'sesame' })
    .toString();
  const { tls } = await open({ ...writeIdentity({ ...own, key }), passphrase: 'sesame' });
  expect(await agreedOn((await serve(tls)).port, { ca: own.cert })).toContain('TLSv1.3');
});

it('a completed response is sent in full to a slow reader before a server with TLS closes', async () => {
  const own = selfSigned('localhost');
  const { tls } = await open(writeIdentity(own));
  const body = Buffer.alloc(20_000_000, 'x');
  let ended = () => {};
  const answered = new Promise<void>((resolve) => (ended = resolve));
  const server = createServer(tls.options, (_, response) => {
    response.writeHead(200, { 'content-length': body.length });
    response.end(body);
    ended();
  });
  drainConnections(server as never);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = await handshake((server.address() as AddressInfo).port, { ca: own.cert });
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  client.pause();
  await answered;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const idle = setInterval(() => server.closeIdleConnections(), 10);
  let got = 0;
  client.on('data', (bytes) => (got += bytes.length)).resume();
  await once(client, 'close');
  await closed;
  clearInterval(idle);
  expect(got).toBeGreaterThan(body.length);
});
