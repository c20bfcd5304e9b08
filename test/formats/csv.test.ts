import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvFormat } from '../../src/formats/csv.ts';
import type { ExportIndicator, ExportInfo, Instant } from '../../src/formats/format.ts';
import { TLPS } from '../../src/model/vocabulary.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';

const guarded = csvFormat({ csvGuard: true });
const plain = csvFormat({ csvGuard: false });

describe('csv', () => {
  it('is this, whole', async () => {
    await expectGolden(await written(guarded, GOLDEN), 'indicators.csv');
  });

  it('has a header and one line end a row', async () => {
    const text = await written(plain, HOSTILE.slice(0, 5));
    expect(text.startsWith('id,type,value,')).toBe(true);
    expect(text.endsWith('\r\n')).toBe(true);
  });

  it.each(['=1+1', '+1', '-1', '@x'])('guards against the formula %s', async (value) => {
    const rows = [exportIndicator(1, 'MUTEX', value)];
    expect(await written(guarded, rows)).toContain(`,'${value},`);
    expect(await written(plain, rows)).toContain(`,${value},`);
  });

  it('guards every formula behind a semicolon', async () => {
    const rows = [exportIndicator(1, 'MUTEX', '=a;+b;-c;@d;;e;f=')];
    expect(await written(guarded, rows)).toContain(`,'=a;'+b;'-c;'@d;;e;f=,`);
    expect(await written(plain, rows)).toContain(',=a;+b;-c;@d;;e;f=,');
  });

  it('guards also behind a semicolon, where a list separator may begin a cell', async () => {
    const rows = [exportIndicator(1, 'MUTEX', 'x', { tags: ['0day', '=HYPERLINK("http://evil.example")'] })];
    expect(await written(guarded, rows)).toContain('"0day;\'=HYPERLINK(');
    expect(await written(plain, rows)).toContain('"0day;=HYPERLINK(');
  });
});

describe('csv from what COPY gives', () => {
  const words = fc.constantFrom(
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
    'é',
    '🦊',
  );
  const text = fc.array(words, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
  const time = fc
    .constantFrom(0, 1, 10, 120, 999, 1000)
    .map((ms) => new Date(Date.UTC(2026, 0, 31, 23, 5, 9) + ms));
  const rows = fc.array(
    fc.record({
      value: text,
      tags: fc.array(text, { maxLength: 3 }),
      source: text,
      firstSeen: time,
      lastSeen: time,
      expiresAt: fc.option(time),
      forDetection: fc.boolean(),
      tlp: fc.constantFrom(...TLPS),
    }),
    { maxLength: 5 },
  );

  it('is what the writer says, wherever the pieces end', async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.boolean(), fc.integer({ min: 1, max: 50 }), async (given, csvGuard, size) => {
        const format = csvFormat({ csvGuard });
        const all = given.map((fields, i) => ({ ...exportIndicator(i, 'MUTEX', 'x'), ...fields }));
        const lines = new Map(all.map((row) => [copyLine(row), row]));
        const bytes = Buffer.from([...lines.keys()].map((line) => `${line}\n`).join(''));
        async function* pieces() {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        }
        async function* batches() {
          yield [...lines.values()];
        }
        const toRow = (line: string) => lines.get(line) ?? exportIndicator(0, 'MUTEX', 'unknown line');
        const copied: Buffer[] = [];
        for await (const piece of format.writeCopied?.(pieces(), toRow) ?? [])
          copied.push(Buffer.from(piece));
        let expected = '';
        for await (const piece of format.write(batches(), {} as ExportInfo)) expected += piece;
        expect(Buffer.concat(copied).toString()).toBe(expected);
      }),
      { numRuns: 1000 },
    );
  });

  it('asks for no row that is plain', async () => {
    const line = copyLine(
      exportIndicator(1, 'URL', 'http://evil.example/a?b=c&d=%20', { tags: ['a', 'b-c'] }),
    );
    const asked: string[] = [];
    async function* pieces() {
      yield Buffer.from(`${line}\n`);
    }
    const toRow = (row: string) => {
      asked.push(row);
      return exportIndicator(1, 'MUTEX', 'x');
    };
    for await (const _ of guarded.writeCopied?.(pieces(), toRow) ?? []);
    expect(asked).toEqual([]);
  });
});

/** PostgreSQL's manual: COPY, "Text Format", and arrays, "Array Input and Output Syntax". */
function copyLine(row: ExportIndicator): string {
  const element = (tag: string) =>
    /^$|[{},"\\\s]|^null$/i.test(tag) ? `"${tag.replace(/["\\]/g, '\\$&')}"` : tag;
  const time = (moment: Instant | null) =>
    moment === null
      ? 'infinity'
      : `${moment
          .toISOString()
          .replace('T', ' ')
          .replace(/\.?0*Z$/, '')}+00`;
  const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
  return [
    ...[row.id, row.type, row.value, String(row.confidence), row.severity, row.tlp],
    ...[`{${row.tags.map(element).join(',')}}`, row.source],
    ...[time(row.firstSeen), time(row.lastSeen), time(row.expiresAt), row.forDetection ? 't' : 'f'],
  ]
    .map((field) => field.replace(/[\\\t\n\r]/g, (character) => escapes[character] ?? ''))
    .join('\t');
}
