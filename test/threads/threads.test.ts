import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { leaseQueue } from '../../src/db/embedded/server.ts';
import { connectThread } from '../../src/db/embedded/thread-connection.ts';
import { UnreadableInput } from '../../src/importers/importer.ts';
import { importersInThreads } from '../../src/importers/parser-threads.ts';
import { createImporter, fileInput } from '../../src/importers/recognize.ts';
import { emptyWords, openBloomFilter } from '../../src/lookup/bloom-filter.ts';
import { hashesOf } from '../../src/lookup/listed.ts';
import type { Asking, LookupFilters } from '../../src/lookup/questions.ts';
import { readTexts } from '../../src/lookup/reading.ts';
import { readingInThreads } from '../../src/lookup/reading-threads.ts';
import { temporaryDirectory } from '../support/directories.ts';

/** Of records, in a message of a thread. */
const BATCH = 500;

/** A script of the product as it was built for this run. */
function script(name: string): URL {
  const main = inject('productMain');
  if (main === null) throw new Error('the product does not compile');
  return pathToFileURL(join(dirname(main), name));
}

describe('the embedded database in a worker thread', () => {
  let engine: ReturnType<typeof leaseQueue>;
  beforeAll(async () => {
    engine = leaseQueue(
      await connectThread(script('store-thread.js'), {
        directory: join(temporaryDirectory(), 'pgdata'),
        use: 'server',
      }),
    );
  });
  afterAll(() => engine.close());

  const run = async (statement: string, parameters: unknown[] = []) => {
    const lease = await engine.acquire();
    try {
      return await lease.query(statement, parameters);
    } finally {
      await lease.release();
    }
  };

  it('returns typed rows', async () => {
    const at = new Date('2026-01-02T03:04:05.678Z');
    const { rows } = await run('select 1::int8 as big, $1::timestamptz as at, array[1, 2] as list', [at]);
    expect(rows).toEqual([{ big: 1, at, list: [1, 2] }]);
  });

  it('returns an error with its code, and continues', async () => {
    await expect(run('select 1 / 0')).rejects.toMatchObject({ code: '22012', message: 'division by zero' });
    expect((await run('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('rolls back what a lease leaves open', async () => {
    await run('create table note (word text)');
    const lease = await engine.acquire();
    await lease.query('start transaction', []);
    await lease.query("insert into note values ('lost')", []);
    await lease.release();
    expect((await run('select word from note')).rows).toEqual([]);
  });

  it('does not block the event loop during a statement', async () => {
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    await run('select count(*) from generate_series(1, 1000000)');
    clearInterval(counting);
    expect(turns).toBeGreaterThan(1);
  });

  it.each([
    ['server', '64MB'],
    ['command', '16MB'],
  ] as const)('has the buffers of a %s', { tags: ['nightly'] }, async (use, buffers) => {
    const directory = join(temporaryDirectory(), 'pgdata');
    const connection = await connectThread(script('store-thread.js'), { directory, use });
    const { rows } = await connection.query('show shared_buffers', []);
    await connection.close();
    expect(rows).toEqual([{ shared_buffers: buffers }]);
  });

  it('reports that it is closed instead of waiting', { tags: ['nightly'] }, async () => {
    const connection = await connectThread(script('store-thread.js'), {
      directory: join(temporaryDirectory(), 'pgdata'),
      use: 'server',
    });
    await connection.close();
    await expect(connection.query('select 1', [])).rejects.toThrow('is closed');
    await connection.close();
  });
});

describe('an importer in a worker thread', () => {
  const open = importersInThreads(script('parser-thread.js'));
  const fileOf = (name: string, content: string) => {
    const path = join(temporaryDirectory(), name);
    writeFileSync(path, content);
    return path;
  };
  const read = async (importer: ReturnType<typeof open>, path: string) => {
    const records = [];
    let progress = 0;
    const onProgress = (bytes: number) => {
      progress = bytes;
    };
    for await (const part of importer.read(fileInput({ path, fileName: path, onProgress })))
      records.push(...part);
    return { records, progress };
  };
  const list = Array.from({ length: 3_333 }, (_, i) => `host-${i}.example.com\n`).join('');

  it('yields to the event loop between batches, however slow the consumer', async () => {
    const lines = Array.from({ length: 20 * BATCH }, (_, i) => `n${i}.test-feed.net\n`).join('');
    const path = fileOf('many.txt', lines);
    let turn = 0;
    let counting = setImmediate(function count() {
      turn++;
      counting = setImmediate(count);
    });
    const turns = new Set<number>();
    for await (const part of open('text').read(fileInput({ path, fileName: 'many.txt' })))
      for (const [index, record] of [...part].entries()) {
        if (index % BATCH === 0) turns.add(turn);
        hash('sha256', JSON.stringify(record).repeat(200));
      }
    clearImmediate(counting);
    expect(turns.size).toBe(20);
  });

  it('reads the same records as on the main thread, in the same order', async () => {
    const path = fileOf('list.txt', list);
    const { records, progress } = await read(open('text'), path);
    expect(records).toEqual((await read(createImporter('text'), path)).records);
    expect(records).toHaveLength(3_333);
    expect(progress).toBe(list.length);
  });

  it('applies the options of a source', async () => {
    const path = fileOf('hashes.txt', 'bad.exe\n');
    const { records } = await read(open('text', { type: 'FILENAME' }), path);
    expect(records).toMatchObject([{ kind: 'indicator', type: 'FILENAME', value: 'bad.exe' }]);
  });

  it('yields the records before an unreadable position', async () => {
    const path = fileOf('broken.csv', `domain\nbad.example.com\n"never closed`);
    const seen: string[] = [];
    const reading = async () => {
      for await (const part of open('csv').read(fileInput({ path, fileName: 'broken.csv' })))
        for (const record of part) seen.push(record.kind);
    };
    await expect(reading()).rejects.toThrow(UnreadableInput);
    expect(seen).toEqual(['indicator']);
  });

  it.each([
    ['many tags', Array.from({ length: 1_000 }, (_, i) => `t${i}`).join(';'), ''],
    ['long lines', 'one', 'x'.repeat(250_000)],
  ])('gives few records with %s at a time', async (name, tags, comment) => {
    const rows = Array.from({ length: 40 }, (_, i) => `n${i}.test-feed.net,${tags},${comment}\n`);
    const path = fileOf(`${name}.csv`, `domain,tags,comment\n${rows.join('')}`);
    const parts: number[] = [];
    for await (const part of open('csv').read(fileInput({ path, fileName: path })))
      parts.push([...part].length);
    expect(parts.reduce((sum, length) => sum + length, 0)).toBe(40);
    expect(Math.max(...parts)).toBeLessThanOrEqual(5);
  });

  it('gives few large records at a time after it has read the file a second time', async () => {
    const id = (type: string, n: number) => `${type}--00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    const marking = { type: 'marking-definition', id: id('marking-definition', 1), definition_type: 'tlp' };
    const indicators = Array.from({ length: 40 }, (_, n) => ({
      ...{ type: 'indicator', id: id('indicator', n), pattern_type: 'stix' },
      ...{ pattern: `[domain-name:value = 'n${n}.test-feed.net']`, description: 'x'.repeat(250_000) },
      object_marking_refs: [marking.id],
    }));
    const objects = [...indicators, { ...marking, definition: { tlp: 'green' } }];
    const path = fileOf('marked.json', JSON.stringify({ type: 'bundle', objects }));
    const parts: number[] = [];
    for await (const part of open('stix').read(fileInput({ path, fileName: path })))
      parts.push([...part].length);
    expect(parts.reduce((sum, length) => sum + length, 0)).toBe(40);
    expect(Math.max(...parts)).toBeLessThanOrEqual(5);
  });

  it('reads several files concurrently and sequentially', async () => {
    const paths = [1, 2, 3].map((i) => fileOf(`list-${i}.txt`, list.replaceAll('host', `host${i}`)));
    const importer = open('text');
    const at = async (path: string) => (await read(importer, path)).records.length;
    expect(await Promise.all(paths.map(at))).toEqual([3_333, 3_333, 3_333]);
    for (const path of paths) expect(await at(path)).toBe(3_333);
  });

  it('stops reading when its consumer does', async () => {
    const path = fileOf('list.txt', list);
    for await (const [record] of open('text').read(fileInput({ path, fileName: path }))) {
      expect(record?.kind).toBe('indicator');
      break;
    }
    expect((await read(open('text'), path)).records).toHaveLength(3_333);
  });
});

describe('reading values of look-ups in worker threads', () => {
  const read = readingInThreads(script('reading-thread.js'));
  const words = emptyWords(65_536);
  const filter = openBloomFilter(words);
  const list = (index: number) => {
    for (const hash of hashesOf('DOMAIN', `host-${index}.example.com`)) filter.add(hash);
  };
  const asking = (values: string[], filters: Partial<LookupFilters> = {}): Asking => ({
    values,
    filters: { related: true, ...filters },
    listed: [words],
    prefixLengths: new Map([['IPV4', [24]]]),
  });
  const values = Array.from({ length: 1_000 }, (_, i) =>
    i % 100 === 1
      ? 'no observable'
      : i % 3 === 0
        ? `http://www.host-${i}.example.com/a/`
        : `host-${i}.example.com`,
  );
  list(3);
  list(4);

  it('gives the same as on the main thread', async () => {
    for (const filters of [{}, { related: false }, { types: ['DOMAIN' as const] }]) {
      const parts = await read(asking(values, filters), ',');
      expect(parts).toEqual(readTexts(asking(values, filters), ','));
      expect(parts.filter((part) => typeof part !== 'string').length).toBeGreaterThan(0);
    }
    const everything = { ...asking(values), listed: null };
    expect(await read(everything, '\n')).toHaveLength(1_000);
  });

  it('gives each of many requests at once its own answer, also after one that fails', async () => {
    const broken = { ...asking(values), values: [...values, null as unknown as string] };
    const texts = (from: number) => values.map((_, i) => `host-${from + i}.example.org`);
    const [failed, ...answers] = await Promise.allSettled([
      read(broken, ','),
      ...Array.from({ length: 8 }, (_, i) => read(asking(texts(i * 1_000)), ',')),
    ]);
    expect(failed.status).toBe('rejected');
    expect(answers).toMatchObject(
      Array.from({ length: 8 }, (_, i) => ({ value: readTexts(asking(texts(i * 1_000)), ',') })),
    );
  });

  it('has the values that were added before', async () => {
    for (let i = 500; i < 520; i++) {
      const at = async () =>
        (await read(asking([...values.slice(0, 500), `host-${i}.example.com`]), ',')).at(-1);
      expect(typeof (await at())).toBe('string');
      list(i);
      expect(await at()).toMatchObject({ asked: `host-${i}.example.com` });
    }
  });
});
