// Makes test/upgrades/VERSION at a release: a data directory, a dump of PostgreSQL and a backup, with what the release answers on them.
//   DATABASE_URL=postgres://… node scripts/make-upgrade-fixture.mjs [MAIN_JS]
// The database must be empty, pg_dump and tar must be in PATH. MAIN_JS is dist/main.js of the release; without it, that of this tree.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const main = resolve(process.argv[2] ?? join(root, 'dist', 'main.js'));
const databaseUrl = process.env.DATABASE_URL;
if (!databaseUrl) throw new Error('DATABASE_URL must name an empty database.');
const { version } = JSON.parse(readFileSync(join(dirname(main), '..', 'package.json'), 'utf8'));
const target = join(root, 'test', 'upgrades', version);
const work = mkdtempSync(join(tmpdir(), 'tipline-upgrade-'));

/** More than a page. */
const DOMAINS = 120;
const EMAIL = 'ada@example.org';
const PASSWORD = 'correct horse battery';
const PASSPHRASE = 'a passphrase of the tests';
const SECRET = 'a secret of the fixtures, long enough';

const { PATH = '', HOME = '' } = process.env;
const command = (env, args, input = '') =>
  execFileSync(process.execPath, [main, ...args], {
    cwd: work,
    env: { PATH, HOME, ...env },
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'inherit'],
  });

