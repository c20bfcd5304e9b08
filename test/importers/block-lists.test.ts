import { describe, expect, it } from 'vitest';
import { dropImporter, dshieldImporter } from '../../src/importers/block-lists.ts';
import type { Importer } from '../../src/importers/importer.ts';
import { recognizeFormat } from '../../src/importers/recognize.ts';
import { inputOf, runImporter } from './run-importer.ts';

async function read(importer: Importer, content: string) {
  const { records, unreadable } = await runImporter(importer, inputOf(content));
  const lines = records.map((record) =>
    record.kind === 'indicator'
      ? [`${record.type} ${record.value}`, ...(record.records ?? [])]
      : [record.kind === 'rejected' ? `${record.where}: ${record.reason}` : record.kind],
  );
  return { lines, unreadable };
}

const recognized = async (content: string) => (await recognizeFormat(inputOf(content)))?.name;

const json = (...entries: object[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
const DROP = [
  { cidr: '192.0.2.0/24', sblid: 'SBL100001', rir: 'ripencc' },
  { cidr: '2001:db8::/32', sblid: 'SBL100002', rir: 'arin' },
];
const metadata = (records: number) => ({ type: 'metadata', timestamp: 1_780_000_000, size: 100, records });

describe('Spamhaus DROP', () => {
  it('is recognized and read with the reference of each network', async () => {
    const content = json(...DROP, metadata(2));
    expect(await recognized(content)).toBe('drop');
    expect(await read(dropImporter, content)).toEqual({
      lines: [
        ['IPV4 192.0.2.0/24', { name: 'SBL100001' }],
        ['IPV6 2001:db8::/32', { name: 'SBL100002' }],
      ],
      unreadable: null,
    });
  });

  it('is read as a list of AS numbers', async () => {
    const content = json({ asn: 64_500, rir: 'apnic', cc: 'ZZ', asname: 'EXAMPLE-AS' }, metadata(1));
    expect(await recognized(content)).toBe('drop');
    expect((await read(dropImporter, content)).lines).toEqual([['ASN AS64500', { name: 'EXAMPLE-AS' }]]);
  });

  it('is an ordinary list as text', async () => {
    const content = '; Spamhaus DROP List\n192.0.2.0/24 ; SBL100001\n198.51.100.0/25 ; SBL100003\n';
    expect(await recognized(content)).toBe('text');
  });

  it.each([
    [json(...DROP, metadata(3)), 'the list is not complete: it has 2 entries and states 3'],
    [json(...DROP), 'the list is not complete: it has 2 entries and no metadata in its last line'],
  ])('that is cut is not read as complete', async (content, unreadable) => {
    expect((await read(dropImporter, content)).unreadable).toBe(unreadable);
  });

  it('rejects entries that are broken, and counts them', async () => {
    const content = `${json({ cidr: '192.0.2.1/24', sblid: 'SBL1' }, { sblid: 'SBL2' })}{"cidr":\n[]\n${json(metadata(4))}`;
    expect(await read(dropImporter, content)).toEqual({
      lines: [
        ['line 1: a network with bits set behind its prefix'],
        ['line 2: no value'],
        ['line 3: not valid JSON'],
        ['line 4: not an object'],
      ],
      unreadable: null,
    });
  });
});

const DSHIELD = '#   DShield.org Recommended Block List\n#   updated: Thu Nov 26 04:05:01 UTC 2026\n';
const COLUMNS = 'Start\tEnd\tNetblock\tAttacks\tName\tCountry\temail\n';

describe('the block list of DShield', () => {
  it('is recognized and read with attacks and holder', async () => {
    const content = `${DSHIELD}${COLUMNS}192.0.2.0\t192.0.2.255\t24\t4059\tEXAMPLE-NET\tZZ\tabuse@example.org\n`;
    expect(await recognized(content)).toBe('dshield');
    expect(await read(dshieldImporter, content)).toEqual({
      lines: [['IPV4 192.0.2.0/24', { name: 'EXAMPLE-NET, ZZ', description: '4059 attacks' }]],
      unreadable: null,
    });
  });

  it('is read by first and last address, which may be no single network', async () => {
    const content = `${COLUMNS}192.0.2.0\t192.0.2.130\t24\t1\n`;
    expect((await read(dshieldImporter, content)).lines.map(([value]) => value)).toEqual([
      'IPV4 192.0.2.0/25',
      'IPV4 192.0.2.128/31',
      'IPV4 192.0.2.130',
    ]);
  });

  it('rejects a line without two addresses, and a page without the column names', async () => {
    expect((await read(dshieldImporter, `${COLUMNS}192.0.2.0\tnone\n`)).lines).toEqual([
      ['line 2: not a first and a last address'],
    ]);
    expect((await read(dshieldImporter, 'Not found\n')).unreadable).toMatch(/no line with the column names/);
  });
});
