import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvImporter } from '../../src/importers/csv.ts';
import { CsvSplitter } from '../../src/importers/csv-rows.ts';
import { recognizeFormat } from '../../src/importers/recognize.ts';
import { countByOutcome, inputOf, ofKind, runImporter } from './run-importer.ts';

const MD5 = 'd41d8cd98f00b204e9800998ecf8427e';
const SHA1 = 'a'.repeat(40);
const SHA256 = 'b'.repeat(64);

const run = (content: string | Buffer, fileName = 'file.csv') =>
  runImporter(csvImporter(), inputOf(content, fileName));
const recordsOf = async (...lines: string[]) => (await run(lines.join('\n'))).records;
const indicatorsOf = async (...lines: string[]) => ofKind(await recordsOf(...lines), 'indicator');
const valuesOf = async (...lines: string[]) =>
  (await indicatorsOf(...lines)).map(({ type, value }) => `${type} ${value}`);
const rejectedOf = async (...lines: string[]) =>
  ofKind(await recordsOf(...lines), 'rejected').map(({ reason, where }) => `${where}: ${reason}`);

describe('a CSV row', () => {
  it.each([
    ['domain,tags', 'bad.example.com,"botnet, tlp:red"', 'RED'],
    ['domain,labels', 'bad.example.com,"TLP:AMBER+STRICT;botnet"', 'AMBER_STRICT'],
    ['domain,tlp,tags', 'bad.example.com,green,"botnet,tlp:amber"', 'AMBER'],
    ['domain,tlp,tags', 'bad.example.com,red,"botnet,tlp:clear"', 'RED'],
    ['domain,tags', 'bad.example.com,"botnet,tlp:unknown"', 'RED'],
    ['domain,attribute_tag', 'bad.example.com,"tlp:green,botnet"', 'GREEN'],
    ['domain,tags', 'bad.example.com,botnet', null],
  ])('has the most restrictive marking of its column and its tags: %s, %s', async (header, row, tlp) => {
    expect(await recordsOf(header, row)).toMatchObject([{ tlp, tags: ['botnet'] }]);
  });

  it('has dates in Unix seconds, as MISP exports them', async () => {
    const rows = await recordsOf('value,type,date', '1.2.3.4,ip-dst,1767225600', '1.2.3.5,ip-dst,20260101');
    expect(rows).toMatchObject([{ firstSeen: new Date('2026-01-01') }, {}]);
  });

  it.each(['0001-01-01T00:00:00', '0001-01-01', '0000-00-00 00:00:00', '0001-01-01T00:00:00.0000000Z'])(
    'does not expire if its expiry is %s, by which programs state that there is none',
    async (none) => {
      expect(await recordsOf('ip,first_seen,expires', `192.0.2.1,${none},${none}`)).toMatchObject([
        { kind: 'indicator', firstSeen: null, expiresAt: null },
      ]);
    },
  );

  it.each([
    ['ip-dst|port', '1.2.3.4|443', ['IPV4 1.2.3.4']],
    ['ip-src|port', '2a00:1450::7|8080', ['IPV6 2a00:1450::7']],
    ['hostname|port', 'bad.example.com|8080', ['DOMAIN bad.example.com']],
    ['domain|ip', 'bad[.]example.com|1.2.3.4', ['DOMAIN bad.example.com', 'IPV4 1.2.3.4']],
    ['filename|md5', `a|b.exe|${MD5}`, ['FILENAME a|b.exe', `MD5 ${MD5}`]],
    ['filename|sha256', `a.exe|${SHA256}`, ['FILENAME a.exe', `SHA256 ${SHA256}`]],
    ['malware-sample', `a.exe|${MD5}`, ['FILENAME a.exe', `MD5 ${MD5}`]],
    ['regkey|value', 'HKLM\\Software\\Evil|1', ['REGISTRY_KEY HKEY_LOCAL_MACHINE\\Software\\Evil']],
  ])("has the values of MISP's composite type %s", async (type, value, values) => {
    expect(await valuesOf('uuid,type,value', `x,${type},"${value}"`)).toEqual(values);
  });

  it('of a composite type without its second part has the first, and a rejected one', async () => {
    const lines = ['type,value', `filename|md5,a.exe`];
    expect(await valuesOf(...lines)).toEqual(['FILENAME a.exe']);
    expect(await rejectedOf(...lines)).toEqual(['line 2: composite value without its second part']);
  });

  it('maps all supported columns', async () => {
    const header = 'ioc,type,first_seen,last_seen,expires_at,confidence,severity,tlp,tags,malware,comment';
    const row =
      'hxxp://bad[.]example.com/a,url,2024-01-02,1/3/2024,2025-01-01,90,High,Amber+Strict,"#a, b;c #d",Qakbot,x';
    expect(await recordsOf(header, row)).toEqual([
      {
        kind: 'indicator',
        type: 'URL',
        value: 'http://bad.example.com/a',
        normalized: 'http://bad.example.com/a',
        externalIds: [],
        statedAt: null,
        tlp: 'AMBER_STRICT',
        confidence: 90,
        severity: 'HIGH',
        tags: ['a', 'b', 'c', 'd', 'Qakbot'],
        firstSeen: new Date('2024-01-02'),
        lastSeen: new Date('2024-01-03'),
        expiresAt: new Date('2025-01-01'),
        forDetection: true,
      },
    ]);
  });

  it.each(['None', 'null', 'N/A', '-', ''])('treats %j as an absent value', async (nothing) => {
    const header = 'ioc,first_seen,confidence,severity,tlp,tags';
    const [one] = await indicatorsOf(header, `bad.example.com,${Array(5).fill(nothing).join(',')}`);
    expect(one).toMatchObject({ firstSeen: null, confidence: null, severity: null, tlp: null, tags: [] });
  });

  it.each([
    ['ip', '192.0.2.1', 'IPV4 192.0.2.1'],
    ['IP', '2001:db8::1', 'IPV6 2001:db8::1'],
    ['ipv4', '192.0.2.1', 'IPV4 192.0.2.1'],
    ['ip:port', '192.0.2.1:443', 'IPV4 192.0.2.1'],
    ['IPV4:PORT', '192.0.2.1:443', 'IPV4 192.0.2.1'],
    ['ip:port', '[2001:db8::1]:443', 'IPV6 2001:db8::1'],
    ['Domain', 'bad.example.com', 'DOMAIN bad.example.com'],
    ['domainname', 'bad.example.com', 'DOMAIN bad.example.com'],
    ['hostname', 'bad.example.com', 'DOMAIN bad.example.com'],
    ['sha256_hash', SHA256, `SHA256 ${SHA256}`],
    ['md5_hash', MD5, `MD5 ${MD5}`],
    ['sha1_hash', SHA1, `SHA1 ${SHA1}`],
    ['SHA-1', SHA1, `SHA1 ${SHA1}`],
    ['email', 'a@example.com', 'EMAIL a@example.com'],
    ['filepath', '/tmp/a', 'FILENAME /tmp/a'],
    ['cve', 'CVE-2021-44228', 'CVE CVE-2021-44228'],
  ])('with type %s and value %s', async (type, value, expected) => {
    expect(await valuesOf('type,value', `${type},${value}`)).toEqual([expected]);
  });

  it('without a type is classified by its format', async () => {
    expect(await valuesOf('indicator', 'bad.example.com', MD5, 'http://bad.example.com/')).toEqual([
      'DOMAIN bad.example.com',
      `MD5 ${MD5}`,
      'URL http://bad.example.com/',
    ]);
  });

  it('with several value columns yields several indicators', async () => {
    const lines = ['IoC,Type,SHA1,MD5,Filename', `${SHA256},SHA256,${SHA1},,a.exe`];
    expect(await valuesOf(...lines)).toEqual([`SHA256 ${SHA256}`, `SHA1 ${SHA1}`, 'FILENAME a.exe']);
  });

  it('applies the type to the value column, not to an adjacent hash', async () => {
    expect(await valuesOf('SHA256,Type,C2', `${SHA256},IPV4:PORT,192.0.2.1:80`)).toEqual([
      'IPV4 192.0.2.1',
      `SHA256 ${SHA256}`,
    ]);
  });

  it('prefers the column that names whose type it is', async () => {
    expect(await valuesOf('IoC,IoC_Type,Type', `${MD5},md5,Some Release`)).toEqual([`MD5 ${MD5}`]);
  });

  it('has no last sighting before the first when dates lack a time', async () => {
    const [one] = await indicatorsOf('ip,first_seen,last_online', '192.0.2.1,2024-01-02 08:00:00,2024-01-02');
    expect(one?.lastSeen).toEqual(one?.firstSeen);
  });

  it.each([
    ['forDetection', 'false', false],
    ['to_ids', '0', false],
    ['to_ids', 'No', false],
    ['to_ids', '1', true],
    ['For Detection', 'TRUE', true],
    ['to_ids', '', true],
    ['Active', 'False', false],
    ['is_active', '0', false],
    ['Active', 'true', true],
    // Other states do not say that it is out of use.
    ['active', 'since May', true],
  ])('with %s %j', async (name, word, forDetection) => {
    expect(await indicatorsOf(`ip,${name}`, `192.0.2.1,${word}`)).toMatchObject([{ forDetection }]);
  });

  it('treats an unknown TLP as RED', async () => {
    expect((await indicatorsOf('ip,tlp', '192.0.2.1,purple'))[0]?.tlp).toBe('RED');
  });

  it.each([
    ['value,type', 'x,GUID', 'unknown type: guid'],
    ['value', 'what is this', 'type not recognized'],
    ['ip,FirstSeen', '192.0.2.1,19/20/2022', 'date not readable: FirstSeen'],
    ['ip,confidence', '192.0.2.1,101', 'confidence not an integer from 0 to 100'],
    ['ip,confidence', '192.0.2.1,high', 'confidence not an integer from 0 to 100'],
    ['ip,severity', '192.0.2.1,awful', 'severity not known'],
    ['ip,to_ids', '192.0.2.1,maybe', 'forDetection not true or false'],
    ['ip,tags', '192.0.2.1,a,b', 'wrong number of fields'],
    ['ip,tags', '192.0.2.1', 'wrong number of fields'],
    ['ip,tags', 'None,a', 'no value'],
    ['ip,tags', '"192.0.2.1"x,a', 'quotes not readable'],
  ])('under %s, %s is rejected, and later rows are read', async (header, row, reason) => {
    const good = `192.0.2.9${header.includes(',') ? ',' : ''}`;
    expect(await rejectedOf(header, row, good)).toEqual([`line 2: ${reason}`]);
  });

  it('is rejected when its value is not UTF-8', async () => {
    const content = Buffer.concat([
      Buffer.from('filename\n'),
      Buffer.from([0x61, 0xe9]),
      Buffer.from('\nb.exe'),
    ]);
    expect(countByOutcome((await run(content)).records)).toEqual({
      'indicator FILENAME': 1,
      'rejected indicator: not valid UTF-8': 1,
    });
  });

  it('is rejected when a tag is not UTF-8; a column that is not read may have any encoding', async () => {
    const lines = ['domain,tags,comment', 'bad.example.com,Caf\u00e9,', 'worse.example.com,botnet,Caf\u00e9'];
    const { records } = await run(Buffer.from(lines.join('\r\n'), 'latin1'));
    expect(records).toMatchObject([
      { kind: 'rejected', reason: 'not valid UTF-8', where: 'line 2' },
      { value: 'worse.example.com', tags: ['botnet'] },
    ]);
  });

  it('is rejected when over 1 MiB', async () => {
    expect(await rejectedOf('filename,tags', `${'x'.repeat(1_100_000)},a`, 'b.exe,')).toEqual([
      'line 2: row longer than 1 MiB',
    ]);
  });

  it('is rejected when over 1 MiB of delimiters only', async () => {
    expect(await rejectedOf('filename,tags', ','.repeat(1_100_000), 'b.exe,')).toEqual([
      'line 2: row longer than 1 MiB',
    ]);
  });

  it.each([1, 7, 65_536])('with doubled quotes is read in chunks of %i', (size) => {
    const text = `a,"${'""'.repeat(1000)}"\n"",""""\n`;
    const splitter = new CsvSplitter(',');
    const rows = [];
    for (let at = 0; at < text.length; at += size) rows.push(...splitter.push(text.slice(at, at + size)));
    rows.push(...splitter.end());
    expect(rows.map(({ cells }) => cells)).toEqual([
      ['a', '"'.repeat(1000)],
      ['', '"'],
    ]);
  });
});

