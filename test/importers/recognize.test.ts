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
    ['192.0.2.1\n192.0.2.2', 'text'],
    ['# names\n0.0.0.0 bad.example.com\n0.0.0.0 worse.example.com', 'text'],
    ['192.0.2.1\t10\n192.0.2.2\t3', 'text'],
    ['Mozilla/4.0\ncurl/8.0', null],
    ['{"title":"KEV","catalogVersion":"1","vulnerabilities":[]}', 'kev'],
    ['{"vulnerabilities":[]}', null],
    ['#model_version:v2025.03.14,score_date:2026-05-01T12:55:00Z\ncve,epss,percentile\n', 'epss'],
    ['#score_date:2026-05-01\n192.0.2.1\n', 'text'],
    ['{"1":[{"ioc_value":"192.0.2.1","ioc_type":"ip"}]}', 'threatfox'],
    ['{"query_status":"ok","data":[{"ioc":"192.0.2.1","ioc_type":"ip"}]}', 'threatfox'],
    ['{"query_status":"unknown_auth_key"}', 'threatfox'],
    ['{"query_status":"ok","urls":[{"url_status":"online","urlhaus_reference":"x"}]}', 'urlhaus'],
    ['{"1":[{"url_status":"online","urlhaus_link":"x"}]}', 'urlhaus'],
    ['{"query_status":"ok","data":[{"sha256_hash":"x","sha3_384_hash":"x"}]}', 'malwarebazaar'],
    ['[{"ip_address":"192.0.2.1","port":1,"last_online":"2026-01-01"}]', 'feodo'],
    ['{"results":[],"count":0,"next":null}', 'otx'],
    ['{"results":[{"id":"1","adversary":"","indicators":[]}]}', 'otx'],
    ['{"name":"x","adversary":"","indicators":[]}', 'otx'],
    ['{"type":"threat-actor","uuid":"x","values":[]}', 'galaxy'],
    ['[{"Threat actor name":"x"}]', 'galaxy'],
    ['{"meta":{},"objects":[{"id":7}]}', null],
    ['{"request_info":{},"response":{"data":{}}}', null],
    ['', null],
  ])('detects %s as %s', async (content, name) => {
    expect(await nameOf(content)).toBe(name);
  });

  it.each([
    [`[{"id":"indicator--${UUID}","date_added":"2026","media_type":"x"}]`, 'a TAXII manifest'],
    [`{"${UUID}":{"info":"x","Orgc":{}}}`, 'the manifest of a MISP feed'],
    [`${'0'.repeat(32)},${UUID}\n`, 'the index of a MISP feed'],
    [
      '{"description":"x","list":["192.0.2.1"],"matching_attributes":["ip-src"],"version":1}',
      'a MISP warninglist',
    ],
    ['{"namespace":"tlp","predicates":[],"version":1}', 'a MISP taxonomy'],
    ['ip,tags\n192.0.2.1,a\u0000', 'the file contains NUL bytes'],
    ['PK\u0003\u0004\u0014\u0000', 'the file is a ZIP archive'],
    ['<!DOCTYPE html><title>Sign in</title>', 'the file is an HTML page, not data'],
  ])('rejects %j with the name of its format', async (content, message) => {
    await expect(nameOf(content)).rejects.toThrow(message);
  });

  it('handles a BOM and gzip', async () => {
    expect(await nameOf(gzipSync('\ufeff{"Event":{}}'))).toBe('misp');
  });

  it('trusts the extension .csv, so that reading reports the error', async () => {
    expect(await nameOf('name,description', 'a.csv')).toBe('csv');
  });

  it('explains how to handle UTF-16', async () => {
    const content = Buffer.from('\ufeffvalue,type\n', 'utf16le');
    await expect(nameOf(content, 'x.csv')).rejects.toThrow('the file is UTF-16; convert it to UTF-8');
  });

  it('recognizes nothing in a head full of quotes and brackets', async () => {
    expect(await nameOf(`{${'"\\'.repeat(50_000)}`)).toBeNull();
  });
});
