import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { recognizeFormat } from '../../src/importers/recognize.ts';
import { inputOf } from './run-importer.ts';

const nameOf = async (content: string | Buffer, fileName = 'file') =>
  (await recognizeFormat(inputOf(content, fileName)))?.name ?? null;

const UUID = '00000000-0000-4000-8000-000000000001';

describe('recognizeFormat', () => {
  it.each([
    ['{"type":"bundle","objects":[]}', 'stix'],
    [`[{"type":"indicator","id":"indicator--${UUID}"}]`, 'stix'],
    [`{"type":"malware","id":"malware--${UUID}","name":"Event"}`, 'stix'],
    ['{"Event":{"info":"objects"}}', 'misp'],
    ['{"response":[{"Event":{}}]}', 'misp'],
    ['[{"Event":{}}]', 'misp'],
    ['{"info":"x","Attribute":[]}', 'misp'],
    ['ioc,type\n192.0.2.1,ip', 'csv'],
    ['192.0.2.1\n192.0.2.2', 'csv'],
    ['{"vulnerabilities":[]}', null],
    [`[{"id":"indicator--${UUID}","date_added":"2026"}]`, null],
    [`{"${UUID}":{"info":"x","Orgc":{}}}`, null],
    ['<html></html>', null],
    ['', null],
  ])('tells %s as %s', async (content, name) => {
    expect(await nameOf(content)).toBe(name);
  });

  it('looks through a BOM and gzip', async () => {
    expect(await nameOf(gzipSync('\ufeff{"Event":{}}'))).toBe('misp');
  });

  it('believes a file that calls itself CSV, so that reading it says what is wrong', async () => {
    expect(await nameOf('name,description', 'a.csv')).toBe('csv');
  });

  it('says what to do with UTF-16', async () => {
    const content = Buffer.from('\ufeffvalue,type\n', 'utf16le');
    await expect(nameOf(content, 'x.csv')).rejects.toThrow('the file is UTF-16; convert it to UTF-8');
  });

  it('is not slowed by a head full of quotes and brackets', async () => {
    expect(await nameOf(`{${'"\\'.repeat(50_000)}`)).toBeNull();
  });
});
