import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { indicatorRecord, NOW } from '../support/harness.ts';
import { freePort } from '../support/servers.ts';
import {
  ADDRESSES,
  AFTER_CHANGE,
  AT_FIRST,
  DOMAINS,
  isInstalled,
  openRecipe,
  type Recipe,
  startProgram,
  type Values,
} from './recipe.ts';

// Mail servers and scanners of Debian, configured as their pages say.

const ROLES = Object.keys(AT_FIRST) as (keyof typeof AT_FIRST)[];
const valuesOf = (type: IndicatorType, value: (role: string) => string): Values => ({
  type,
  ...(Object.fromEntries(ROLES.map((role) => [role, value(role)])) as Record<keyof typeof AT_FIRST, string>),
});

const SENDERS = valuesOf('EMAIL', (role) => `${role}@sender.example`);
/** What a file of a role contains: no text, which scanners change before they compare hashes. */
const contentOf = (role: string) => Buffer.from(`\0\x01\x02 file of ${role}`.padEnd(64, '\0'), 'latin1');
const hashesOf = (type: 'MD5' | 'SHA1' | 'SHA256') =>
  valuesOf(type, (role) => createHash(type.toLowerCase()).update(contentOf(role)).digest('hex'));

/** For each role, what the function gives. */
async function forEachRole(found: (role: keyof typeof AT_FIRST) => Promise<boolean>) {
  return Object.fromEntries(await Promise.all(ROLES.map(async (role) => [role, await found(role)] as const)));
}

let recipe: Recipe;
afterEach(() => recipe.close());
const UPDATE = /^update-feed\.sh/;
/** The updates of the page, with a command that needs no running program. */
async function fetchAll(): Promise<void> {
  for (const [, address, file] of recipe.page.text.matchAll(/update-feed\.sh (\S+) (\S+)/g))
    await recipe.shell(`update-feed.sh ${address} ${file} true`);
}

/** Postfix drops the privileges of root. */
const canRunPostfix = isInstalled('postfix') && process.getuid?.() === 0;

