import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Importer, ImportInput } from '../../src/importers/importer.ts';
import { UnreadableInput } from '../../src/importers/importer.ts';
import { createImporter, IMPORTERS, recognizeFormat } from '../../src/importers/recognize.ts';
import { runs } from '../properties/runs.ts';
import { inputOf, runImporter } from './run-importer.ts';

const JSON_MAP = {
  values: [{ path: 'indicator', typePath: 'type' }, { path: '$' }, { path: '$key' }],
  firstSeen: 'created',
  confidence: 'confidence_level',
  severity: 'severity',
  tlp: 'tlp',
  tags: ['tags', 'meta.synonyms'],
};
const CSV_MAP = { hasHeader: false, values: [{ column: 1 }], firstSeen: 1 };
const EVERY: [string, Importer][] = [
  ...IMPORTERS.map((importer): [string, Importer] => [importer.name, importer]),
  ['json', createImporter('json', { map: JSON_MAP })],
  ['json at a path', createImporter('json', { map: { ...JSON_MAP, records: 'data.items' } })],
  ['json by lines', createImporter('json', { map: { ...JSON_MAP, ndjson: true } })],
  ['mapped csv', createImporter('csv', { map: CSV_MAP })],
  ['user agents', createImporter('text', { type: 'USER_AGENT' })],
];
/** Members that one importer or another looks at. */
const NAMES = [
  ...[
    'data',
    'urls',
    'results',
    'vulnerabilities',
    'values',
    'objects',
    'response',
    'items',
    'query_status',
    'type',
  ],
  ...[
    'ioc',
    'ioc_value',
    'ioc_type',
    'url',
    'sha256_hash',
    'ip_address',
    'cveID',
    'dateAdded',
    'first_seen',
    'tags',
  ],
  ...[
    'id',
    'name',
    'created',
    'modified',
    'indicators',
    'indicator',
    'adversary',
    'attack_ids',
    'malware_families',
  ],
  ...[
    'value',
    'uuid',
    'meta',
    'synonyms',
    'name-attribution',
    'country',
    'Threat actor name',
    'tlp',
    'Event',
    'info',
  ],
  ...['confidence_level', 'severity', '__proto__', 'constructor', ''],
];
const WORDS = [
  'ok',
  'no_results',
  'domain',
  'bad.example.com',
  '192.0.2.1',
  '2026-01-01',
  'threat-actor',
  '\u0000',
  '\ud800',
];

const hostileJson = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false, 0, -1, 1e308, ...WORDS),
    fc.string(),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.array(fc.tuple(fc.constantFrom(...NAMES), tie('any')), { maxLength: 6 }).map(Object.fromEntries),
  ),
})).any;

/** A file that is made while it is read: memory holds none of it. */
function made(piece: Buffer, times: number, head = '', tail = ''): ImportInput {
  function* chunks() {
    yield Buffer.from(head);
    for (let i = 0; i < times; i++) yield piece;
    yield Buffer.from(tail);
  }
  return { fileName: 'made', open: () => Readable.from(chunks()) };
}

