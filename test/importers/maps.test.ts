import { describe, expect, it } from 'vitest';
import { createImporter } from '../../src/importers/recognize.ts';
import { inputOf, ofKind, runImporter } from './run-importer.ts';

const runCsv = (map: unknown, ...lines: string[]) =>
  runImporter(createImporter('csv', { map }), inputOf(lines.join('\n'), 'feed'));
const runJson = (map: unknown, content: unknown) =>
  runImporter(
    createImporter('json', { map }),
    inputOf(typeof content === 'string' ? content : JSON.stringify(content), 'feed'),
  );
const shown = ({ records }: Awaited<ReturnType<typeof runJson>>) =>
  records.map((record) =>
    record.kind === 'indicator'
      ? `${record.type} ${record.value}`
      : 'reason' in record
        ? record.reason
        : record.kind,
  );

describe('a mapped CSV file', () => {
  const map = {
    delimiter: '|',
    values: [{ column: 'Bad Host' }, { column: 2, type: 'MD5' }],
    typeColumn: 'what',
    firstSeen: 'since',
    lastSeen: 'until',
    expiresAt: 'gone',
    confidence: 'sure',
    severity: 'grave',
    tlp: 'marking',
    forDetection: 'ids',
    tags: ['labels', 10],
  };
  const header = 'bad host|sum|what|since|until|gone|sure|grave|marking|more|labels|ids';

  it('is read according to its map', async () => {
    const md5 = 'a'.repeat(32);
    const row = `bad.example.com|${md5}|hostname|2026-01-01|2026-01-02|2026-02-01|80|high|green|x|a, b;c|no`;
    const { records } = await runCsv(map, header, row);
    const shared = {
      firstSeen: new Date('2026-01-01'),
      lastSeen: new Date('2026-01-02'),
      expiresAt: new Date('2026-02-01'),
      confidence: 80,
      severity: 'HIGH',
      tlp: 'GREEN',
      forDetection: false,
      tags: ['a', 'b', 'c', 'x'],
    };
    expect(records).toEqual([
      expect.objectContaining({ type: 'DOMAIN', value: 'bad.example.com', ...shared }),
      expect.objectContaining({ type: 'MD5', value: md5, ...shared }),
    ]);
  });

  it('may lack a header', async () => {
    const values = [{ column: 2, type: 'address' }];
    expect(shown(await runCsv({ hasHeader: false, values }, 'a,192.0.2.1', 'b,2001:db8::1'))).toEqual([
      'IPV4 192.0.2.1',
      'IPV6 2001:db8::1',
    ]);
  });

  it('may have its header in the last comment line', async () => {
    const values = [{ column: 'bad', type: 'DOMAIN' }];
    expect(shown(await runCsv({ values }, '# id,bad,why', '1,bad.example.com,x'))).toEqual([
      'DOMAIN bad.example.com',
    ]);
  });

  it.each([{}, { delimiter: ';' }])('may state its delimiter in the first line, with %j', async (fields) => {
    const values = [{ column: 'bad', type: 'DOMAIN' }];
    const lines = ['sep=;', 'bad;why', 'bad.example.com;a, b, c'];
    expect(shown(await runCsv({ ...fields, values }, ...lines))).toEqual(['DOMAIN bad.example.com']);
  });

  it.each([
    [{ values: [{ column: 'host' }] }, 'no column host; found: a, b'],
    [{ values: [{ column: 3 }] }, 'no column 3; found: a, b'],
    [{ values: [{ column: 'a' }], tags: ['c'] }, 'no column c; found: a, b'],
  ])('without the columns of %j is unreadable', async (wrong, message) => {
    expect(await runCsv(wrong, 'a,b', '1,2')).toEqual({ records: [], unreadable: message });
  });
});