describe.skipIf(!canRunPostfix)('postfix, as its page in docs/integrations says', () => {
  beforeEach(async () => {
    recipe = await openRecipe('postfix', ADDRESSES, DOMAINS, SENDERS);
    for (const tool of ['postfix', 'postmap'])
      recipe.program(tool, `exec /usr/sbin/${tool} -c ${recipe.root}/etc/postfix "$@"`);
  });
  // The master has a session of its own.
  afterEach(() => recipe.shell('postfix stop'));

  /** The code of the response to RCPT. */
  async function rejects(port: number, address: string, sender: string): Promise<boolean> {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    const lines = [
      'EHLO test.example',
      `XCLIENT ADDR=${address}`,
      'EHLO test.example',
      `MAIL FROM:<${sender}>`,
      'RCPT TO:<a@here.example>',
      'QUIT',
    ];
    let code = 0;
    let reply = '';
    let line: string | undefined;
    for await (const chunk of socket) {
      reply += chunk;
      if (!/^\d{3} .*\r\n$/m.test(reply)) continue;
      if (line?.startsWith('RCPT')) code = Number(reply.slice(0, 3));
      reply = '';
      line = lines.shift();
      if (line === undefined) break;
      socket.write(`${line}\r\n`);
    }
    if (code !== 250 && code !== 554) throw new Error(`unexpected code ${code} ${reply}`);
    return code === 554;
  }

  it('rejects what is listed and nothing else, and follows changes', { tags: ['nightly'] }, async () => {
    const port = await freePort();
    const { db, load } = recipe.harness;
    await load([indicatorRecord('DOMAIN', 'partner.example', { confidence: 90 })]);
    await addEntry(db, 'login.partner.example', undefined, { who: 'test', now: NOW, reason: 'ours' }, 'RED');
    await fetchAll();
    recipe.write(
      'etc/postfix/main.cf',
      `compatibility_level = 3.6
queue_directory = ${recipe.root}/queue
data_directory = ${recipe.root}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
maillog_file = ${recipe.root}/log
maillog_file_prefixes = ${recipe.root}
inet_interfaces = 127.0.0.1
mynetworks = 192.0.2.1/32
myhostname = here.example
mydestination = here.example
local_recipient_maps =
smtpd_relay_restrictions = reject_unauth_destination
smtpd_authorized_xclient_hosts = 127.0.0.1
smtpd_peername_lookup = no
smtpd_error_sleep_time = 0
disable_dns_lookups = yes
${recipe.fragment(/^smtpd_client_restrictions/)}`,
    );
    recipe.write(
      'etc/postfix/master.cf',
      `127.0.0.1:${port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
`,
    );
    await recipe.shell(`mkdir queue data && chown postfix data`);
    const program = startProgram(recipe, 'postfix', ['-c', `${recipe.root}/etc/postfix`, 'start-fg']);
    const isRejected = (address: string, sender: string) => rejects(port, address, sender);
    const expectBlocked = async (expected: typeof AT_FIRST) => {
      expect(await forEachRole((role) => isRejected(ADDRESSES[role], 'a@b.example'))).toEqual(expected);
      expect(await forEachRole((role) => isRejected('192.0.2.99', `a@${DOMAINS[role]}`))).toEqual(expected);
      expect(await forEachRole((role) => isRejected('192.0.2.99', `a@any.${DOMAINS[role]}`))).toEqual(
        expected,
      );
      expect(await forEachRole((role) => isRejected('192.0.2.99', SENDERS[role]))).toEqual(expected);
    };
    await program.until('an answer', () =>
      isRejected('192.0.2.99', 'a@b.example').then(
        () => true,
        () => false,
      ),
    );
    const hosts = ['partner', 'www.partner', 'login.partner', 'any.login.partner'];
    const rejected = await Promise.all(hosts.map((host) => isRejected('192.0.2.99', `a@${host}.example`)));
    expect(rejected).toEqual([true, true, false, false]);
    await expectBlocked(AT_FIRST);
    expect(await recipe.run(/^postmap -q/)).toBe('REJECT\nREJECT\n');
    await recipe.change(ADDRESSES, DOMAINS, SENDERS);
    await recipe.run(UPDATE);
    await program.until('the change', () => isRejected('192.0.2.99', SENDERS.added));
    await expectBlocked(AFTER_CHANGE);
  });
});

describe.skipIf(!isInstalled('clamd') || !isInstalled('clamdscan'))(
  'clamav, as its page in docs/integrations says',
  () => {
    const HASHES = [hashesOf('MD5'), hashesOf('SHA1'), hashesOf('SHA256')];

    it.each(HASHES)('finds files whose $type is listed and no other, and follows changes', async (values) => {
      recipe = await openRecipe('clamav', values);
      await fetchAll();
      const config = recipe.write(
        'clamd.conf',
        `DatabaseDirectory ${recipe.root}/var/lib/clamav\nLocalSocket ${recipe.root}/clamd.ctl\nForeground yes\nTemporaryDirectory ${recipe.root}\n`,
      );
      recipe.program('clamdscan', `exec /usr/bin/clamdscan --config-file=${config} "$@"`);
      for (const role of ROLES) recipe.write(role, contentOf(role).toString('latin1'));
      const program = startProgram(recipe, 'clamd', ['-c', config]);
      const scan = () => recipe.shell('clamdscan --no-summary --stream . || [ $? = 1 ]');
      await program.until('an answer', () =>
        scan().then(
          (text) => text.includes(': '),
          () => false,
        ),
      );
      const found = async () => {
        const names = [
          ...(await scan()).matchAll(/\/(\w+): (Tipline\.[0-9a-f-]{36})\.UNOFFICIAL FOUND/g),
        ].map(([, name]) => name);
        return Object.fromEntries(ROLES.map((role) => [role, names.includes(role)]));
      };
      expect(await found()).toEqual(AT_FIRST);
      await recipe.change(values);
      await recipe.run(UPDATE);
      await program.until('the change', async () => (await found()).added === true);
      expect(await found()).toEqual(AFTER_CHANGE);
    });
  },
);

