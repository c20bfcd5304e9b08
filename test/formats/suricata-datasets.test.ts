import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExportIndicator } from '../../src/formats/format.ts';
import { Skipped } from '../../src/formats/skipped.ts';
import { suricataFormat } from '../../src/formats/suricata.ts';
import { isPublicSuffix } from '../../src/formats/url-parts.ts';
import { LIST_SIDS, sidOf } from '../../src/model/identity.ts';
import { exportIndicator, GOLDEN, HOSTILE, writtenFiles } from './input.ts';
import { captureFile, dnsQuery, udpDatagram } from './pcap.ts';
import { ruleProblems } from './rule-lint.ts';
import { type Attempt, attemptsOf, clientOf, SHA1_OF_CERTIFICATE } from './rule-traffic.ts';

const datasets = suricataFormat({ archive: 'datasets' });
const ndjson = suricataFormat({ archive: 'datasets-ndjson', publicAddress: 'https://tipline.example' });
const JA3 = 'd41d8cd98f00b204e9800998ecf8427e';

const decoded = (list: string | undefined) =>
  (list ?? '')
    .trimEnd()
    .split('\n')
    .map((line) => Buffer.from(line, 'base64').toString());

const certificate = exportIndicator(910, 'SHA1', SHA1_OF_CERTIFICATE, { ofCertificate: true });
const suffix = exportIndicator(900, 'DOMAIN', 'duckdns.org');
const anyAddress = exportIndicator(901, 'IPV4', '0.0.0.0');

