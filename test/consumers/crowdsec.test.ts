// @module-tag nightly
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, inject, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { type Running, run, start, until } from '../support/processes.ts';
import { freePort } from '../support/servers.ts';
import { emptyStore } from '../support/service.ts';

// CrowdSec's bouncers of Debian, unchanged, against a running server, where they are installed. They share a network namespace with
// it, whose packet filter is theirs.

const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const succeeds = (command: string, ...args: string[]) =>
  spawnSync(command, args, { env: { ...process.env, PATH } }).status === 0;
const namespace = [['-n'], ['-rn']].find((options) => succeeds('unshare', ...options, 'true'));
const permits = (script: string) =>
  namespace !== undefined && succeeds('unshare', ...namespace, 'sh', '-ec', `ip link set lo up; ${script}`);
const CUSTOM = 'crowdsec-custom-bouncer';
const FIREWALL = 'crowdsec-firewall-bouncer';

/** Real seconds until an indicator expires: longer than the server needs to import it. */
const EXPIRES_SECONDS = 12;

interface Bouncer {
  program: string;
  /** Lines of the configuration besides those that all have. */
  config(directory: string): string[];
  /** Returns the addresses and networks that are blocked. */
  blocked(directory: string, inNamespace: (script: string) => string): string[];
  /** Whether it blocks networks. */
  hasNetworks: boolean;
}

const SCRIPT = '#!/bin/sh\necho "$1 $2 $3" >> "$(dirname "$0")/calls"\n';

const custom: Bouncer = {
  program: CUSTOM,
  hasNetworks: true,
  config(directory) {
    const script = join(directory, 'block');
    writeFileSync(script, SCRIPT, { mode: 0o755 });
    // It calls the script once for a value in this time.
    return [`bin_path: ${script}`, 'cache_retention_duration: 10ms', `piddir: ${directory}`];
  },
  blocked(directory) {
    const calls = join(directory, 'calls');
    const blocked = new Set<string>();
    if (!existsSync(calls)) return [];
    for (const line of readFileSync(calls, 'utf8').trim().split('\n')) {
      const [action, value = '', seconds] = line.split(' ');
      if (action === 'del') blocked.delete(value);
      else if (Number(seconds) > 0) blocked.add(value);
    }
    return [...blocked];
  },
};

const FIREWALL_CONFIG = ['deny_action: DROP', 'supported_decisions_types:', '  - ban'];

const nftables: Bouncer = {
  program: FIREWALL,
  // With nftables, it blocks the first address of a network instead: it asks for addresses only.
  config: () => [
    'mode: nftables',
    'scopes: [Ip]',
    ...FIREWALL_CONFIG,
    'nftables:',
    ...['ipv4', 'ipv6'].flatMap(tableOf),
  ],
  blocked: (_, inNamespace) =>
    [...inNamespace('nft list ruleset').matchAll(/elements = \{([^}]*)\}/g)].flatMap(([, elements = '']) =>
      elements.split(',').map((element) => element.trim().split(' ')[0] ?? ''),
    ),
  hasNetworks: false,
};

const tableOf = (family: string) => {
  const name = family === 'ipv4' ? 'crowdsec' : 'crowdsec6';
  return [
    `  ${family}:`,
    '    enabled: true',
    '    set-only: false',
    `    table: ${name}`,
    `    chain: ${name}-chain`,
  ];
};

const ipset: Bouncer = {
  program: FIREWALL,
  hasNetworks: true,
  config: () => [
    'mode: iptables',
    ...FIREWALL_CONFIG,
    'disable_ipv6: true',
    'blacklists_ipv4: crowdsec-blacklists',
    'ipset_type: nethash',
    'iptables_chains:',
    '  - INPUT',
  ],
  blocked: (_, inNamespace) =>
    [...inNamespace('ipset save').matchAll(/^add \S+ (\S+)/gm)].map(([, value = '']) => value),
};

const PROGRAMS: [string, Bouncer, boolean][] = [
  [CUSTOM, custom, namespace !== undefined && succeeds('which', CUSTOM)],
  [
    `${FIREWALL} with nftables`,
    nftables,
    succeeds('which', FIREWALL) &&
      permits('nft add table ip t; nft add set ip t s "{ type ipv4_addr; flags timeout; }"'),
  ],
  [
    `${FIREWALL} with iptables and ipset`,
    ipset,
    succeeds('which', FIREWALL) &&
      permits('ipset create s hash:net timeout 300; iptables -I INPUT -m set --match-set s src -j DROP'),
  ],
];

