import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { epssImporter } from '../../src/importers/epss.ts';
import { inputOf, ofKind, runImporter } from './run-importer.ts';

const COMMENT = '#model_version:v2025.03.14,score_date:2026-05-01T12:55:00Z';
const COLUMNS = 'cve,epss,percentile';
const run = (...lines: string[]) => runImporter(epssImporter, inputOf(lines.join('\n')));

describe('EPSS scores', () => {
  it.each([
    ['plain', (text: string) => text],
    ['with CR LF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['compressed', (text: string) => gzipSync(text)],
    ['with a byte order mark', (text: string) => `\ufeff${text}`],
  ])('are read from a file, %s', async (_, packed) => {
    const text = `${COMMENT}\n${COLUMNS}\nCVE-1999-0001,0.01141,0.78234\ncve-2026-12345,1,1.0\nCVE-2026-1000,9e-05,0\n`;
    const { records, unreadable } = await runImporter(epssImporter, inputOf(packed(text)));
    expect(unreadable).toBeNull();
    expect(records).toEqual([
      { kind: 'score', cve: 'CVE-1999-0001', score: 0.01141, percentile: 0.78234, date: '2026-05-01' },
      { kind: 'score', cve: 'CVE-2026-12345', score: 1, percentile: 1, date: '2026-05-01' },
      { kind: 'score', cve: 'CVE-2026-1000', score: 0.00009, percentile: 0, date: '2026-05-01' },
    ]);
  });

  it.each([
    ['GHSA-1,0.1,0.1', 'not a CVE id'],
    ['CVE-2026-1000,0.1', 'not three columns'],
    ['CVE-2026-1000,0.1,0.1,0.1', 'not three columns'],
    ['CVE-2026-1000,,0.1', 'not a number from 0 to 1'],
    ['CVE-2026-1000,1.1,0.1', 'not a number from 0 to 1'],
    ['CVE-2026-1000,-0.1,0.1', 'not a number from 0 to 1'],
    ['CVE-2026-1000,NaN,0.1', 'not a number from 0 to 1'],
    ['CVE-2026-1000,Infinity,0.1', 'not a number from 0 to 1'],
    ['CVE-2026-1000,0x1,0.1', 'not a number from 0 to 1'],
    ['CVE-2026-1000,0.1,1e99', 'not a number from 0 to 1'],
    [`CVE-2026-1000,0.1,0.${'1'.repeat(2000)}`, 'line longer than 1 KiB'],
  ])('reject the line %s, and continue', async (line, reason) => {
    const { records, unreadable } = await run(COMMENT, COLUMNS, line, 'CVE-2026-2000,0.5,0.5');
    expect(unreadable).toBeNull();
    expect(ofKind(records, 'rejected')).toEqual([{ kind: 'rejected', of: 'score', reason, where: 'line 3' }]);
    expect(ofKind(records, 'score')).toHaveLength(1);
  });

  it.each([
    ['an empty file', [], 'the file is empty'],
    ['a comment alone', [COMMENT], 'the file has no column names'],
    ['no comment', [COLUMNS, 'CVE-2026-1000,0.1,0.1'], 'the first line is not #model_version'],
    ['no day', ['#model_version:v1', COLUMNS], 'the first line is not #model_version'],
    ['a day that is none', ['#model_version:v1,score_date:2026-02-30', COLUMNS], 'the first line is not'],
    ['other columns', [COMMENT, 'cve,percentile,epss'], 'the second line is not cve,epss,percentile'],
  ])('are not read from %s', async (_, lines, message) => {
    const { records, unreadable } = await run(...lines);
    expect(unreadable).toContain(message);
    expect(records).toEqual([]);
  });

  it('are not read to the end of a file that ends early', async () => {
    const text = [
      COMMENT,
      COLUMNS,
      ...Array.from({ length: 50_000 }, (_, i) => `CVE-2026-${10_000 + i},0.${i},0.1`),
    ];
    const packed = gzipSync(text.join('\n'));
    const { unreadable } = await runImporter(epssImporter, inputOf(packed.subarray(0, packed.length / 2)));
    expect(unreadable).toContain('ends too early');
  });
});