describe('a CSV file', () => {
  it.each([',', ';', '\t'])('with the delimiter %j', async (delimiter) => {
    const lines = [
      ['ioc', 'tags'],
      ['192.0.2.1', 'a b'],
    ].map((cells) => cells.join(delimiter));
    expect((await indicatorsOf(...lines))[0]?.tags).toEqual(['a b']);
  });

  it.each([
    ['sep=;', 'ioc;comment;tags', '192.0.2.1;a, b, c, d;x'],
    ['"sep=,"', 'ioc,tags', '192.0.2.1,x'],
    ['SEP=|', 'ioc|tags', '192.0.2.1|x'],
    ['sep=\t', 'tags\tioc', 'x\t192.0.2.1'],
    ['sep=;', '# more', 'ioc;tags', '192.0.2.1;x'],
    ['sep=;', '# id;ioc;tags', '1;192.0.2.1;x'],
  ])('with the delimiter in the first line %j', async (...lines) => {
    const { records } = await run(lines.join('\r\n'));
    expect(records).toMatchObject([{ kind: 'indicator', value: '192.0.2.1', tags: ['x'] }]);
    expect((await recognizeFormat(inputOf(lines.join('\n'))))?.name).toBe('csv');
  });

  it('without a header, after a line with the delimiter', async () => {
    expect(await valuesOf('sep=;', '192.0.2.1;3', '192.0.2.2;4')).toEqual([
      'IPV4 192.0.2.1',
      'IPV4 192.0.2.2',
    ]);
  });

  it.each(['\n', '\r\n', '\r'])('with the line ending %j', async (end) => {
    const { records } = await run(['ip', '192.0.2.1', '', 'x'].join(end));
    expect(countByOutcome(records)).toMatchObject({ 'indicator IPV4': 1 });
    expect(ofKind(records, 'rejected')[0]?.where).toBe('line 4');
  });

  it.each([
    [['ip,"First seen', '(UTC)"', '192.0.2.1,2024-01-01']],
    [['"First seen', '', '(UTC)";ip', '2024-01-01;192.0.2.1']],
    [['sep=,', '# a comment', 'ip,"First seen', '# UTC"', '192.0.2.1,2024-01-01']],
  ])('with a line break in a name %j', async (lines) => {
    for (const end of ['\n', '\r\n']) {
      const { records } = await run(lines.join(end));
      expect(records).toMatchObject([
        { kind: 'indicator', value: '192.0.2.1', firstSeen: new Date('2024-01-01') },
      ]);
    }
  });

  it('with a BOM', async () => {
    expect(countByOutcome((await run('\ufeffip\n192.0.2.1')).records)).toEqual({ 'indicator IPV4': 1 });
  });

  it('with the header in the last comment line', async () => {
    const lines = [
      '# Terms, conditions, more',
      '#',
      '# "id","ioc_value","ioc_type"',
      '"1", "192.0.2.1", "ip"',
    ];
    expect(await valuesOf(...lines)).toEqual(['IPV4 192.0.2.1']);
  });

  it('with comments before and between rows', async () => {
    expect(await valuesOf('# a, b, c', 'ip,tags', '# no data', '192.0.2.1,x')).toEqual(['IPV4 192.0.2.1']);
  });

  it('with a hashtag in the first column', async () => {
    const lines = [
      'tag,ip',
      '#phishing,192.0.2.1',
      '# 5, entries',
      '#',
      '#a,b,c',
      '#a "b,c"',
      'c2,192.0.2.2',
    ];
    expect(await indicatorsOf(...lines)).toMatchObject([
      { value: '192.0.2.1', tags: ['phishing'] },
      { value: '192.0.2.2', tags: ['c2'] },
    ]);
    expect(await rejectedOf(...lines)).toEqual(['line 6: not an IPv4 address']);
  });

  it('with comments where the first column has no tags', async () => {
    const lines = ['id,ip', '1,192.0.2.1', '#2,192.0.2.2', '3,192.0.2.3'];
    expect(await valuesOf(...lines)).toEqual(['IPV4 192.0.2.1', 'IPV4 192.0.2.3']);
    expect(await rejectedOf(...lines)).toEqual([]);
  });

  it('with comments that have quotes which are never closed', async () => {
    const lines = ['tag,ip', '#a,"b', 'c2,192.0.2.2', `#a,"${'x'.repeat(1_100_000)}`, 'c2,192.0.2.3'];
    expect(await valuesOf(...lines)).toEqual(['IPV4 192.0.2.2', 'IPV4 192.0.2.3']);
    expect(await rejectedOf(...lines)).toEqual([]);
  });

  it.each([
    [
      'domain.name,first_seen,confidence',
      'bad.example.com,2024-01-01,90',
      { firstSeen: new Date('2024-01-01'), confidence: 90 },
    ],
    ['event.id,domain,severity', 'a1,bad.example.com,high', { severity: 'HIGH' }],
    ['"host.name","process.name","tlp"', '"bad.example.com","a.exe","amber"', { tlp: 'AMBER' }],
    ['host.name,tags', 'bad.example.com,a', { tags: ['a'] }],
    ['user.name,domain,date', 'x,bad.example.com,2024-01-01', { firstSeen: new Date('2024-01-01') }],
  ])('with the dotted names %s', async (header, row, fields) => {
    const found = await indicatorsOf(header, row);
    expect(found).toMatchObject([{ type: 'DOMAIN', value: 'bad.example.com', ...fields }]);
  });

  it.each([
    ['evil.com,malware,high', 'DOMAIN evil.com'],
    ['evil.com,created', 'DOMAIN evil.com'],
    ['evil.com,c2,host', 'DOMAIN evil.com'],
    ['domain,evil.name,malware', 'DOMAIN evil.name'],
    ['domain,host.name,2024-01-01', 'DOMAIN host.name'],
    ['evil.id,domain', 'DOMAIN evil.id'],
    ['domain.name', 'DOMAIN domain.name'],
  ])('without a header, whose first row %s is data', async (row, value) => {
    expect(await valuesOf(row)).toEqual([value]);
  });

  it('with dotted names none of which is known is unreadable', async () => {
    const { unreadable } = await run('event.id,source.ip,first_seen\na,192.0.2.1,2024-01-01');
    expect(unreadable).toContain('found: event.id, source.ip, first_seen');
  });

  it('without a header is read by its type column', async () => {
    const [one] = await indicatorsOf('2026-07-23 01:31:00,user,domain,bad.example.com,#a #b,https://x.com/1');
    expect(one).toMatchObject({
      value: 'bad.example.com',
      firstSeen: new Date('2026-07-23T01:31:00Z'),
      tags: ['a', 'b'],
    });
  });

  it.each([
    ['a URL, as is its link, and no tag', '2026-01-02,a,url,http://192.0.2.1/x,,https://x.com/a/1'],
    ['a value that is not of its type', '2026-01-02,a,domain,not a domain,#a,https://x.com/a/1'],
  ])('without a header is read by its first rows, of which the first has %s', async (_, first) => {
    const records = await recordsOf(
      first,
      '2026-01-03,b,ip,192.0.2.2,#b,https://x.com/a/2',
      '2026-01-04,b,url,http://192.0.2.3/,#b #c,https://x.com/a/3',
      '',
    );
    const [one, ...others] = records;
    expect(one).not.toMatchObject({ value: expect.stringContaining('x.com') });
    expect(others).toMatchObject([
      { value: '192.0.2.2', tags: ['b'], firstSeen: new Date('2026-01-03') },
      { value: 'http://192.0.2.3/', tags: ['b', 'c'], firstSeen: new Date('2026-01-04') },
    ]);
  });

  it('without a header is read by the only column with a recognizable format', async () => {
    expect(await valuesOf('192.0.2.1\t10', '192.0.2.2\t3')).toEqual(['IPV4 192.0.2.1', 'IPV4 192.0.2.2']);
  });

  it.each([
    ['192.0.2.1,192.0.2.2', 'found: 192.0.2.1, 192.0.2.2'],
    ['name,description', 'found: name, description'],
    [`${MD5},bf69bf49-4afd-532f-bacf-fb4e150fd2c4`, 'no usable column names'],
    ['# comment', 'comments only'],
    ['name,"192.0.2.1\n192.0.2.2', 'found: name??192.0.2.1'],
    ['', 'empty'],
  ])('with the line %j is unreadable', async (line, message) => {
    expect((await run(line)).unreadable).toContain(message);
  });

  it('with an unclosed quote yields the rows before it', async () => {
    const { records, unreadable } = await run('ip,tags\n192.0.2.1,a\n192.0.2.2,"b\n192.0.2.3,c\n');
    expect(countByOutcome(records)).toEqual({ 'indicator IPV4': 1 });
    expect(unreadable).toBe('a quote is not closed in the row that starts in line 3');
  });
});