describe('a mapped JSON file', () => {
  const values = [{ path: 'ioc', type: 'DOMAIN' }];
  const record = { ioc: 'bad.example.com' };
  const one = (type: unknown, value: unknown) => ({ type, value });

  it.each([
    ['GREEN', ['botnet', 'tlp:red']],
    ['RED', 'botnet,tlp:clear'],
  ])('has the most restrictive marking of its TLP %s and its tags %j', async (tlp, tags) => {
    const map = { records: 'items', values, tlp: 'tlp', tags: ['tags'] };
    const { records } = await runJson(map, { items: [{ ...record, tlp, tags }] });
    expect(records).toMatchObject([{ tlp: 'RED', tags: ['botnet'] }]);
  });

  it('is read according to its map', async () => {
    const map = {
      records: 'data.items',
      values: [
        { path: 'seen.at', typePath: 'seen.kind' },
        { path: 'hashes.md5', type: 'MD5' },
      ],
      firstSeen: 'first',
      lastSeen: 'last',
      expiresAt: 'until',
      confidence: 'sure',
      severity: 'grave',
      tlp: 'marking',
      forDetection: 'ids',
      tags: ['labels', 'family.name'],
    };
    const item = {
      seen: { at: ['bad.example.com', 'worse.example.com'], kind: 'hostname' },
      hashes: [{ md5: 'a'.repeat(32) }, { sha1: 'x' }],
      first: '2026-01-01T00:00:00Z',
      last: 1_767_312_000,
      until: 1_769_904_000_000,
      sure: '80',
      grave: 'critical',
      marking: 'TLP:RED',
      ids: false,
      labels: ['a', 'b,c'],
      family: { name: 'Example' },
    };
    const run = await runJson(map, { meta: { items: [1] }, data: { total: 1, items: [item] } });
    expect(shown(run)).toEqual([
      'DOMAIN bad.example.com',
      'DOMAIN worse.example.com',
      `MD5 ${'a'.repeat(32)}`,
    ]);
    expect(run.records[0]).toMatchObject({
      firstSeen: new Date('2026-01-01'),
      lastSeen: new Date('2026-01-02'),
      expiresAt: new Date('2026-02-01'),
      confidence: 80,
      severity: 'CRITICAL',
      tlp: 'RED',
      forDetection: false,
      tags: ['a', 'b', 'c', 'Example'],
    });
  });

  it.each([
    [{ iocs: [one('domain', 'a.example.com'), one('filename', 'b.exe'), one(null, '192.0.2.1')] }],
    [{ iocs: [one(null, 'a.example.com'), one('filename', ['b.exe']), one('ip', '192.0.2.1')] }],
    [[{ iocs: one('domain', 'a.example.com') }, { iocs: [one('filename', 'b.exe'), one([], '192.0.2.1')] }]],
  ])('has the type of each value in the same element of a list: %j', async (item) => {
    const map = { values: [{ path: 'iocs.value', typePath: 'iocs.type' }] };
    const expected = ['DOMAIN a.example.com', 'FILENAME b.exe', 'IPV4 192.0.2.1'];
    expect(shown(await runJson(map, { x: item }))).toEqual(expected);
  });

  it.each([
    ['items.names.at', 'items.kind', { items: [{ kind: 'domain', names: [{ at: 'a.b.com' }] }] }],
    ['items', 'kind', { items: ['a.b.com'], kind: 'domain' }],
    ['$.items', '$.kind', { items: ['a.b.com'], kind: ['domain', 'md5'] }],
    ['items', 'items.kind', { items: ['a.b.com'] }],
    ['$key', 'kind', { kind: 'domain' }],
    ['at', '$key', { at: 'a.b.com' }],
  ])('has values at %s and their type at %s', async (path, typePath, item) => {
    const key = typePath === '$key' ? 'domain' : 'a.b.com';
    expect(shown(await runJson({ values: [{ path, typePath }] }, { [key]: item }))).toEqual([
      'DOMAIN a.b.com',
    ]);
  });

  it.each([1_767_312_000, '1767312000', 1_767_312_000_000, '1767312000000'])(
    'has dates like %j',
    async (at) => {
      const { records } = await runJson({ values, firstSeen: 'at' }, [{ ...record, at }]);
      expect(records).toMatchObject([{ firstSeen: new Date('2026-01-02') }]);
    },
  );

  it.each([2026, '2026', 20_261_231, '20261231', 202_612_312_359, '20261231235959', 0])(
    'rejects %j as a date: it may be a year, a day, or a day and a time',
    async (at) => {
      const run = await runJson({ values, expiresAt: 'at' }, [{ ...record, at }]);
      expect(shown(run)).toEqual(['date not readable: expiresAt']);
    },
  );

  it('has no expiry if it is the least date of a program', async () => {
    const at = '0001-01-01T00:00:00Z';
    const { records } = await runJson({ values, expiresAt: 'at' }, [{ ...record, at }]);
    expect(records).toMatchObject([{ kind: 'indicator', expiresAt: null }]);
  });

  it.each([
    ['$', [record]],
    ['$', { x: record }],
    ['$', { 7: [record], 8: [] }],
    ['data', { data: [record] }],
    ['data', { data: { x: record } }],
    ['$.a.b.c', { a: { z: {}, b: { c: [record] } } }],
  ])('has its records at %s in %j', async (records, content) => {
    expect(shown(await runJson({ records, values }, content))).toEqual(['DOMAIN bad.example.com']);
  });

  it('may be a list of plain values', async () => {
    const map = { values: [{ path: '$' }] };
    expect(shown(await runJson(map, ['192.0.2.1', 'bad.example.com', 7, null]))).toEqual([
      'IPV4 192.0.2.1',
      'DOMAIN bad.example.com',
      'value is not text',
      'no value',
    ]);
  });

  it('may have the values as member names', async () => {
    const map = { records: 'data', values: [{ path: '$key' }], tags: ['family'] };
    const { records } = await runJson(map, { data: { '192.0.2.1': { family: 'a' }, '192.0.2.2': {} } });
    expect(ofKind(records, 'indicator').map(({ value, tags }) => [value, tags])).toEqual([
      ['192.0.2.1', ['a']],
      ['192.0.2.2', []],
    ]);
  });

  it('may have one record per line', async () => {
    const text = '{"ioc":"bad.example.com"}\n\n{"ioc":\n[1]\n"x"\n{"ioc":"worse.example.com"}';
    const run = await runJson({ ndjson: true, values }, text);
    expect(shown(run)).toEqual([
      'DOMAIN bad.example.com',
      'not valid JSON',
      'no value',
      'no value',
      'DOMAIN worse.example.com',
    ]);
    expect(ofKind(run.records, 'rejected')[0]?.where).toBe('object 3');
  });

  it.each([
    ['data.items', { error: 'x', data: 7 }, 'no list at data.items; the root holds: error, data'],
    ['data', [record], 'no list at data; the root holds: nothing by name'],
    ['data', '', 'the file is empty'],
    ['data', '<html>', 'the file is an HTML page, not data'],
  ])('without a list at %s is unreadable', async (records, content, message) => {
    expect(await runJson({ records, values }, content)).toEqual({ records: [], unreadable: message });
  });

  it('ignores inherited members', async () => {
    for (const path of ['constructor.name', '__proto__.x', 'toString'])
      expect(shown(await runJson({ values: [{ path }] }, [{}]))).toEqual(['no value']);
  });
});

describe('createImporter', () => {
  it.each([
    ['json', {}, 'map'],
    ['json', { map: { values: [] } }, 'map.values'],
    ['json', { map: { values: [{ path: 'a', type: 'HOST' }] } }, 'map.values.0.type'],
    ['csv', { map: { values: [{ column: 0 }] } }, 'map.values.0.column'],
    ['csv', { map: { values: [{ column: 'a' }], colour: 1 } }, 'map'],
    ['text', { type: 'HOST' }, 'options.type'],
  ] as const)('rejects %s with %j, naming %s', (kind, options, name) => {
    expect(() => createImporter(kind, options)).toThrow(name);
  });

  it.each([
    'stix',
    'misp',
    'csv',
    'text',
    'urlhaus',
    'threatfox',
    'malwarebazaar',
    'feodo',
    'kev',
    'epss',
    'otx',
    'galaxy',
  ] as const)('creates %s without options', (kind) =>
    expect(createImporter(kind, { days: 3 }).name).toBe(kind),
  );
});
