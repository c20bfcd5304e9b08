import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnreadableInput } from '../../src/importers/importer.ts';
import type { JsonLimits } from '../../src/importers/json-pieces.ts';
import { type JsonRecord, readJsonRecords } from '../../src/importers/json-stream.ts';
import { inputOf } from './run-importer.ts';

const LIMITS: JsonLimits = { lists: ['objects'], maxBytes: 1024 * 1024, maxDepth: 64 };

async function read(content: string | Buffer, limits: Partial<JsonLimits> = {}, chunkSize = 65_536) {
  const records: JsonRecord[] = [];
  let unreadable: string | null = null;
  try {
    const input = inputOf(content, 'file.json', chunkSize);
    for await (const part of readJsonRecords(input, { ...LIMITS, ...limits }))
      for (const record of part) records.push(record);
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    unreadable = error.message;
  }
  return { records, unreadable, values: records.map(({ value }) => value) };
}

describe('readJsonRecords', () => {
  it('yields the elements of a list in the root object, then the root with the list emptied', async () => {
    const { records } = await read('{"id":"b","objects":[{"a":1},{"a":2}],"more":false}');
    expect(records).toEqual([
      { number: 1, key: null, value: { a: 1 }, rejected: null },
      { number: 2, key: null, value: { a: 2 }, rejected: null },
      { number: 0, key: null, value: { id: 'b', objects: [], more: false }, rejected: null },
    ]);
  });

  it('yields the elements of a root array', async () => {
    expect((await read('[1,"two",null,[4],{"five":5}]')).values).toEqual([1, 'two', null, [4], { five: 5 }]);
  });

  it('recognizes a list name written with escapes', async () => {
    expect((await read('{"\\u006fbjects":[7]}')).values).toEqual([7, { objects: [] }]);
  });

  it('reads only lists that are members of the root', async () => {
    expect((await read('{"a":{"objects":[1]},"objects":{"0":[2]}}')).values).toEqual([
      { a: { objects: [1] }, objects: { 0: [2] } },
    ]);
  });

  it('parses any array like JSON.parse, in chunks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue()),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        async (list, size, pretty) => {
          const json = JSON.stringify(list, null, pretty ? 2 : undefined);
          expect((await read(json, {}, size)).values).toEqual(JSON.parse(json));
        },
      ),
    );
  });

  it('yields every complete record of a truncated file, then reports the truncation', async () => {
    const json = '{"type":"bundle","objects":[{"n":1},{"n":"]}\\""},{"n":[{}]}],"z":0}';
    for (let length = 0; length < json.length; length++) {
      const { values, unreadable } = await read(json.slice(0, length));
      const complete = [json.indexOf(',{"n":"'), json.indexOf(',{"n":[{'), json.indexOf('],"z')];
      expect(values).toHaveLength(complete.filter((end) => end <= length).length);
      expect(unreadable).toMatch(length === 0 ? 'the file is empty' : `ends too early, at byte ${length}`);
    }
  });

  it('fails only with UnreadableInput, for arbitrary input', async () => {
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[[{}\]",:\\1n ]*$/), async (text) => void (await read(text))),
    );
  });

  it.each([
    ['[{"a":tru},{"a":2}]', 'not valid JSON: object 1, which starts at byte 1'],
    ['[{"a":1} {"a":2}]', 'not valid JSON at byte 9, after object 1'],
    ['[1,]', 'not valid JSON at byte 3, after object 1'],
    ['[] []', 'not valid JSON at byte 3'],
    ['value,type', 'not valid JSON at byte 0'],
    ['{"objects":[1],}', 'not valid JSON: the root object, which starts at byte 0'],
  ])('reports where %s is invalid', async (json, message) => {
    expect((await read(json)).unreadable).toBe(message);
  });

  it('rejects a record over the size limit and continues', async () => {
    const { records } = await read(`[{"a":"${'x'.repeat(3000)}"},{"a":2}]`, { maxBytes: 2048 }, 100);
    expect(records.map(({ value, rejected }) => value ?? rejected)).toEqual([
      'larger than 0.001953125 MiB',
      { a: 2 },
    ]);
  });

  it('rejects a record that is nested too deeply and continues', async () => {
    const { records } = await read(`[${'['.repeat(65)}${']'.repeat(65)},${'['.repeat(64)}${']'.repeat(64)}]`);
    expect(records.map(({ rejected }) => rejected)).toEqual(['nested deeper than 64 levels', null]);
  });

  it('handles a file of a million brackets', async () => {
    expect((await read('['.repeat(1_000_000))).unreadable).toMatch('ends too early');
  });

  it('rejects a record that is not UTF-8 and continues', async () => {
    const json = Buffer.concat([Buffer.from('["'), Buffer.from([0xff]), Buffer.from('","good"]')]);
    expect((await read(json)).records.map(({ value, rejected }) => value ?? rejected)).toEqual([
      'not valid UTF-8',
      'good',
    ]);
  });

  it('keeps __proto__ as an own member', async () => {
    const { values } = await read('[{"__proto__":{"polluted":true}}]');
    expect(Object.hasOwn(values[0] as object, '__proto__')).toBe(true);
    expect((values[0] as Record<string, unknown>).polluted).toBeUndefined();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
