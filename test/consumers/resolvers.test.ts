import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { NXDOMAIN, query, serveNames } from '../support/dns.ts';
import { indicatorRecord, NOW } from '../support/harness.ts';
import { freePort } from '../support/servers.ts';
import {
  ADDRESSES,
  AFTER_CHANGE,
  AT_FIRST,
  DOMAINS,
  isInstalled,
  openRecipe,
  type Program,
  type Recipe,
  startProgram,
  type Values,
} from './recipe.ts';

// Resolvers of Debian, configured as their pages say, in front of a server for which every name exists.

/** A name that resolves to an address, for policies that read addresses. */
const NAME_OF_ADDRESS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ADDRESSES).map(([role, address]) => [`to-${role}.example`, address]),
);
const OF_ADDRESSES: Values = {
  ...ADDRESSES,
  listed: 'to-listed.example',
  whitelisted: 'to-whitelisted.example',
  expired: 'to-expired.example',
  expiring: 'to-expiring.example',
  added: 'to-added.example',
};
const BELOW: Values = Object.fromEntries(
  Object.entries(DOMAINS).map(([role, name]) => [role, role === 'type' ? name : `any.${name}`]),
) as never;

/** Two labels above another listed one, and with a whitelisted name below. */
const ABOVE = 'above.example';
const NAMES_BELOW: Readonly<Record<string, boolean>> = {
  'any.above.example': true,
  'listed.between.above.example': true,
  'between.above.example': true,
  'any.between.above.example': true,
  'login.parent.above.example': false,
  'any.login.parent.above.example': false,
  'parent.above.example': true,
  'any.parent.above.example': true,
};

interface Case {
  page: string;
  program: string;
  /** The names that it blocks besides listed domains and those below. */
  more?: Values;
  /** Whether it has exceptions: without, it blocks none of the names below a domain of which one is whitelisted. */
  hasExceptions: boolean;
  /** The first update, before the program runs; without: it runs first. */
  start(recipe: Recipe, port: number, upstream: number): Promise<Program>;
}

const UPDATE = /^update-feed\.sh/;
/** The first update, with a command that needs no running program. */
const fetchFirst = (recipe: Recipe, file: string, slug: string) =>
  recipe.shell(`update-feed.sh https://tipline.example/api/v1/feeds/${slug} ${file} true`);

const CASES: Case[] = [
  {
    page: 'bind',
    program: 'named',
    hasExceptions: true,
    more: OF_ADDRESSES,
    async start(recipe, port, upstream) {
      await fetchFirst(recipe, '/var/cache/bind/tipline.rpz', 'bind');
      const control = await freePort();
      const key = `key "test" { algorithm hmac-sha256; secret "dGVzdA=="; };\n`;
      const config = recipe.write(
        'named.conf',
        `${key}controls { inet 127.0.0.1 port ${control} allow { 127.0.0.1; } keys { "test"; }; };
options {
  directory "${recipe.root}"; pid-file none; session-keyfile none; managed-keys-directory "${recipe.root}"; lock-file none;
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; allow-query { 127.0.0.1; };
  forward only; forwarders { 127.0.0.1 port ${upstream}; }; dnssec-validation no; max-cache-ttl 1; max-ncache-ttl 1;
  ${recipe.fragment(/^response-policy/)}
};
include "${recipe.root}/etc/bind/named.conf.local";
`,
      );
      const rndc = recipe.write(
        'rndc.conf',
        `${key}options { default-key "test"; default-server 127.0.0.1; };\n`,
      );
      recipe.program('rndc', `exec /usr/sbin/rndc -c ${rndc} -p ${control} "$@"`);
      return startProgram(recipe, 'named', ['-f', '-c', config]);
    },
  },
  {
    page: 'unbound',
    program: 'unbound',
    hasExceptions: true,
    async start(recipe, port, upstream) {
      await fetchFirst(recipe, '/etc/unbound/unbound.conf.d/tipline.conf', 'unbound');
      const config = recipe.write(
        'unbound.conf',
        `server:
  directory: "${recipe.root}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  interface: 127.0.0.1@${port}
  do-not-query-localhost: no
  module-config: "iterator"
  cache-max-ttl: 1
include: "${recipe.root}/etc/unbound/unbound.conf.d/*.conf"
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@${upstream}
remote-control:
  control-enable: yes
  control-interface: "${recipe.root}/unbound.ctl"
`,
      );
      for (const tool of ['unbound-control -c', 'unbound-checkconf'])
        recipe.program(tool.split(' ')[0] ?? '', `exec /usr/sbin/${tool} ${config} "$@"`);
      return startProgram(recipe, 'unbound', ['-d', '-c', config]);
    },
  },
  {
    page: 'powerdns',
    program: 'pdns_recursor',
    hasExceptions: true,
    more: OF_ADDRESSES,
    async start(recipe, port, upstream) {
      await fetchFirst(recipe, '/var/lib/tipline/tipline.rpz', 'powerdns');
      const options = [
        `--config-dir=${recipe.root}`,
        `--socket-dir=${recipe.root}`,
        `--lua-config-file=${recipe.root}/etc/powerdns/recursor.lua`,
        '--local-address=127.0.0.1',
        `--local-port=${port}`,
        `--forward-zones-recurse=.=127.0.0.1:${upstream}`,
        '--dnssec=off',
        '--dont-query=',
        '--hint-file=no',
        '--threads=1',
        '--max-cache-ttl=1',
        '--daemon=no',
        '--setuid=',
        '--setgid=',
      ];
      recipe.program('rec_control', `exec /usr/bin/rec_control --socket-dir=${recipe.root} "$@"`);
      return startProgram(recipe, 'pdns_recursor', options);
    },
  },
  {
    page: 'knot',
    program: 'kresd',
    hasExceptions: true,
    async start(recipe, port, upstream) {
      await fetchFirst(recipe, '/var/lib/tipline/tipline.rpz', 'knot');
      const config = recipe.write(
        'kresd.conf',
        `net.listen('127.0.0.1', ${port})
trust_anchors.remove('.')
cache.open(10 * MB, 'lmdb://${recipe.root}/cache')
${recipe.file('/etc/knot-resolver/kresd.conf')}
policy.add(policy.all(policy.FORWARD('127.0.0.1@${upstream}')))
`,
      );
      return startProgram(recipe, 'kresd', ['-n', '-c', config, recipe.root]);
    },
  },
  {
    page: 'dnsdist',
    program: 'dnsdist',
    hasExceptions: false,
    async start(recipe, port, upstream) {
      await fetchFirst(recipe, '/var/lib/tipline/dnsdist.txt', 'dnsdist');
      const control = await freePort();
      const config = recipe.write(
        'dnsdist.conf',
        `setLocal('127.0.0.1:${port}')
newServer({address='127.0.0.1:${upstream}', healthCheckMode='up'})
setKey('${Buffer.alloc(32, 7).toString('base64')}')
controlSocket('127.0.0.1:${control}')
setSecurityPollSuffix('')
${recipe.fragment(/^dofile/)}
`,
      );
      recipe.program('dnsdist', `exec /usr/bin/dnsdist -C ${config} "$@"`);
      return startProgram(recipe, 'dnsdist', ['--supervised', '--disable-syslog', '-C', config]);
    },
  },
  {
    page: 'dnsmasq',
    program: 'dnsmasq',
    hasExceptions: true,
    async start(recipe, port, upstream) {
      await fetchFirst(recipe, '/var/lib/tipline/dnsmasq.servers', 'dnsmasq');
      const options = [
        '--keep-in-foreground',
        `--conf-file=${recipe.root}/etc/dnsmasq.d/tipline.conf`,
        `--port=${port}`,
      ];
      const here = [
        '--listen-address=127.0.0.1',
        '--bind-interfaces',
        '--no-resolv',
        '--no-hosts',
        '--pid-file=',
      ];
      const server = [
        `--server=127.0.0.1#${upstream}`,
        '--user=',
        '--log-facility=/dev/null',
        '--cache-size=0',
      ];
      const program = startProgram(recipe, 'dnsmasq', [...options, ...here, ...server]);
      recipe.program('systemctl', `[ "$*" = "reload dnsmasq" ] && kill -HUP ${program.pid}`);
      return program;
    },
  },
];