describe.skipIf(!isInstalled('rspamd'))('rspamd, as its page in docs/integrations says', () => {
  const FILES = hashesOf('SHA256');
  // rspamd finds host names below top-level domains that exist.
  const HOSTS = valuesOf('DOMAIN', (role) => `${role}-host.net`);
  const ALL = [ADDRESSES, HOSTS, SENDERS, FILES];
  /** The symbols of the page, and the mail that has them for a role. */
  const MAIL: Record<
    string,
    (role: keyof typeof AT_FIRST) => { ip?: string; from?: string; text?: string; file?: Buffer }
  > = {
    TIPLINE_IP: (role) => ({ ip: ADDRESSES[role] }),
    TIPLINE_FROM_DOMAIN: (role) => ({ from: `a@${HOSTS[role]}` }),
    TIPLINE_FROM: (role) => ({ from: SENDERS[role] }),
    TIPLINE_URL: (role) => ({ text: `http://${HOSTS[role]}/path` }),
    TIPLINE_ATTACHMENT: (role) => ({ file: contentOf(role) }),
  };

  async function symbols(
    port: number,
    { ip = '192.0.2.99', from = 'a@b.example', text = 'text', file }: ReturnType<(typeof MAIL)[string]>,
  ) {
    const attachment = file
      ? `--x\r\nContent-Type: application/octet-stream; name=a.bin\r\nContent-Disposition: attachment; filename=a.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n${file.toString('base64')}\r\n`
      : '';
    const body = `From: ${from}\r\nTo: c@here.example\r\nSubject: test\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\n${text}\r\n${attachment}--x--\r\n`;
    const response = await fetch(`http://127.0.0.1:${port}/checkv2`, {
      method: 'POST',
      body,
      headers: { IP: ip, From: from },
    });
    return Object.keys(((await response.json()) as { symbols: object }).symbols);
  }

  it('finds mail with what is listed and no other, and follows changes', { tags: ['nightly'] }, async () => {
    recipe = await openRecipe('rspamd', ...ALL);
    await fetchAll();
    const port = await freePort();
    const config = recipe.write(
      'rspamd.conf',
      `options {
  pidfile = "${recipe.root}/rspamd.pid"; tempdir = "${recipe.root}"; control_socket = "${recipe.root}/control.sock mode=0600";
  filters = ""; map_watch_interval = 1s; map_file_watch_multiplier = 1; hs_cache_dir = "${recipe.root}";
  url_tld = "/usr/share/rspamd/effective_tld_names.dat"; dns { nameserver = ["127.0.0.1:1"]; }
}
logging { type = "console"; level = "warning"; }
worker "normal" { bind_socket = "127.0.0.1:${port}"; count = 1; }
lua = "/usr/share/rspamd/rules/rspamd.lua";
modules { path = "/usr/share/rspamd/plugins"; }
actions { reject = 15; }
multimap { .include "${recipe.root}/etc/rspamd/local.d/multimap.conf" }
`,
    );
    const program = startProgram(recipe, 'rspamd', ['-f', '-i', '-c', config]);
    const expectFound = async (expected: typeof AT_FIRST) => {
      for (const [symbol, mail] of Object.entries(MAIL))
        expect([
          symbol,
          await forEachRole(async (role) => (await symbols(port, mail(role))).includes(symbol)),
        ]).toEqual([symbol, expected]);
    };
    await program.until('maps', () =>
      symbols(port, { from: SENDERS.listed }).then(
        (found) => found.includes('TIPLINE_FROM'),
        () => false,
      ),
    );
    await expectFound(AT_FIRST);
    await recipe.change(...ALL);
    await recipe.run(UPDATE);
    for (const [symbol, mail] of Object.entries(MAIL))
      await program.until(`the change of ${symbol}`, async () =>
        (await symbols(port, mail('added'))).includes(symbol),
      );
    await expectFound(AFTER_CHANGE);
  });
});
