import { execFileSync, spawnSync } from 'node:child_process';
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExportIndicator } from '../../src/formats/format.ts';
import { suricataFormat } from '../../src/formats/suricata.ts';
import { recognizeFormat } from '../../src/importers/recognize.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';
import { captureFile } from './pcap.ts';
import { type Attempt, attemptsOf, clientOf, SHA1_OF_CERTIFICATE } from './rule-traffic.ts';

const SAMPLE = [
  'stix/tweetfeed-2026-08-22.json',
  'stix/maltrail-attributed.json',
  'csv/maltrail-ipv6-scanners.csv',
];
const FIRST_SAMPLE_NUMBER = 2000;
const FIRST_PORT = 20_000;
/** Names whose subdomains are other people's. */
const SHARED = ['co.uk', 'duckdns.org'].map((name, index) => exportIndicator(900 + index, 'DOMAIN', name));

const PARTIAL = exportIndicator(905, 'DOMAIN', 'partner.example', {
  whitelistedParts: ['=mail.partner.example', 'login.partner.example'],
});
const CERTIFICATES = [SHA1_OF_CERTIFICATE, 'ab'.repeat(20)].map((sha1, index) =>
  exportIndicator(910 + index, 'SHA1', sha1, { ofCertificate: true }),
);

const ENGINE: string = 'suricata';
const isInstalled = spawnSync(ENGINE, ['-V']).status === 0;

/** With the configuration that Debian ships. */
describe.skipIf(!isInstalled)('Suricata rules loaded by Suricata', () => {
  let directory: string;
  let rows: ExportIndicator[];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'tipline-suricata-'));
    rows = [...GOLDEN, ...SHARED, PARTIAL, ...CERTIFICATES, ...HOSTILE, ...(await sampleRows())];
    writeFileSync(join(directory, 'tipline.rules'), await written(suricataFormat(), rows));
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('load in strict mode without warnings', () => {
    const strictly = ['-T', '-v', '--init-errors-fatal', '--strict-rule-keywords=all'];
    const output = suricata(directory, strictly);
    const text = readFileSync(join(directory, 'tipline.rules'), 'utf8');
    const count = text.split('\n').filter((line) => line.startsWith('alert ')).length;
    expect(output).toContain(`${count} rules successfully loaded, 0 rules failed`);
    expect(output.split('\n').filter((line) => /warning|error/i.test(line))).toEqual([]);
  });

  it('fire on matching traffic only', () => {
    const attempts = attemptsFor(rows);
    const fired = replay(directory, attempts);
    const wrong = attempts.filter(({ sid, fires }, index) => fired.has(`${index} ${sid}`) !== fires);
    expect(wrong.map(({ what, sid, fires }) => `${fires ? 'silent' : 'fired'}: ${sid} ${what}`)).toEqual([]);
  });
});

async function sampleRows(): Promise<ExportIndicator[]> {
  const rows = new Map<string, ExportIndicator>();
  for (const fileName of SAMPLE) {
    const input = { fileName, open: () => createReadStream(`sample/${fileName}`) };
    const importer = await recognizeFormat(input);
    if (importer === null) throw new Error(`not recognized: ${fileName}`);
    for await (const part of importer.read(input))
      for (const record of part) {
        if (record.kind !== 'indicator') continue;
        const row = exportIndicator(FIRST_SAMPLE_NUMBER + rows.size, record.type, record.value);
        if (!rows.has(row.id)) rows.set(row.id, row);
      }
  }
  return [...rows.values()];
}

function attemptsFor(rows: readonly ExportIndicator[]): Attempt[] {
  const values = new Set(rows.map(({ value }) => value));
  return rows
    .filter(({ forDetection }) => forDetection)
    .flatMap((row) => attemptsOf(row, (address) => values.has(address), true));
}

/** `index sid` of each attempt and each rule that fired on it. An attempt is told by the port of its client. */
function replay(directory: string, attempts: readonly Attempt[]): Set<string> {
  const frames = attempts.flatMap(({ server, serverPort, frames }, index) =>
    frames({ client: clientOf(server), clientPort: FIRST_PORT + index, server, serverPort }),
  );
  const capture = join(directory, 'traffic.pcap');
  writeFileSync(capture, captureFile(frames));
  suricata(directory, ['-r', capture, '-k', 'none', '--runmode', 'single']);
  const fired = new Set<string>();
  for (const line of readFileSync(join(directory, 'eve.json'), 'utf8').split('\n')) {
    if (!line.includes('"event_type":"alert"')) continue;
    const event: { src_port: number; dest_port: number; alert: { signature_id: number } } = JSON.parse(line);
    fired.add(`${Math.max(event.src_port, event.dest_port) - FIRST_PORT} ${event.alert.signature_id}`);
  }
  return fired;
}

function suricata(directory: string, options: readonly string[]): string {
  const common = ['-S', join(directory, 'tipline.rules'), '-l', directory];
  return execFileSync(ENGINE, [...common, ...options], { encoding: 'utf8', stdio: 'pipe' });
}
