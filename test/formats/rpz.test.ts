import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rpzFormat } from '../../src/formats/rpz.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';

const rpz = rpzFormat();
const ORIGIN = 'policy.example';
const LONGEST_ORIGIN = `${'o'.repeat(56)}.example`;

const records = async (rows: Parameters<typeof written>[1]) =>
  (await written(rpz, rows)).split('\n').filter((line) => line.endsWith(' CNAME .'));

describe('rpz', () => {
  it('matches the golden file', async () => {
    await expectGolden(await written(rpz, GOLDEN), 'indicators.rpz');
  });

  it('is a valid zone without matches', async () => {
    expect(await written(rpz, [], { changedAt: null })).toBe(
      '$TTL 300\n@ SOA localhost. hostmaster.localhost. 1 3600 600 604800 300\n@ NS localhost.\n',
    );
  });

  it('uses the last change as its serial, in 32 bits', async () => {
    const serial = async (seconds: number) =>
      / hostmaster\.localhost\. (\d+) /.exec(
        await written(rpz, [], { changedAt: new Date(seconds * 1000) }),
      )?.[1];
    expect(await serial(1_795_200_000)).toBe('1795200000');
    expect(await serial(2 ** 32 + 5)).toBe('5');
    expect(await serial(2 ** 32)).toBe('1');
  });

  it('covers subdomains, except of a public suffix', async () => {
    const rows = ['evil.example', 'co.uk', 'github.io'].map((name, i) => exportIndicator(i, 'DOMAIN', name));
    const owners = (await records(rows)).map((line) => line.split(' ')[0]).sort();
    expect(owners).toEqual(['*.evil.example', 'co.uk', 'evil.example', 'github.io']);
  });

  it.each([
    ['IPV4', '198.51.100.7', '32.7.100.51.198.rpz-ip CNAME .'],
    ['IPV6', '2001:db8::bad', '128.bad.zz.db8.2001.rpz-ip CNAME .'],
    ['IPV6', '2001:db8:0:0:1:0:0:1', '128.1.0.0.1.zz.db8.2001.rpz-ip CNAME .'],
    ['IPV6', '::', '128.zz.rpz-ip CNAME .'],
    ['IPV6', '::1', '128.1.zz.rpz-ip CNAME .'],
    ['IPV6', '2001:db8::', '128.zz.db8.2001.rpz-ip CNAME .'],
    ['IPV6', '1:2:3:4:5:6:7:8', '128.8.7.6.5.4.3.2.1.rpz-ip CNAME .'],
  ] as const)('blocks the %s address %s with %s', async (type, address, record) => {
    expect(await records([exportIndicator(1, type, address)])).toEqual([record]);
  });

  it('skips and counts names that are other triggers or too long under an origin', async () => {
    const long = `${`${'a'.repeat(60)}.`.repeat(3)}example`;
    const rows = ['8.0.0.0.10.rpz-ip', '32.1.2.0.192.rpz-client-ip', long].map((name, i) =>
      exportIndicator(i + 1, 'DOMAIN', name),
    );
    expect(await records(rows)).toEqual([]);
    expect(await written(rpz, rows)).toContain('\n; Left out: length 1, reserved-name 2\n');
  });

  it('accepts the longest names under the longest origin', async () => {
    const name = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(56)}.example`;
    expect(name.length).toBe(186);
    expect(await records([exportIndicator(1, 'DOMAIN', name)])).toEqual([
      `${name} CNAME .`,
      `*.${name} CNAME .`,
    ]);
    expect(`*.${name}.${LONGEST_ORIGIN}`.length).toBe(253);
  });
});

const isInstalled = spawnSync('named-checkzone', ['-v']).status === 0;

describe.skipIf(!isInstalled)('rpz, loaded by BIND', () => {
  it.each([ORIGIN, LONGEST_ORIGIN])('loads without warnings as %s', async (origin) => {
    const name = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(56)}.example`;
    const rows = [...GOLDEN, ...HOSTILE, exportIndicator(9000, 'DOMAIN', name)];
    const folder = mkdtempSync(join(tmpdir(), 'rpz-'));
    try {
      const file = join(folder, 'zone');
      writeFileSync(file, await written(rpz, rows));
      const said = execFileSync('named-checkzone', [origin, file], { encoding: 'utf8' });
      expect(said).toBe(`zone ${origin}/IN: loaded serial 1779753600\nOK\n`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
