import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { optionsFor } from '../../src/formats/catalogue.ts';
import type { ExportIndicator, GivenOptions, TxtStyle } from '../../src/formats/format.ts';
import { txtFormat } from '../../src/formats/txt.ts';
import { NXDOMAIN, query, REFUSED } from '../support/dns.ts';
import { until } from '../support/processes.ts';
import { freePort, stop } from '../support/servers.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';

// The lists, loaded by the programs of Debian that read them, where these are installed.

const ENVIRONMENT = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
const succeeds = (command: string, ...args: string[]) =>
  spawnSync(command, args, { env: ENVIRONMENT }).status === 0;

/** Root has sets in a network namespace of its own; anyone else needs a user namespace too, with small socket buffers. */
const namespace = [['-n'], ['-rn']].find((options) => succeeds('unshare', ...options, 'true'));
const ADDRESSES = namespace?.[0] === '-n' ? 20_000 : 800;

const ipv4 = (number: number) =>
  `${1 + ((number * 7) % 223)}.${number % 251}.${(number * 13) % 256}.${(number * 3) % 256}`;
const addresses = (count: number) => [
  ...new Map(
    Array.from({ length: count }, (_, i) => {
      const row =
        i % 10 === 0
          ? exportIndicator(5000 + i, 'IPV6', `2001:db8:${(i % 9999).toString(16)}::${(i + 1).toString(16)}`)
          : exportIndicator(5000 + i, 'IPV4', ipv4(i));
      return [row.value, row] as const;
    }),
  ).values(),
];
const NETWORKS = [
  exportIndicator(4000, 'IPV4', '0.0.0.0'),
  exportIndicator(4001, 'IPV4', '255.255.255.255'),
  exportIndicator(4002, 'IPV4', '198.51.100.0/24', { whitelistedParts: ['198.51.100.7'] }),
  exportIndicator(4003, 'IPV6', '2001:db8:ffff::/48'),
  exportIndicator(4004, 'IPV4', '198.51.100.192/26'),
];
/** Names below other names, in both orders, and public suffixes. */
const NAMES = [
  ...Array.from({ length: 6000 }, (_, i) =>
    exportIndicator(5000 + i, 'DOMAIN', `evil-${(i * 7) % 6000}.example`),
  ),
  ...Array.from({ length: 3000 }, (_, i) =>
    exportIndicator(12_000 - i, 'DOMAIN', `www.evil-${i * 2}.example`),
  ),
  ...Array.from({ length: 3000 }, (_, i) =>
    exportIndicator(1900 + i, 'DOMAIN', `m.evil-${i * 2 + 1}.example`),
  ),
  ...['co.uk', 'github.io', 'evil.github.io'].map((name, i) => exportIndicator(4500 + i, 'DOMAIN', name)),
];
const ROWS = [...GOLDEN, ...HOSTILE];

async function listOf(
  style: TxtStyle,
  rows: readonly ExportIndicator[],
  given: GivenOptions = {},
): Promise<string> {
  const options = optionsFor('txt', { style, ...given }, undefined, null);
  if ('error' in options) throw new Error(options.error);
  return written(txtFormat(options), rows, {}, 500);
}

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tipline-lists-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Writes a list, and returns its path. */
async function file(
  name: string,
  style: TxtStyle,
  rows: readonly ExportIndicator[],
  given?: GivenOptions,
): Promise<string> {
  const path = join(directory, name);
  writeFileSync(path, await listOf(style, rows, given));
  return path;
}

const shell = (script: string) =>
  execFileSync('unshare', [...(namespace ?? []), 'sh', '-ec', script], {
    encoding: 'utf8',
    env: ENVIRONMENT,
    stdio: 'pipe',
    maxBuffer: 1 << 26,
  });
const permits = (script: string) =>
  namespace !== undefined && succeeds('unshare', ...namespace, 'sh', '-ec', script);

