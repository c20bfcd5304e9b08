import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS } from '../../src/formats/catalogue.ts';
import { csvFormat } from '../../src/formats/csv.ts';
import type { ExportFormat, ExportIndicator } from '../../src/formats/format.ts';
import { rpzFormat } from '../../src/formats/rpz.ts';
import { txtFormat } from '../../src/formats/txt.ts';
import { zeekFormat } from '../../src/formats/zeek.ts';
import { SEVERITIES, TLPS } from '../../src/model/vocabulary.ts';
import { runs } from '../properties/runs.ts';
import { copied } from './copied.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';

const FORMATS: Record<string, ExportFormat> = {
  csv: csvFormat({ csvGuard: false }),
  'guarded csv': csvFormat({ csvGuard: true }),
  zeek: zeekFormat({ publicAddress: null }),
  'zeek with links': zeekFormat({ publicAddress: 'https://tipline.example' }),
  txt: txtFormat({ list: DEFAULT_OPTIONS.list }),
  rpz: rpzFormat(),
};
const INFO = { changedAt: new Date('2026-05-25T12:00:00Z') };

const one = (...texts: string[]) => fc.constantFrom(...texts);
/** In pieces, so that some rows are plain and others hold one thing that is not. */
const text = fc
  .array(
    one(
      'a',
      'Zz9',
      '=x',
      '+',
      '-',
      '@',
      ' ',
      '"',
      ',',
      ';',
      '\\',
      '\t',
      '\n',
      '\r',
      '{',
      '}',
      '#',
      '(',
      'é',
      '🦊',
    ),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((parts) => parts.join(''));
const time = one('.000', '.001', '.010', '.120', '.999').map((ms) => new Date(`2026-01-31T23:05:09${ms}Z`));
const url = fc
  .tuple(
    one('http://', 'https://', 'ftp://', 'http://u:p@'),
    one('evil.example', '198.51.100.7', '[2001:db8::1]'),
    one('', ':8080', ':80'),
    one('/', '/A', '/a', '/a%41', '/%20', "/x?y='&z", '/ü', '/#'),
  )
  .map((parts) => exportIndicator(1, 'URL', parts.join('')));
const known = fc.constantFrom(
  ...GOLDEN,
  ...HOSTILE,
  ...['co.uk', 'a.co.uk', 'x.rpz-ip', `${'a.'.repeat(100)}example`].map((name) =>
    exportIndicator(1, 'DOMAIN', name),
  ),
  exportIndicator(1, 'SHA1', 'ab'.repeat(20), { ofCertificate: true }),
  ...['198.51.100.8', '0.0.0.0', '255.255.255.255'].map((address) => exportIndicator(1, 'IPV4', address)),
  ...['::', '::1', '2001:db8::'].map((address) => exportIndicator(1, 'IPV6', address)),
  ...['198.51.100.0/24', '0.0.0.0/8'].map((block) => exportIndicator(1, 'IPV4', block)),
  exportIndicator(1, 'IPV4', '198.51.100.0/24', { whitelistedParts: ['198.51.100.8', '198.51.100.64/26'] }),
  exportIndicator(1, 'IPV6', '2001:db8::/32', { whitelistedParts: ['2001:db8::/48'] }),
);
const fields = fc.record(
  {
    tags: fc.array(text, { maxLength: 3 }),
    source: text,
    severity: fc.constantFrom(...SEVERITIES),
    confidence: fc.integer({ min: 0, max: 100 }),
    tlp: fc.constantFrom(...TLPS),
    firstSeen: time,
    lastSeen: time,
    expiresAt: fc.option(time),
    forDetection: fc.boolean(),
  },
  { requiredKeys: [] },
);
const row = fc
  .tuple(
    fc.oneof(
      url,
      known,
      text.map((value) => ({ ...exportIndicator(1, 'MUTEX', 'x'), value })),
    ),
    fields,
  )
  .map(([indicator, more]): ExportIndicator => ({ ...indicator, ...more }));

it('COPY output of a long run of addresses aggregates as the writer does', async () => {
  const rows = Array.from({ length: 4094 }, (_, i) =>
    exportIndicator(i + 1, 'IPV6', `2001:db8:1:2:3:4:5:${(i + 1).toString(16)}`),
  );
  rows.push(exportIndicator(5000, 'IPV6', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'));
  const format = txtFormat({ list: DEFAULT_OPTIONS.list });
  const { text, asked } = await copied(format, rows, 1);
  expect(text).toBe(await written(format, rows));
  expect(text.split('\n').length).toBeGreaterThan(20);
  expect(asked).toEqual([]);
});

it('COPY output of an address after a network that is listed in part has all of its blocks', async () => {
  const whitelistedParts = Array.from({ length: 2000 }, (_, i) => `10.0.${(i * 2) >> 8}.${(i * 2) & 255}`);
  const rows = [
    exportIndicator(1, 'IPV4', '10.0.0.0/16', { whitelistedParts }),
    exportIndicator(2, 'IPV4', '10.255.0.1'),
  ];
  const format = txtFormat({ list: { ...DEFAULT_OPTIONS.list, maxLines: 1500 } });
  const { text } = await copied(format, rows, 1, { rows: rows.length });
  expect(text).toBe(await written(format, rows, { rows: rows.length }));
  expect(text.split('\n')).toHaveLength(1501);
});

describe.each(Object.entries(FORMATS))('%s from COPY output', (_, format) => {
  it("equals the writer's output, at any chunk boundary", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        async (rows, size) => {
          expect((await copied(format, rows, size, INFO)).text).toBe(await written(format, rows, INFO));
        },
      ),
      runs(2000),
    );
  });

  it('parses no objects for plain rows', async () => {
    const plain = exportIndicator(1, 'DOMAIN', 'evil.example', { tags: ['a', 'b-c'] });
    expect((await copied(format, [plain, plain], 1000, INFO)).asked.length).toBeLessThan(2);
  });
});