describe('CsvSplitter', () => {
  const split = (text: string, size: number, columns = 0) => {
    const splitter = new CsvSplitter(',', columns);
    const rows = [];
    for (let at = 0; at < text.length; at += size) rows.push(...splitter.push(text.slice(at, at + size)));
    return [...rows, ...splitter.end()];
  };

  it('restores any quoted cells, in chunks of any size', () => {
    const cell = fc
      .string({ unit: fc.constantFrom('a', '"', ',', '\n', ' b', '#') })
      .map((text) => `x${text}x`);
    const rows = fc.array(fc.array(cell, { minLength: 1 }), { minLength: 1 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 9 }), (expected, size) => {
        const text = expected
          .map((cells) => cells.map((value) => `"${value.replaceAll('"', '""')}"`).join(', '))
          .join('\r\n');
        expect(split(text, size).map(({ cells }) => cells)).toEqual(expected);
      }),
    );
  });

  it('gives the same rows for CR LF as for LF, in chunks of any size', () => {
    const rowsOf = (text: string, size: number, columns: number) => {
      try {
        return split(text, size, columns).map((row) => ({
          ...row,
          cells: row.cells.map((cell) => cell.replaceAll('\r\n', '\n')),
        }));
      } catch (error) {
        return error;
      }
    };
    const texts = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', 'b ', '#'), maxLength: 30 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 9 }), fc.constantFrom(0, 2), (text, size, columns) => {
        const expected = rowsOf(text, text.length + 1, columns);
        expect(rowsOf(text.replaceAll('\n', '\r\n'), size, columns)).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps the lines of a quoted cell', () => {
    const rows = split('a,b\r\n"evil.com\r\nother.com",x\r\n', 100);
    expect(rows.map(({ cells }) => cells)).toEqual([
      ['a', 'b'],
      ['evil.com\r\nother.com', 'x'],
    ]);
  });

  it('counts lines inside quotes', () => {
    expect(split('"a\nb",c\nd', 3).map(({ line }) => line)).toEqual([1, 3]);
  });

  it('keeps a quote inside an unquoted cell', () => {
    expect(split('a "b" c,d', 4)[0]?.cells).toEqual(['a "b" c', 'd']);
  });
});