describe.each(EVERY)('the importer %s', (_, importer) => {
  it('fails only with UnreadableInput, for arbitrary JSON', async () => {
    await fc.assert(
      fc.asyncProperty(hostileJson, fc.boolean(), async (value, wrap) => {
        const json = JSON.stringify(wrap ? [value] : value) ?? '';
        const { records } = await runImporter(importer, inputOf(json, 'x', 50));
        for (const record of records)
          if (record.kind === 'rejected') expect(record.reason).not.toMatch(/[\u0000-\u001f]/);
      }),
      runs(200),
    );
  });

  it('fails only with UnreadableInput, for arbitrary bytes', async () => {
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string().map(Buffer.from));
    await fc.assert(
      fc.asyncProperty(
        bytes,
        async (content) => void (await runImporter(importer, inputOf(Buffer.from(content)))),
      ),
      runs(100),
    );
  });

  it.each(['<!DOCTYPE html><html><body>503</body></html>', '\ufeff\n <html lang="en">', '<!-- x --><HTML>'])(
    'reports %s as HTML',
    async (page) => {
      expect((await runImporter(importer, inputOf(page))).unreadable).toMatch(
        /^the file is an HTML page, not data/,
      );
    },
  );

  it('reports an empty file as unreadable', async () => {
    const { records, unreadable } = await runImporter(importer, inputOf(''));
    expect([records, unreadable]).toEqual([[], expect.stringContaining('empty')]);
  });

  it('handles a 10 MB record and deep nesting', { tags: ['nightly'] }, async () => {
    const long = Buffer.alloc(1024 * 1024, 'a');
    for (const input of [
      made(long, 10),
      made(long, 10, '[{"ioc":"', '"}]'),
      made(long, 10, '{"data":["', '"]}'),
    ])
      await runImporter(importer, input);
    await runImporter(importer, inputOf('[{"a":'.repeat(100_000)));
  });

  it('is not affected by __proto__ members', async () => {
    const json = '{"__proto__":{"polluted":1},"data":[{"__proto__":{"ioc":"192.0.2.1","ioc_type":"ip"}}]}';
    await runImporter(importer, inputOf(json));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('a feed of hostile lines', () => {
  const LINES = 20_000;
  const line = Buffer.from(`\u0000${'('.repeat(300)}\u202e\t${'%'.repeat(300)}\n`);

  it.each([
    ['text', createImporter('text')],
    ['mapped csv', createImporter('csv', { map: CSV_MAP })],
    ['json by lines', createImporter('json', { map: { ...JSON_MAP, ndjson: true } })],
  ])('is rejected line by line with a reason, as %s', async (_, importer) => {
    const { records, unreadable } = await runImporter(importer, made(line, LINES));
    expect(unreadable).toBeNull();
    expect(records.filter((record) => record.kind === 'rejected' && record.reason !== '')).toHaveLength(
      LINES,
    );
  });

  it.each([
    ['threatfox', createImporter('threatfox'), '{"0":[{"ioc_value":"x","ioc_type":"y"}]', '}'],
    ['json', createImporter('json', { map: JSON_MAP }), '{"0":7', '}'],
  ])('is read in bounded memory, as %s', { tags: ['nightly'] }, async (_, importer, head, tail) => {
    const member = `,"k":[{"ioc_value":"${'\\u0000'.repeat(3000)}","ioc_type":"domain"}]`;
    const piece = Buffer.from(member.repeat(4));
    const before = process.memoryUsage().rss;
    let count = 0;
    for await (const part of importer.read(made(piece, 3000, head, tail)))
      for (const record of part) if (record.kind === 'rejected') count += 1;
    // 200 MB are read; a process that kept them would have grown by more.
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
    expect(count).toBeGreaterThan(12_000);
  });
});

describe('recognizeFormat', () => {
  it('fails only with UnreadableInput', async () => {
    const content = fc.oneof(
      hostileJson.map((value) => JSON.stringify(value) ?? ''),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(content, async (text) => {
        await recognizeFormat(inputOf(text)).catch((error) => expect(error).toBeInstanceOf(UnreadableInput));
      }),
    );
  });

  it.each(['"sha256_hash":', '"ioc_type":"ioc":', '{"', '[{"a":', 'a.b ', '# ', '0.0.0.0 a '])(
    'stays fast on a head full of %s',
    async (piece) => {
      const start = process.cpuUsage();
      await recognizeFormat(inputOf(`{${piece.repeat(70_000 / piece.length)}`)).catch(() => {});
      await recognizeFormat(inputOf(piece.repeat(70_000 / piece.length))).catch(() => {});
      const { user, system } = process.cpuUsage(start);
      expect((user + system) / 1000).toBeLessThan(5000);
    },
  );
});