describe.skipIf(!permits('nft add table inet t'))('a list loaded by nft', () => {
  const elements = (listing: string) =>
    [...listing.matchAll(/elements = \{([^}]*)\}/g)].flatMap(([, text = '']) =>
      text.split(',').map((one) => one.trim()),
    );

  it('has every address, in networks, and is replaced as a whole', { tags: ['nightly'] }, async () => {
    const rows = [...ROWS, ...NETWORKS, ...addresses(ADDRESSES)];
    const path = await file('all.nft', 'nftables', rows);
    const plain = (await listOf('plain', rows, {}))
      .split('\n')
      .filter((line) => /^[\d.]+(\/\d+)?$/.test(line));
    const listed = elements(shell(`nft -f ${path}; nft -f ${path}; nft list set inet tipline ipv4`));
    // nft joins adjacent elements that are no block.
    expect(listed.length).toBeGreaterThan(plain.length * 0.9);
    expect(listed.filter((one) => !/^[\d.]+([/-][\d.]+)?$/.test(one))).toEqual([]);
    const get = (address: string) => `nft get element inet tipline ipv4 '{ ${address} }'`;
    const found = (address: string) => permits(`nft -f ${path}; ${get(address)}`);
    expect(['198.51.100.6', '198.51.100.200', '0.0.0.0', '198.51.100.7', '203.0.113.77'].map(found)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    const empty = await file('empty.nft', 'nftables', []);
    expect(shell(`nft -f ${path}; nft -f ${empty}; nft list table inet tipline`)).not.toContain('elements');
  });

  it('loads with networks that contain others, where these are not joined', async () => {
    const path = await file('overlap.nft', 'nftables', NETWORKS, { collapse: 'off' });
    const get = "nft get element inet tipline ipv4 '{ 198.51.100.200 }'";
    expect(shell(`nft -f ${path}; ${get}`)).toContain('198.51.100.');
  });
});

describe.skipIf(!permits('ipset create t hash:net'))('a list loaded by ipset', () => {
  it('has every address, and is replaced as a whole', async () => {
    const rows = [...ROWS, ...NETWORKS, ...addresses(ADDRESSES), exportIndicator(4010, 'IPV6', '::1')];
    const path = await file('all.ipset', 'ipset', rows);
    const lines = (await listOf('ipset', rows)).split('\n').filter((line) => line.startsWith('add '));
    const load = `ipset restore -! < ${path}; ipset restore -! < ${path}; ipset save`;
    const saved = shell(load)
      .split('\n')
      .filter((line) => line.startsWith('add '));
    expect(saved.sort()).toEqual(lines.map((line) => line.replace('-new', '')).sort());
    const empty = await file('empty.ipset', 'ipset', []);
    const names = shell(`ipset restore -! < ${path}; ipset restore -! < ${empty}; ipset save`);
    expect(names.match(/^\w+ \S+/gm)).toEqual(['create tipline4', 'create tipline6']);
  });

  it('has all addresses', async () => {
    const path = await file('any.ipset', 'ipset', [exportIndicator(1, 'IPV4', '0.0.0.0/0')]);
    expect(shell(`ipset restore -! < ${path}; ipset test tipline4 192.0.2.1 2>&1`)).toContain('is in set');
  });

  it('changes nothing without its end', async () => {
    const before = await file('before.ipset', 'ipset', [exportIndicator(1, 'IPV4', '192.0.2.1')]);
    const path = join(directory, 'cut.ipset');
    writeFileSync(path, (await listOf('ipset', addresses(100))).split('\n').slice(0, 50).join('\n'));
    const saved = shell(`ipset restore -! < ${before}; ipset restore -! < ${path}; ipset save tipline4`);
    expect(saved.split('\n').filter((line) => line.startsWith('add'))).toEqual(['add tipline4 192.0.2.1']);
  });
});

describe.skipIf(!succeeds('nginx', '-v'))('a list loaded by nginx', () => {
  it.each([
    ['with addresses', [...ROWS, ...NETWORKS, ...addresses(5000)]],
    ['empty', []],
  ])('is valid: %s', async (_, rows) => {
    const path = await file('deny.conf', 'nginx', rows);
    const config = join(directory, 'nginx.conf');
    writeFileSync(
      config,
      `error_log stderr; pid ${directory}/nginx.pid; events {} http { access_log off; server { listen 127.0.0.1:1; include ${path}; } }`,
    );
    const { status, stderr } = spawnSync('nginx', ['-t', '-p', directory, '-c', config], {
      encoding: 'utf8',
      env: ENVIRONMENT,
    });
    expect([status, stderr.split('\n').filter((line) => /\[(?:warn|error|emerg)\]/.test(line))]).toEqual([
      0,
      [],
    ]);
  });
});