describe.each(CASES.filter(({ program }) => isInstalled(program)))(
  '$program, as its page in docs/integrations says',
  (one) => {
    let recipe: Recipe;
    let upstream: Awaited<ReturnType<typeof serveNames>>;
    beforeEach(async () => {
      recipe = await openRecipe(one.page, DOMAINS, ADDRESSES);
      await recipe.harness.load(
        [ABOVE, 'listed.between.above.example'].map((name) =>
          indicatorRecord('DOMAIN', name, { confidence: 90 }),
        ),
      );
      const by = { who: 'test', now: NOW, reason: 'ours' };
      await addEntry(recipe.harness.db, 'login.parent.above.example', undefined, by, 'RED');
      upstream = await serveNames((name) => NAME_OF_ADDRESS[name] ?? '192.0.2.99');
    });
    afterEach(async () => {
      await recipe.close();
      upstream.close();
    });

    it('blocks what is listed and nothing else, and follows changes', { tags: ['nightly'] }, async () => {
      const port = await freePort();
      const program = await one.start(recipe, port, upstream.port);
      await program.until('an answer', async () => (await query('unlisted.example', port)) === 0);
      const blocked = async (values: Values) => {
        const roles = Object.keys(AT_FIRST) as (keyof typeof AT_FIRST)[];
        const codes = await Promise.all(roles.map((role) => query(values[role], port)));
        return Object.fromEntries(
          roles.map((role, at) => [
            role,
            codes[at] === NXDOMAIN ? true : codes[at] === 0 ? false : codes[at],
          ]),
        );
      };
      const tables = [DOMAINS, BELOW, ...(one.more ? [one.more] : [])];
      // A server may answer before it has read the policy.
      for (const values of tables)
        await program.until('the list', async () => isDeepStrictEqual(await blocked(values), AT_FIRST));
      const isBlocked = async (name: string) => (await query(name, port)) === NXDOMAIN;
      for (const [name, expected] of Object.entries(NAMES_BELOW)) {
        const isListed = name === 'listed.between.above.example';
        expect([name, await isBlocked(name)]).toEqual([name, (one.hasExceptions || isListed) && expected]);
      }
      await recipe.change(DOMAINS, ADDRESSES);
      await recipe.run(UPDATE);
      // Caches keep an answer for a second; a program that watches the file needs a moment.
      await program.until('the change', async () => (await query(DOMAINS.added, port)) === NXDOMAIN);
      for (const values of tables)
        await program.until('caches to expire', async () =>
          isDeepStrictEqual(await blocked(values), AFTER_CHANGE),
        );
      expect(await query('unlisted.example', port)).toBe(0);
    });
  },
);