describe('an archive with datasets', () => {
  it('has a list of each type, and rules for the others', async () => {
    const rows = [...GOLDEN, certificate, suffix];
    const files = await writtenFiles(datasets, rows, { ja3: [JA3] });
    expect([...files.keys()]).toEqual([
      'tipline-names.lst',
      'tipline-addresses.lst',
      'tipline-categories.txt',
      'tipline-reputation.list',
      'tipline.md5',
      'tipline.sha1',
      'tipline.sha256',
      'tipline-ja3.lst',
      'tipline.rules',
    ]);
    expect(decoded(files.get('tipline-names.lst'))).toEqual([
      'evil.example',
      'xn--bcher-phish-thb.example',
      'restricted.example',
    ]);
    expect(files.get('tipline-addresses.lst')).toBe('198.51.100.7\n198.51.100.6\n2001:db8::bad\n');
    expect(files.get('tipline-reputation.list')).toBe(
      '198.51.100.7,1,95\n198.51.100.6,1,50\n2001:db8::bad,1,50\n',
    );
    expect(files.get('tipline.sha1')).not.toContain(SHA1_OF_CERTIFICATE);
    expect(decoded(files.get('tipline-ja3.lst'))).toEqual([JA3]);
    const rules = files.get('tipline.rules') ?? '';
    expect(ruleProblems(rules)).toEqual([]);
    expect(rules).toContain('tls.cert_fingerprint');
    expect(rules).toContain('duckdns.org');
    expect(rules).not.toContain('restricted.example');
    const lists = [...files.keys()].filter((name) => /\.(lst|md5|sha\d+)$/.test(name));
    expect(lists.filter((name) => !rules.includes(name))).toEqual([]);
  });

  it('has only files with content, and no rule that reads others', async () => {
    const files = await writtenFiles(datasets, [exportIndicator(1, 'SHA256', 'ab'.repeat(32))]);
    expect([...files.keys()]).toEqual(['tipline.sha256', 'tipline.rules']);
    expect([...(await writtenFiles(datasets, [])).keys()]).toEqual(['tipline.rules']);
  });

  it('counts what it leaves out', async () => {
    const skipped = new Skipped();
    const md5 = exportIndicator(902, 'MD5', 'ab'.repeat(16), { ofCertificate: true });
    const files = await writtenFiles(datasets, [anyAddress, md5, ...GOLDEN], {}, skipped);
    expect(skipped.counts).toEqual({ 'any-address': 1, certificate: 1 });
    expect(files.get('tipline.rules')).toMatch(/# Left out: any-address 1, certificate 1\n$/);
  });

  it('has the same bytes for the same rows', async () => {
    const twice = await Promise.all([writtenFiles(datasets, GOLDEN), writtenFiles(datasets, GOLDEN)]);
    expect(twice[0]).toEqual(twice[1]);
  });

  it('for Suricata 8 states confidence, verdict and link of each value', async () => {
    const row = exportIndicator(4, 'DOMAIN', 'evil.example', { confidence: 80, severity: 'HIGH', score: 75 });
    const address = exportIndicator(5, 'IPV4', '198.51.100.7');
    const files = await writtenFiles(ndjson, [row, address]);
    expect(JSON.parse(files.get('tipline-names.ndjson') ?? '')).toEqual({
      value: 'evil.example',
      confidence: 80,
      severity: 'high',
      verdict: 'MALICIOUS',
      source: 'Example feed',
      url: `https://tipline.example/indicators/${row.id}`,
    });
    expect(JSON.parse(files.get('tipline-addresses.ndjson') ?? '')).toMatchObject({
      value: '198.51.100.7',
      verdict: 'UNKNOWN',
    });
    const rules = files.get('tipline.rules') ?? '';
    expect(rules).toContain('load tipline-names.ndjson,format ndjson,context_key tipline,value_key value');
    expect([...files.keys()]).not.toContain('tipline-reputation.list');
  });
});

const FIRST_PORT = 20_000;
const ENGINE: string = 'suricata';
const isInstalled = spawnSync(ENGINE, ['-V']).status === 0;

/** With the configuration that Debian ships. */
describe.skipIf(!isInstalled)('an archive with datasets, loaded by Suricata', () => {
  const rows = [...GOLDEN, ...HOSTILE, certificate, suffix];
  let directory: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'tipline-datasets-'));
    for (const [name, text] of await writtenFiles(datasets, rows, { ja3: [JA3] }))
      writeFileSync(join(directory, name), text);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('loads in strict mode without warnings', () => {
    const output = suricata(['-T', '-v', '--init-errors-fatal', '--strict-rule-keywords=all']);
    const rules = readFileSync(join(directory, 'tipline.rules'), 'utf8');
    const count = rules.split('\n').filter((line) => line.startsWith('alert ')).length;
    expect(output).toContain(`${count} rules successfully loaded, 0 rules failed`);
    expect(output.split('\n').filter((line) => /warning|error/i.test(line))).toEqual([]);
  });

  it('fires on what the rules for each indicator fire on, and on nothing else', () => {
    const values = new Set(rows.map(({ value }) => value));
    const attempts = rows
      .filter(({ forDetection }) => forDetection)
      .flatMap((row) =>
        attemptsOf(row, (address) => values.has(address)).map((attempt) => ({
          ...attempt,
          sids: sidsFor(row, attempt),
        })),
      );
    const fired = replay(attempts);
    const wrong = attempts.filter(
      ({ sids, fires }, index) => sids.some((sid) => fired.has(`${index} ${sid}`)) !== fires,
    );
    expect(wrong.map(({ what, fires }) => `${fires ? 'silent' : 'fired'}: ${what}`)).toEqual([]);
  });

  it.each([
    ['evil.example', 1],
    ['a.evil.example', 1],
    ['a.b.c.d.evil.example', 1],
    ['a.b.c.d.e.evil.example', 0],
    ['example', 0],
    ['evil.example.org', 0],
    ['a.duckdns.org', 0],
  ])('a query for %s alerts %i times', (name, times) => {
    const ends = { client: '192.168.1.5', clientPort: FIRST_PORT, server: '192.168.1.1', serverPort: 53 };
    expect(alertsOf(udpDatagram(ends, dnsQuery(name)))).toHaveLength(times);
  });

  /** The rules that may fire for a single indicator's rule. */
  function sidsFor(row: ExportIndicator, { sid }: Attempt): number[] {
    if (row.type === 'IPV4' || row.type === 'IPV6') return [LIST_SIDS.address, LIST_SIDS.address + 1];
    if (row.type !== 'DOMAIN' || isPublicSuffix(row.value)) return [sid];
    const first = LIST_SIDS.name + (sid - sidOf(row.number, 0)) * 5;
    return [0, 1, 2, 3, 4].map((depth) => first + depth);
  }

  function replay(attempts: readonly Attempt[]): Set<string> {
    const frames = attempts.flatMap(({ server, serverPort, frames: of }, index) =>
      of({ client: clientOf(server), clientPort: FIRST_PORT + index, server, serverPort }),
    );
    return new Set(alertsOf(frames).map(({ port, sid }) => `${port - FIRST_PORT} ${sid}`));
  }

  function alertsOf(frames: readonly Buffer[]): { port: number; sid: number }[] {
    const capture = join(directory, 'traffic.pcap');
    const log = join(directory, 'eve.json');
    writeFileSync(capture, captureFile(frames));
    rmSync(log, { force: true });
    suricata(['-r', capture, '-k', 'none', '--runmode', 'single']);
    return readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"event_type":"alert"'))
      .map((line) => JSON.parse(line))
      .map(({ src_port, dest_port, alert }) => ({
        port: Math.max(src_port, dest_port),
        sid: alert.signature_id,
      }));
  }

  function suricata(options: readonly string[]): string {
    const common = ['-S', join(directory, 'tipline.rules'), '-l', directory];
    return execFileSync(ENGINE, [...common, ...options], { encoding: 'utf8', stdio: 'pipe' });
  }
});
