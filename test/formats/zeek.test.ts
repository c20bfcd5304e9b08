import { describe, expect, it } from 'vitest';
import { zeekFormat } from '../../src/formats/zeek.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';
import { intelProblems } from './zeek-checks.ts';

const zeek = zeekFormat({ publicAddress: null });

/** As Zeek's reader takes a file apart: by line, by tab, then `\xHH`; a lone `-` is unset. */
function read(text: string) {
  const [header, ...lines] = text.replace(/\n$/, '').split('\n');
  const rows = lines.map((line) =>
    line.split('\t').map((field) => (field === '-' ? null : unescaped(field))),
  );
  return { header, lines, rows };
}

const unescaped = (field: string) =>
  field.replace(/\\x([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));

const indicators = async (rows: Parameters<typeof written>[1]) =>
  read(await written(zeek, rows)).rows.map(([indicator]) => indicator);

describe('zeek', () => {
  it('matches the golden file', async () => {
    await expectGolden(await written(zeek, GOLDEN), 'indicators.zeek.dat');
  });

  it('links to the page of an indicator where the public address is known', async () => {
    const row = exportIndicator(1, 'DOMAIN', 'evil.example');
    const linked = zeekFormat({ publicAddress: 'https://tipline.example/intel' });
    const { header, rows } = read(await written(linked, [row]));
    expect(header).toBe('#fields\tindicator\tindicator_type\tmeta.source\tmeta.desc\tmeta.url');
    expect(rows[0]?.at(-1)).toBe(`https://tipline.example/intel/indicators/${row.id}`);
  });

  it('is only a header without matches', async () => {
    expect(await written(zeek, [])).toBe('#fields\tindicator\tindicator_type\tmeta.source\tmeta.desc\n');
  });

  it('has four fields per line and no comments, for hostile input', async () => {
    const { lines, rows } = read(await written(zeek, HOSTILE));
    expect(lines.filter((line) => line.startsWith('#'))).toEqual([]);
    expect(rows.filter((row) => row.length !== 4 || row.includes(null))).toEqual([]);
    expect(rows.flat().filter((field) => /[\p{Cc}\u2028]|^\s|\s$/u.test(field ?? ''))).toEqual([]);
  });

  it('contains only what Zeek accepts, for hostile input', async () => {
    expect(intelProblems(await written(zeek, [...GOLDEN, ...HOSTILE]))).toEqual([]);
  });

  it("contains no duplicates under Zeek's case-insensitive comparison", async () => {
    const { rows } = read(await written(zeek, [...GOLDEN, ...HOSTILE]));
    const keys = rows.map(([indicator, type]) => `${indicator?.toLowerCase()} ${type}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each([
    ['#lead', '\\x23lead'],
    ['-', '\\x2d'],
    ['(empty)', '\\x28empty)'],
    ['a\\x41', 'a\\x5cx41'],
    ['a\\xyz', 'a\\xyz'],
  ])('writes %s as %s, which parses back', async (value, line) => {
    const text = await written(zeek, [exportIndicator(1, 'USER_AGENT', value)]);
    expect(text).toContain(`\n${line}\tIntel::SOFTWARE\t`);
    expect(read(text).rows[0]?.[0]).toBe(value);
  });

  it.each([
    ['https://evil.example', ['evil.example/']],
    ['http://user:secret@evil.example/x', ['evil.example/x']],
    ['https://evil.example:80/x', ['evil.example/x']],
    // Host header with its port, the connection's port behind it (Zeek 4.2 and newer); or without.
    ['http://evil.example:8080/x', ['evil.example:8080/x', 'evil.example:8080:8080/x']],
    // Clients send the dot as they got it.
    ['http://evil.example./x', ['evil.example/x', 'evil.example./x']],
    ['http://evil.example/%7Euser', ['evil.example/%7Euser', 'evil.example/~user']],
    // What Zeek would see is nothing that a line can hold.
    ['http://evil.example/a%20b%23c', ['evil.example/a%20b%23c']],
    ['http://evil.example/%FF%', ['evil.example/%FF%']],
  ])('writes the URL %s as Zeek sees it', async (url, forms) => {
    expect(await indicators([exportIndicator(1, 'URL', url)])).toEqual(forms);
  });

  it('writes URLs that differ by scheme or case once', async () => {
    const urls = ['http://evil.example/Gate', 'https://evil.example/Gate', 'http://evil.example/gate'];
    expect(await indicators(urls.map((url, i) => exportIndicator(i + 1, 'URL', url)))).toHaveLength(1);
  });

  it('omits file names with a path, as Zeek sees base names', async () => {
    const names = ['C:\\Temp\\a.exe', '/tmp/b.sh', 'c.exe'];
    const rows = names.map((name, i) => exportIndicator(i + 1, 'FILENAME', name));
    expect(await indicators(rows)).toEqual(['c.exe']);
  });

  it('always has a source', async () => {
    const text = await written(zeek, [exportIndicator(1, 'DOMAIN', 'evil.example', { source: ' \t' })]);
    expect(read(text).rows[0]?.[2]).toBe('unnamed');
  });

  it.each(['ftp', 'ftps'])('omits %s URLs, which without a scheme would match HTTP', async (scheme) => {
    expect(await indicators([exportIndicator(1, 'URL', `${scheme}://files.example/x`)])).toEqual([]);
  });
});