/** Starts a server. @returns its address, the token of the first start, and a function that stops it */
async function serve(env) {
  const child = spawn(process.execPath, [main, 'serve'], {
    cwd: work,
    env: { PATH, HOME, ...env, PORT: '0', LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill());
  let said = '';
  const matches = (pattern) =>
    new Promise((done, fail) => {
      child.stdout.on('data', (text) => {
        said += text;
        if (pattern.test(said)) done(said);
      });
      child.once('exit', () => fail(new Error(`the server ended: ${said}`)));
    });
  const text = await matches(/first-start#\S+\n/);
  return {
    address: /listens on (http:\S+)/.exec(text)[1],
    token: /first-start#(\S+)/.exec(text)[1],
    stop: () =>
      new Promise((done) => {
        child.removeAllListeners('exit').once('exit', done);
        child.kill('SIGTERM');
      }),
  };
}

const STIX = {
  type: 'bundle',
  id: 'bundle--5d0092c5-5f74-4287-9642-33f4c354e56d',
  objects: [
    {
      type: 'threat-actor',
      spec_version: '2.1',
      id: 'threat-actor--56f3f0db-b5d5-431c-ae56-c18f02caf500',
      created: '2026-01-01T00:00:00.000Z',
      modified: '2026-01-01T00:00:00.000Z',
      name: 'Test Actor',
    },
    {
      type: 'indicator',
      spec_version: '2.1',
      id: 'indicator--1ed8caa7-a708-4706-b651-f1186ede6ca1',
      created: '2026-01-01T00:00:00.000Z',
      modified: '2026-01-01T00:00:00.000Z',
      pattern: "[ipv4-addr:value = '203.0.113.9']",
      pattern_type: 'stix',
      valid_from: '2026-01-01T00:00:00.000Z',
    },
    {
      type: 'relationship',
      spec_version: '2.1',
      id: 'relationship--44298a74-ba52-4f0c-87a3-1824e67d7fad',
      created: '2026-01-01T00:00:00.000Z',
      modified: '2026-01-01T00:00:00.000Z',
      relationship_type: 'indicates',
      source_ref: 'indicator--1ed8caa7-a708-4706-b651-f1186ede6ca1',
      target_ref: 'threat-actor--56f3f0db-b5d5-431c-ae56-c18f02caf500',
    },
  ],
};

/** Fills a store as users do, and returns what the release answers. */
async function fill(env) {
  const server = await serve(env);
  const { address } = server;
  const cookies = new Map();
  const send = async (path, body) => {
    const response = await fetch(address + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie);
      cookies.set(name, value);
    }
  };
  await send('/app/first-start', { token: server.token, email: EMAIL, name: 'Ada', password: PASSWORD });
  await send('/app/sign-in', { email: EMAIL, password: PASSWORD });
  const run = (...args) => command(env, args);
  const list = join(work, 'list.txt');
  writeFileSync(list, Array.from({ length: DOMAINS }, (_, i) => `h${i}.test-feed.net\n`).join(''));
  run('import', list, '--source', 'A list', '--tlp', 'GREEN');
  writeFileSync(join(work, 'bundle.json'), JSON.stringify(STIX));
  run('import', join(work, 'bundle.json'), '--source', 'A bundle', '--tlp', 'AMBER');
  run('confidence', 'pin', 'h1.test-feed.net', '97', '--reason', 'sure');
  run('whitelist', 'add', 'h2.test-feed.net', '--reason', 'ours');
  run('feeds', 'create', 'edge', '--format', 'txt', '--query', 'type=DOMAIN', '--tlp-ceiling', 'GREEN');
  command(env, ['providers', 'set', 'virustotal', '--key', '-'], 'a key of a provider\n');
  const { key } = JSON.parse(run('keys', 'create', '--name', 'kept', '--json'));
  const get = async (path) => {
    const response = await fetch(address + path, { headers: { authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response;
  };
  const { total, data } = await (await get('/api/v1/indicators?pageSize=500')).json();
  const { cursor } = await (await get('/api/v1/indicators/changes?limit=1000')).json();
  const rules = await (await get('/api/v1/exports/suricata')).text();
  const backup = join(work, `backup-${env.DATABASE_URL ? 'postgresql' : 'embedded'}`);
  writeFileSync(join(work, 'passphrase'), `${PASSPHRASE}\n`);
  run('backup', backup, '--passphrase-file', join(work, 'passphrase'));
  await server.stop();
  return {
    key,
    cookies: Object.fromEntries(cookies),
    total,
    ids: data.map(({ id, value, confidence }) => [id, value, confidence]),
    sids: [...rules.matchAll(/sid:(\d+)/g)].map(([, sid]) => Number(sid)),
    cursor,
    backup,
  };
}

/** Bytes of a page of PostgreSQL's log. */
const PAGE = 8192;

/** Removes what the log no longer needs, so that the archive is small. The directory stays one that PGlite opens. */
async function shrink(pgdata) {
  const pglite = await PGlite.create({ dataDir: pgdata, extensions: { pg_trgm } });
  await pglite.exec('select pg_switch_wal(); checkpoint; select pg_switch_wal(); checkpoint');
  const { rows } = await pglite.query(
    'select file_name as name, file_offset as offset from pg_walfile_name_offset(pg_current_wal_insert_lsn())',
  );
  await pglite.close();
  const [{ name: current, offset }] = rows;
  const log = join(pgdata, 'pg_wal');
  for (const name of readdirSync(log))
    if (/^[0-9A-F]{24}$/.test(name) && name !== current) rmSync(join(log, name));
  // Behind the record of the shutdown there is what an earlier segment has left: the file was used before.
  const segment = readFileSync(join(log, current));
  writeFileSync(join(log, current), segment.fill(0, (Math.ceil(offset / PAGE) + 2) * PAGE));
}

const madeAt = new Date().toISOString();
const directory = join(work, 'data');
const embedded = await fill({ TIPLINE_DATA_DIR: directory });
for (const name of readdirSync(directory))
  if (!['pgdata', 'secret'].includes(name)) rmSync(join(directory, name), { recursive: true });
await shrink(join(directory, 'pgdata'));
const postgresql = await fill({ DATABASE_URL: databaseUrl, TIPLINE_SECRET: SECRET });

mkdirSync(target, { recursive: true });
const archive = execFileSync('tar', ['--sort=name', '-cf', '-', '-C', directory, 'pgdata', 'secret'], {
  maxBuffer: 2 ** 30,
});
// The three databases of a cluster are nearly the same: a window that holds all of them.
const params = {
  [constants.BROTLI_PARAM_LARGE_WINDOW]: 1,
  [constants.BROTLI_PARAM_LGWIN]: 26,
  [constants.BROTLI_PARAM_SIZE_HINT]: archive.length,
};
writeFileSync(join(target, 'data.tar.br'), brotliCompressSync(archive, { params }));
// Statements that any client executes, without those of psql.
const dump = execFileSync(
  'pg_dump',
  ['--inserts', '--rows-per-insert=100', '--no-owner', '--no-acl', databaseUrl],
  {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  },
);
writeFileSync(join(target, 'postgresql.sql.gz'), gzipSync(dump.replace(/^\\.*\n/gm, ''), { level: 9 }));
cpSync(embedded.backup, join(target, 'backup'));
const facts = (of) => ({ ...of, backup: undefined });
const shared = { madeAt, email: EMAIL, passphrase: PASSPHRASE, secret: SECRET };
writeFileSync(
  join(target, 'facts.json'),
  `${JSON.stringify({ ...shared, embedded: facts(embedded), postgresql: facts(postgresql) })}\n`,
);
rmSync(work, { recursive: true });
for (const name of readdirSync(target))
  console.log(`${name}: ${readFileSync(join(target, name)).length} bytes`);
