import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS, FORMAT_NAMES, formatOf } from '../../src/formats/catalogue.ts';
import {
  ARCHIVE_STYLES,
  type ExportFormat,
  type ExportIndicator,
  TXT_STYLES,
} from '../../src/formats/format.ts';
import { Skipped } from '../../src/formats/skipped.ts';
import { LIST_STYLES } from '../../src/formats/txt-styles.ts';
import { normalize } from '../../src/model/normalize.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { copied } from '../formats/copied.ts';
import { exportIndicator, GOLDEN, HOSTILE, rowsFor, written, writtenFiles } from '../formats/input.ts';
import { runs } from './runs.ts';

/** Each format, and each style of list for each kind of values. */
const FORMATS: [string, ExportFormat][] = [
  ...FORMAT_NAMES.filter((name) => name !== 'txt').map((name): [string, ExportFormat] => [
    name,
    formatOf(name, DEFAULT_OPTIONS),
  ]),
  ...TXT_STYLES.flatMap((style) =>
    (LIST_STYLES[style].kinds ?? [LIST_STYLES[style].types]).map((types): [string, ExportFormat] => {
      const list = { style, kind: types[0] ?? null, collapse: true, wildcards: true, maxLines: null };
      const format = formatOf('txt', { ...DEFAULT_OPTIONS, list });
      return [`txt ${style} ${types[0]}`, { ...format, types }];
    }),
  ),
  ...ARCHIVE_STYLES.map((archive): [string, ExportFormat] => [
    archive,
    formatOf(archive === 'reputation' ? 'snort' : 'suricata', { ...DEFAULT_OPTIONS, archive }),
  ]),
];

/** URLs with what one or the other format cannot hold, and names that a policy zone cannot. */
const part = fc.constantFrom(
  'a',
  'gate.php',
  '*',
  '^',
  '"',
  '%20',
  '#',
  '?q=1',
  'x'.repeat(300),
  'y'.repeat(4100),
);
const url = fc
  .record({
    scheme: fc.constantFrom('http', 'https', 'ftp', 'tcp', 'ws'),
    port: fc.constantFrom('', ':80', ':8000'),
    path: fc.array(part, { maxLength: 3 }),
  })
  .map(({ scheme, port, path }) => ({
    type: 'URL' as IndicatorType,
    value: `${scheme}://evil.example${port}/${path.join('/')}`,
  }));
const others = fc.constantFrom<{ type: IndicatorType; value: string }>(
  ...[...GOLDEN, ...HOSTILE].map(({ type, value }) => ({ type, value })),
  { type: 'IPV4', value: '0.0.0.0' },
  { type: 'IPV6', value: '::' },
  { type: 'IPV4', value: '198.51.100.0/24' },
  { type: 'IPV4', value: '198.0.0.0/11' },
  { type: 'IPV6', value: '2001:db8::/32' },
  { type: 'DOMAIN', value: 'evil.rpz-ip' },
  { type: 'DOMAIN', value: `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.example` },
  { type: 'FILENAME', value: '#start' },
  { type: 'FILENAME', value: '/tmp/x"y' },
);
const rows = fc
  .uniqueArray(
    fc.oneof(url, others).filter(({ type, value }) => !('rejected' in normalize(type, value))),
    { selector: ({ type, value }) => `${type} ${value}`, maxLength: 12 },
  )
  .map((values) => values.map(({ type, value }, i) => exportIndicator(i + 1, type, value)))
  .chain((all) =>
    fc
      .constantFrom<readonly string[]>([], ['198.51.100.7'], ['198.51.100.0/25', '198.51.100.255'])
      .map((whitelistedParts) =>
        all.map((row) => (row.value === '198.51.100.0/24' ? { ...row, whitelistedParts } : row)),
      ),
  );

/** The content of an export without its comments. */
const content = (text: string) => text.replace(/^[#;] Left out.*\n/gm, '');

async function skippedOf(format: ExportFormat, of: readonly ExportIndicator[]) {
  const skipped = new Skipped();
  const text =
    format.extension === 'zip'
      ? [...(await writtenFiles(format, of, {}, skipped)).values()].join('')
      : await written(format, of, {}, 3, skipped);
  return {
    text,
    counts: skipped.counts,
    parts: skipped.parts,
    total: Object.values(skipped.counts).reduce((a, b) => a + b, 0),
  };
}

describe.each(FORMATS)('an export as %s', (_, format) => {
  it('holds every indicator, or counts it as left out', async () => {
    const empty = content((await skippedOf(format, [])).text);
    await fc.assert(
      fc.asyncProperty(rows, async (given) => {
        const possible = rowsFor(format, given);
        let total = 0;
        for (const row of possible) {
          const alone = await skippedOf(format, [row]);
          const isWritten = content(alone.text) !== empty;
          expect({ value: row.value, isWritten, skipped: alone.total }).toEqual({
            value: row.value,
            isWritten,
            skipped: isWritten ? 0 : 1,
          });
          total += alone.total;
        }
        const all = await skippedOf(format, possible);
        expect(all.total).toBe(total);
        if (total > 0) expect(format.skipsValues).toBe(true);
        if (!format.writeCopied) return;
        const fromCopy = new Skipped();
        await copied(format, possible, 3, { changedAt: null }, fromCopy);
        expect([fromCopy.counts, fromCopy.parts]).toEqual([all.counts, all.parts]);
      }),
      runs(60),
    );
  });
});
