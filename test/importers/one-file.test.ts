import { describe, expect, it } from 'vitest';
import { createImporter, recognizeFormat } from '../../src/importers/recognize.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { inputOf, ofKind, runImporter } from './run-importer.ts';

const [MD5, OTHER_MD5] = ['a1'.repeat(16), 'a2'.repeat(16)] as const;
const [SHA1, OTHER_SHA1] = ['b1'.repeat(20), 'b2'.repeat(20)] as const;
const [SHA256, OTHER_SHA256] = ['c1'.repeat(32), 'c2'.repeat(32)] as const;
const [FILE, OTHER_FILE] = [indicatorId('SHA256', SHA256), indicatorId('SHA256', OTHER_SHA256)];
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

const bazaar = (...samples: object[]) => JSON.stringify({ query_status: 'ok', data: samples });
const SAMPLE = {
  sha256_hash: SHA256,
  sha3_384_hash: 'x',
  sha1_hash: SHA1,
  md5_hash: MD5,
  file_name: 'a.exe',
};

const attribute = (type: string, value: string, fields: object = {}) => ({ type, value, ...fields });
const object = (name: string, ...attributes: object[]) => ({ name, Attribute: attributes });
const misp = (...objects: object[]) =>
  JSON.stringify({ Event: { uuid: uuid(1), info: 'x', Tag: [{ name: 'tlp:amber' }], Object: objects } });
const CLEAR = { Tag: [{ name: 'tlp:clear' }] };

const stix = (pattern: string) =>
  JSON.stringify({
    type: 'bundle',
    id: `bundle--${uuid(1)}`,
    objects: [{ type: 'indicator', id: `indicator--${uuid(2)}`, pattern_type: 'stix', pattern }],
  });
const test = (name: string, value: string) => `file:hashes.'${name}' = '${value}'`;

/** Returns the file of each indicator of a text, by its value. */
async function filesIn(content: string): Promise<Record<string, string | undefined>> {
  const input = inputOf(content);
  const importer = (await recognizeFormat(input)) ?? createImporter('csv');
  const { records } = await runImporter(importer, input);
  return Object.fromEntries(ofKind(records, 'indicator').map(({ value, file }) => [value, file]));
}

describe('hashes of one file', () => {
  it.each([
    ['of a response of MalwareBazaar', bazaar(SAMPLE), { [SHA256]: FILE, [SHA1]: FILE, [MD5]: FILE }],
    [
      'without a SHA-256 have the id of the SHA-1',
      bazaar({ ...SAMPLE, sha256_hash: null }),
      { [SHA1]: indicatorId('SHA1', SHA1), [MD5]: indicatorId('SHA1', SHA1) },
    ],
    [
      'of rows of CSV',
      `url,md5,sha256,sha1\nhttp://evil.example/a,${MD5},${SHA256},\n,${OTHER_MD5},${OTHER_SHA256},${OTHER_SHA1}\n`,
      {
        'http://evil.example/a': undefined,
        ...{ [MD5]: FILE, [SHA256]: FILE },
        ...{ [OTHER_MD5]: OTHER_FILE, [OTHER_SHA256]: OTHER_FILE, [OTHER_SHA1]: OTHER_FILE },
      },
    ],
    [
      'of a MISP object',
      misp(
        object('file', attribute('malware-sample', `a.exe|${MD5}`), attribute('md5', MD5)),
        object('file', attribute('filename|sha256', `a.exe|${SHA256}`), attribute('sha1', SHA1)),
      ),
      { [MD5]: undefined, 'a.exe': undefined, [SHA256]: FILE, [SHA1]: FILE },
    ],
    [
      'of a STIX pattern',
      stix(`[${test('MD5', MD5)} AND ${test('SHA-256', SHA256)} AND ${test('SHA-512', 'x')}]`),
      { [MD5]: FILE, [SHA256]: FILE },
    ],
    [
      'of two files in a STIX pattern',
      stix(
        `[(${test('MD5', MD5)} AND ${test('SHA-256', SHA256)}) OR (${test('MD5', OTHER_MD5)} AND ${test('SHA-256', OTHER_SHA256)})]`,
      ),
      { [MD5]: FILE, [SHA256]: FILE, [OTHER_MD5]: OTHER_FILE, [OTHER_SHA256]: OTHER_FILE },
    ],
  ])('%s', async (_, content, expected) => {
    expect(await filesIn(content)).toEqual(expected);
  });
});

describe('no file is stated by', () => {
  it.each([
    ['a single hash of MalwareBazaar', bazaar({ ...SAMPLE, sha1_hash: null, md5_hash: null })],
    ['two SHA-256 in a row', `sha256,md5,sha256_hash\n${SHA256},${MD5},${OTHER_SHA256}\n`],
    ['a hash in a column of any values', `indicator,md5\n${SHA256},${MD5}\n`],
    ['a list of hashes', `type,value\nmd5,${MD5}\nsha256,${SHA256}\n`],
    [
      'the fingerprints of a certificate',
      misp(object('file', attribute('x509-fingerprint-sha1', SHA1), attribute('x509-fingerprint-md5', MD5))),
    ],
    [
      'two MD5 in a MISP object',
      misp(object('file', ...[MD5, OTHER_MD5].map((md5) => attribute('md5', md5)), attribute('sha1', SHA1))),
    ],
    ['a MISP object of another kind', misp(object('pe', attribute('md5', MD5), attribute('sha1', SHA1)))],
    [
      'a deleted attribute',
      misp(object('file', attribute('md5', MD5), attribute('sha1', SHA1, { deleted: true }))),
    ],
    [
      'attributes for a wider audience than their event',
      misp(object('file', attribute('md5', MD5, CLEAR), attribute('sha1', SHA1, CLEAR))),
    ],
    ['OR in a STIX pattern', stix(`[${test('MD5', MD5)} OR ${test('SHA-256', SHA256)}]`)],
    ['a STIX pattern of two observations', stix(`[${test('MD5', MD5)}] OR [${test('SHA-256', SHA256)}]`)],
  ])('%s', async (_, content) => {
    const files = Object.values(await filesIn(content));
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => file !== undefined)).toEqual([]);
  });
});