describe.skipIf(!succeeds('squid', '-v'))('a list loaded by Squid', () => {
  it.each([
    ['with names', [...ROWS, ...NAMES]],
    ['empty', []],
  ])('is valid: %s', async (_, rows) => {
    const path = await file('squid.txt', 'squid', rows);
    const config = join(directory, 'squid.conf');
    writeFileSync(
      config,
      `acl tipline dstdomain "${path}"\nhttp_access deny tipline\nhttp_access allow all\nhttp_port 127.0.0.1:1\npid_filename none\n`,
    );
    const { status, stderr } = spawnSync('squid', ['-k', 'parse', '-f', config], {
      encoding: 'utf8',
      env: ENVIRONMENT,
    });
    const problems = stderr
      .split('\n')
      .filter((line) => /warning|error|fatal/i.test(line) && !line.includes('empty ACL'));
    expect([status, problems]).toEqual([0, []]);
  });
});

describe('a list of a resolver', () => {
  let server: ChildProcess | undefined;
  afterEach(async () => {
    await stop(server, 'SIGKILL');
    server = undefined;
  });

  async function responses(port: number, names: readonly string[]) {
    await until('a response', async () => (await query('ready.example', port)) !== null);
    return Promise.all(names.map((name) => query(name, port)));
  }
  const QUERIES = ['evil-7.example', 'any.evil-7.example', 'good.example', 'good.github.io'];

  describe.skipIf(!succeeds('dnsmasq', '--version'))('of dnsmasq', () => {
    const startDnsmasq = async (...options: string[]) => {
      const port = await freePort();
      const common = [
        '--keep-in-foreground',
        '--conf-file=/dev/null',
        `--port=${port}`,
        '--listen-address=127.0.0.1',
      ];
      const rest = [
        '--bind-interfaces',
        '--no-resolv',
        '--no-hosts',
        '--pid-file=',
        '--user=',
        '--log-facility=/dev/null',
      ];
      server = spawn('dnsmasq', [...common, ...rest, ...options], { env: ENVIRONMENT, stdio: 'ignore' });
      return port;
    };

    it('blocks names and those below, until an empty list replaces it', async () => {
      const path = await file('dnsmasq.conf', 'dnsmasq', [...ROWS, ...NAMES]);
      const test = execFileSync('dnsmasq', ['--test', `--conf-file=${path}`], {
        encoding: 'utf8',
        env: ENVIRONMENT,
        stdio: 'pipe',
      });
      expect(test).toBe('');
      const port = await startDnsmasq(`--servers-file=${path}`);
      expect(await responses(port, QUERIES)).toEqual([NXDOMAIN, NXDOMAIN, REFUSED, REFUSED]);
      await file('dnsmasq.conf', 'dnsmasq', []);
      server?.kill('SIGHUP');
      await until('the new list', async () => (await query('evil-7.example', port)) === REFUSED);
    });

    it('is a hosts file with names alone', async () => {
      const path = await file('hosts', 'hosts', [...ROWS, ...NAMES]);
      const port = await startDnsmasq(`--addn-hosts=${path}`);
      expect(await responses(port, QUERIES)).toEqual([0, REFUSED, REFUSED, REFUSED]);
      expect(await query('github.io', port)).toBe(0);
    });
  });

  describe.skipIf(!succeeds('unbound', '-V'))('of unbound', () => {
    const configOf = (path: string, port: number) => {
      const config = join(directory, 'unbound.conf');
      writeFileSync(
        config,
        `server:
  directory: "${directory}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  logfile: "${directory}/unbound.log"
  interface: 127.0.0.1@${port}
  do-daemonize: no
  do-not-query-localhost: no
include: "${path}"
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@1
remote-control:
  control-enable: no
`,
      );
      return config;
    };

    it('blocks names and those below', async () => {
      const port = await freePort();
      const config = configOf(await file('unbound.list', 'unbound', [...ROWS, ...NAMES]), port);
      expect(execFileSync('unbound-checkconf', [config], { encoding: 'utf8', env: ENVIRONMENT })).toContain(
        'no errors',
      );
      server = spawn('unbound', ['-d', '-c', config], { env: ENVIRONMENT, stdio: 'ignore' });
      await until('the list', async () => (await query('evil-7.example', port)) === NXDOMAIN);
      expect(await query('any.evil-7.example', port)).toBe(NXDOMAIN);
      expect(await query('good.github.io', port)).not.toBe(NXDOMAIN);
    });

    it('is valid when it is empty', async () => {
      const config = configOf(await file('unbound.list', 'unbound', []), 1);
      expect(execFileSync('unbound-checkconf', [config], { encoding: 'utf8', env: ENVIRONMENT })).toContain(
        'no errors',
      );
    });
  });
});