describe.each(PROGRAMS)('%s', (_, bouncer, isHere) => {
  const running: Running[] = [];
  afterEach(async () => {
    for (const one of running.splice(0)) {
      one.signal('SIGKILL');
      await one.exit;
    }
  });

  it.skipIf(!isHere)('blocks what is listed and nothing else, also across a restart of either', async () => {
    const holder = start(
      'unshare',
      [...(namespace ?? []), 'sh', '-c', 'ip link set lo up && echo up && exec sleep infinity'],
      {
        env: { PATH },
      },
    );
    running.push(holder);
    await holder.says(/up/);
    const enter = [
      '-t',
      String(holder.pid),
      '-n',
      ...(namespace?.[0] === '-n' ? [] : ['-U', '--preserve-credentials']),
    ];
    const within = (command: string, args: string[], env: Record<string, string> = {}) => {
      const started = start('nsenter', [...enter, '--', command, ...args], { env: { PATH, ...env } });
      running.push(started);
      return started;
    };
    const inNamespace = (script: string) =>
      spawnSync('nsenter', [...enter, '--', 'sh', '-c', script], {
        encoding: 'utf8',
        env: { ...process.env, PATH },
      }).stdout;

    const port = await freePort();
    const env = { TIPLINE_DATA_DIR: emptyStore(), PORT: String(port) };
    const serve = async () => {
      const { command, args } = commandOf(['serve']);
      const server = within(command, args, env);
      await server.says(/listens on/);
      return server;
    };
    const ok = async (args: string[], input?: string) => {
      const { code, stdout, stderr } = await run(args, { env, ...(input !== undefined && { input }) });
      if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
      return stdout;
    };
    const list = (...values: string[]) =>
      ok(['import', '-', '--format', 'text', '--source', 'List'], `${values.join('\n')}\n`);
    const whitelist = (value: string) => ok(['whitelist', 'add', value, '--reason', 'ours']);

    let server = await serve();
    await ok(['feeds', 'create', 'edge', '--format', 'txt', '--query', 'types=IPV4,IPV6']);
    const { key } = JSON.parse(await ok(['keys', 'create', '--name', 'bouncer', '--feed', 'edge', '--json']));
    const directory = temporaryDirectory();
    const config = join(directory, 'bouncer.yaml');
    writeFileSync(
      config,
      [
        `api_url: http://127.0.0.1:${port}/`,
        `api_key: ${key}`,
        'update_frequency: 200ms',
        'daemonize: false',
        'log_mode: stdout',
        'log_level: info',
        `log_dir: ${directory}`,
        `pid_dir: ${directory}`,
        'prometheus:',
        '  enabled: false',
        '  listen_addr: 127.0.0.1',
        '  listen_port: 60601',
        ...bouncer.config(directory),
        '',
      ].join('\n'),
    );
    const listed = new Set<string>();
    const follow = async (what: string) => {
      const expected = [...listed].filter((value) => bouncer.hasNetworks || !value.includes('/')).sort();
      let blocked: string[] = [];
      const isSame = () => {
        blocked = bouncer.blocked(directory, inNamespace).sort();
        return JSON.stringify(blocked) === JSON.stringify(expected);
      };
      await until(what, isSame).catch((error) => {
        throw new Error(
          `${error.message}: ${JSON.stringify({ blocked, expected })}\n${running.at(-1)?.stdout().slice(-3000)}${running.at(-1)?.stderr().slice(-2000)}`,
        );
      });
    };
    const block = (...values: string[]) => {
      for (const value of values) listed.add(value);
      return list(...values);
    };
    const unblock = (value: string) => {
      listed.delete(value);
      return whitelist(value);
    };

    await block('185.132.17.1', '185.132.17.2', '185.132.19.0/24');
    const program = within(bouncer.program, ['-c', config]);
    await follow('what is listed at the start');
    await block('185.132.18.1', '185.132.18.2');
    await follow('what is added');
    await unblock('185.132.17.1');
    await follow('what is whitelisted to be deleted');

    // A part of a network.
    listed.delete('185.132.19.0/24');
    for (const rest of ['185.132.19.0/25', '185.132.19.128/26', '185.132.19.192/26']) listed.add(rest);
    listed.delete('185.132.19.192/26');
    await whitelist('185.132.19.192/26');
    await follow('the part of a network that is whitelisted to be deleted');

    const bundle = expiring('185.132.18.9', EXPIRES_SECONDS);
    await ok(['import', '-', '--format', 'stix', '--source', 'Expiring'], bundle);
    listed.add('185.132.18.9');
    await follow('what will expire');
    listed.delete('185.132.18.9');
    await follow('what has expired to be deleted');

    // The server is restarted.
    server.signal('SIGTERM');
    await server.exit;
    server = await serve();
    await block('185.132.18.3');
    await unblock('185.132.17.2');
    await follow('changes after a restart of the server');

    // The bouncer is killed, so that it removes nothing.
    program.signal('SIGKILL');
    await program.exit;
    await unblock('185.132.18.1');
    await block('185.132.18.4');
    within(bouncer.program, ['-c', config]);
    await follow('changes while the bouncer was not running');
  });
});

/** Returns the command that runs the product. */
function commandOf(args: string[]): { command: string; args: string[] } {
  const main = inject('productMain');
  if (main === null) throw new Error('the sources do not compile; see above');
  return { command: process.execPath, args: [main, ...args] };
}

function expiring(value: string, seconds: number): string {
  const now = Date.now();
  const at = (ms: number) => new Date(ms).toISOString();
  const indicator = {
    type: 'indicator',
    spec_version: '2.1',
    id: 'indicator--5c1d7a52-0a4e-4c8f-9a53-2b6a0e3f7d10',
    created: at(now - 1_000),
    modified: at(now - 1_000),
    pattern: `[ipv4-addr:value = '${value}']`,
    pattern_type: 'stix',
    valid_from: at(now - 1_000),
    valid_until: at(now + seconds * 1_000),
  };
  return JSON.stringify({
    type: 'bundle',
    id: 'bundle--5c1d7a52-0a4e-4c8f-9a53-2b6a0e3f7d11',
    objects: [indicator],
  });
}
