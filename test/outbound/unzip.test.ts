import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutboundError } from '../../src/outbound/outbound-error.ts';
import { type UnzipLimits, unzipSingle } from '../../src/outbound/unzip.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { LONG, steepGrowth, upTo } from '../support/growth.ts';
import { failureOf } from './test-outbound.ts';
import { type ZipMember, zipFile } from './zip-file.ts';

const LIMITS = { maxBytes: 1_000_000 };
const MEGABYTE = 1024 * 1024;

/** Unpacks these bytes in a directory of their own. */
function unzipped(bytes: Buffer, limits: Partial<UnzipLimits> = {}) {
  const packed = join(temporaryDirectory(), 'packed.zip');
  const directory = temporaryDirectory();
  writeFileSync(packed, bytes);
  return { directory, done: unzipSingle(packed, directory, { ...LIMITS, ...limits }) };
}

async function refused(bytes: Buffer, limits?: Partial<UnzipLimits>): Promise<string> {
  const { directory, done } = unzipped(bytes, limits);
  const { code, reason } = await failureOf(done);
  expect(readdirSync(directory)).toEqual([]);
  return `${code}: ${reason}`;
}

describe('a zip file', () => {
  it.each([true, false])('with one file yields that file, stored: %s', async (stored) => {
    const content = randomBytes(300_000);
    const { directory, done } = unzipped(zipFile([{ name: 'list.csv', content, stored }]));
    const file = await done;
    expect(file.bytes).toBe(content.length);
    expect(readFileSync(file.path).equals(content)).toBe(true);
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
    await file.dispose();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('yields the only file with the requested extension', async () => {
    const members = [
      { name: 'data/', content: '', stored: true, mode: 0o040755 },
      { name: 'data/README.txt', content: 'no', mode: 0o100644 },
      { name: 'data/LIST.CSV', content: 'yes' },
    ];
    const { path } = await unzipped(zipFile(members), { ending: '.csv' }).done;
    expect(readFileSync(path, 'utf8')).toBe('yes');
  });

  it('never determines the output path', async () => {
    const { directory, done } = unzipped(zipFile([{ name: 'a/b/list.csv', content: 'x' }]));
    const { path } = await done;
    expect(path.startsWith(join(directory, 'outbound-'))).toBe(true);
    expect(readdirSync(directory)).toHaveLength(1);
  });

  it('may have any size up to the limit', async () => {
    const zip = zipFile([{ name: 'a', content: '12345' }]);
    expect((await unzipped(zip, { maxBytes: 5 }).done).bytes).toBe(5);
    expect(await refused(zip, { maxBytes: 4 })).toMatch(/^too_large/);
  });
});

const A: ZipMember = { name: 'a.csv', content: 'some text' };

describe('a zip file is rejected', () => {
  it.each<[string, ZipMember[], string]>([
    ['without a file', [], 'it holds no file of the kind that is wanted'],
    [
      'with a directory alone',
      [{ name: 'a/', content: '', stored: true }],
      'it holds no file of the kind that is wanted',
    ],
    [
      'with two files',
      [A, { ...A, name: 'b.csv' }],
      'it holds several files, and nothing says which one is wanted',
    ],
    ['that is encrypted', [{ ...A, flags: 1 }], 'the file in it is encrypted'],
    ['that is strongly encrypted', [{ ...A, flags: 0x41 }], 'the file in it is encrypted'],
    ['packed by bzip2', [{ ...A, method: 12 }], 'the file in it is packed by a method other than deflate'],
    ['with a wrong checksum', [{ ...A, checksum: 1 }], 'the checksum of the file is wrong'],
    ['with a size that is too small', [{ ...A, size: 3 }], 'not a whole zip file'],
    ['with a size that is too large', [{ ...A, size: 300 }], 'not a whole zip file'],
    ['with a link', [{ ...A, mode: 0o120777 }], 'it holds a link or a device'],
    [
      'with a device beside the file',
      [A, { name: 'b', content: '', mode: 0o020644 }],
      'it holds a link or a device',
    ],
    ['with a path that leads up', [{ ...A, name: '../a.csv' }], 'a name in it leads out of its directory'],
    [
      'with a path that leads up by backslashes',
      [{ ...A, name: '..\\a.csv' }],
      'a name in it leads out of its directory',
    ],
    ['with a path from the root', [{ ...A, name: '/etc/a.csv' }], 'a name in it leads out of its directory'],
    ['with a path from a drive', [{ ...A, name: 'C:\\a.csv' }], 'a name in it leads out of its directory'],
    [
      'with two names for the same bytes',
      [A, { name: 'b.txt', content: 'some text', sharing: 0 }],
      'files in it share the same bytes',
    ],
    [
      'with too many files',
      Array.from({ length: 1_001 }, (_, at) => ({ name: `${at}.csv`, content: '' })),
      'it holds more than 1000 files',
    ],
  ])('%s', async (_, members, reason) => {
    expect(await refused(zipFile(members))).toBe(`bad_archive: ${reason}`);
  });

  it('when truncated anywhere', async () => {
    const zip = zipFile([{ name: 'a.csv', content: randomBytes(200) }]);
    for (let length = 0; length < zip.length; length += 7)
      expect(await refused(zip.subarray(0, length))).toBe('bad_archive: not a whole zip file');
  });

  it('when it is something else', async () => {
    expect(await refused(Buffer.from('<html>Sign in</html>'))).toBe('bad_archive: not a whole zip file');
  });

  it('when it is a zip bomb with its true size', async () => {
    const zip = zipFile([{ name: 'a', content: Buffer.alloc(20 * MEGABYTE) }]);
    expect(await refused(zip)).toBe('too_large: the file in the zip file is larger than allowed');
    expect(await refused(zip, { maxBytes: 1_000 * MEGABYTE })).toMatch(/^too_large/);
  });

  it('when it is a zip bomb with a false size', async () => {
    const zip = zipFile([{ name: 'a', content: Buffer.alloc(20 * MEGABYTE), size: 100 }]);
    expect(await refused(zip)).toBe('bad_archive: not a whole zip file');
  });

  it('when it does not exist', async () => {
    const missing = unzipSingle(join(temporaryDirectory(), 'none.zip'), temporaryDirectory(), LIMITS);
    expect((await failureOf(missing)).code).toBe('not_stored');
  });

  it('or extracted, for arbitrary corrupted bytes, without leftovers on failure', async () => {
    const zip = zipFile([
      { name: 'a.csv', content: 'some text, some text' },
      { name: 'b', content: 'x' },
    ]);
    const change = fc.tuple(fc.nat(zip.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const bytes = Buffer.from(zip);
        for (const [at, value] of changes) bytes[at] = value;
        const { directory, done } = unzipped(bytes, { ending: '.csv' });
        const outcome = await done.catch((error: unknown) => error);
        if (outcome instanceof OutboundError) expect(readdirSync(directory)).toEqual([]);
        else expect(outcome).toHaveProperty('bytes');
      }),
    );
  });
});

describe('reading a zip file takes time linear in its size', LONG, () => {
  it.each<[string, (n: number) => Buffer]>([
    ['many files', (n) => zipFile(Array.from({ length: n }, (_, i) => ({ name: `${i}.txt`, content: 'x' })))],
    [
      'many files that are not wanted',
      (n) =>
        zipFile([
          ...Array.from({ length: n }, (_, i) => ({ name: `${i}.txt`, content: 'x' })),
          { name: 'list.csv', content: 'x' },
        ]),
    ],
    ['a long name', (n) => zipFile([{ name: 'a/'.repeat(n / 2).slice(0, 65_535), content: 'x' }])],
    ['a long file', (n) => zipFile([{ name: 'a.csv', content: randomBytes(n * 16) }])],
  ])('%s', async (_, of) => {
    const directory = temporaryDirectory();
    const growth = await steepGrowth((size) => {
      const packed = join(directory, `${randomUUID()}.zip`);
      writeFileSync(packed, of(size));
      return async () => {
        const unpacked = await unzipSingle(packed, directory, { ...LIMITS, ending: '.csv' }).catch(
          () => null,
        );
        if (unpacked) rmSync(unpacked.path);
      };
    }, upTo(16_384));
    expect(growth).toBeNull();
  });
});
