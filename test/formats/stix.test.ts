import { describe, expect, it } from 'vitest';
import { Skipped } from '../../src/formats/skipped.ts';
import { stixFormat } from '../../src/formats/stix.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE, nothing, written } from './input.ts';
import { bundleProblems } from './stix-rules.ts';

const stix = stixFormat({ context: false });

interface Written {
  type: string;
  id: string;
  pattern?: string;
  [property: string]: unknown;
}

const objectsOf = async (...rows: Parameters<typeof written>[1]) =>
  JSON.parse(await written(stix, rows)).objects as Written[];
const only = async (type: string, row: Parameters<typeof written>[1][number]) =>
  (await objectsOf(row)).filter((object) => object.type === type);
const patternOf = async (type: IndicatorType, value: string) =>
  (await only('indicator', exportIndicator(1, type, value)))[0]?.pattern;

describe('stix', () => {
  it('matches the golden file', async () => {
    await expectGolden(await written(stix, GOLDEN), 'indicators.stix.json');
  });

  it.each([
    ['nothing', []],
    ['one of each type', GOLDEN],
    ['hostile values', HOSTILE],
  ])('is valid with %s', async (_, rows) => {
    expect(bundleProblems(await written(stix, rows))).toEqual([]);
  });

  it('is identical for any batch size', async () => {
    expect(await written(stix, HOSTILE, {}, 1)).toBe(await written(stix, HOSTILE, {}, 1000));
  });

  it('derives the bundle id from the query and the result', async () => {
    const idOf = async (fields: object) => JSON.parse(await written(stix, GOLDEN, fields)).id as string;
    const ids = await Promise.all([{}, { query: 'type=URL' }, { digest: 'ab' }].map(idOf));
    expect(new Set(ids).size).toBe(3);
    expect(ids[0]).toBe(await idOf({}));
  });

  it('streams chunks of a few kilobytes', async () => {
    const pieces: string[] = [];
    async function* batches() {
      yield HOSTILE;
    }
    const info = {
      query: '',
      digest: '',
      total: 0,
      rows: 0,
      tlps: [],
      changedAt: null,
      day: null,
      lastSeen: null,
    };
    const rest = {
      ...{ entities: [], relationships: [], addressRules: new Map() },
      ...{ ja3: [], attributes: nothing, reports: nothing },
    };
    for await (const piece of stix.write(batches(), { ...info, ...rest }, new Skipped()))
      pieces.push(String(piece));
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(64 * 1024);
  });
});

describe('stix patterns', () => {
  it.each<[IndicatorType, string, string]>([
    ['MUTEX', "it's \\ here", "[mutex:name = 'it\\'s \\\\ here']"],
    ['REGISTRY_KEY', 'HKCU\\Run', "[windows-registry-key:key = 'HKEY_CURRENT_USER\\\\Run']"],
    ['ASN', 'AS64496', '[autonomous-system:number = 64496]'],
    [
      'SHA1',
      'da39a3ee5e6b4b0d3255bfef95601890afd8070a',
      "[file:hashes.'SHA-1' = 'da39a3ee5e6b4b0d3255bfef95601890afd8070a']",
    ],
    [
      'BTC_ADDRESS',
      '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
      "[cryptocurrency-wallet:value = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa']",
    ],
    ['FILENAME', 'C:\\a b\\x.exe', "[file:name = 'C:\\\\a b\\\\x.exe']"],
  ])('of %s %s', async (type, value, pattern) => {
    expect(await patternOf(type, value)).toBe(pattern);
  });
});

describe('STIX export indicators', () => {
  const row = exportIndicator(1, 'DOMAIN', 'evil.example');

  it('use only object types that STIX defines', async () => {
    const types = new Set((await objectsOf(...GOLDEN)).map(({ type }) => type));
    const observed = ['domain-name', 'observed-data'];
    const own = ['extension-definition', 'identity', 'indicator', 'marking-definition', 'vulnerability'];
    expect([...types].sort()).toEqual([...observed, ...own].sort());
  });

  it('have valid_until only after valid_from', async () => {
    const [indicator] = await only('indicator', { ...row, expiresAt: row.firstSeen });
    expect(indicator).not.toHaveProperty('valid_until');
    expect(JSON.stringify(indicator?.extensions)).toContain(`"expires_at":"${row.firstSeen.toISOString()}"`);
  });

  it('have the indicator types stated by their sources', async () => {
    const [indicator] = await only('indicator', { ...row, tags: ['apt', 'compromised'] });
    expect(indicator?.indicator_types).toEqual(['compromised']);
    expect(indicator?.labels).toEqual(['apt', 'compromised']);
  });

  it('reference their external ids, but not themselves', async () => {
    const externalIds = [`indicator--${row.id}`, 'misp-galaxy:threat-actor="APT 28"', 'report 7'];
    const [indicator] = await only('indicator', { ...row, externalIds });
    expect(indicator?.external_references).toEqual([
      { source_name: 'misp-galaxy', external_id: 'misp-galaxy:threat-actor="APT 28"' },
      { source_name: 'tipline', external_id: 'report 7' },
    ]);
  });

  it('have no modification before their creation', async () => {
    const [indicator] = await only('indicator', { ...row, modifiedAt: new Date(0) });
    expect(indicator?.modified).toBe(row.createdAt.toISOString());
  });

  it('include only the marking definitions in use', async () => {
    const objects = await objectsOf({ ...row, tlp: 'AMBER_STRICT' });
    const markings = objects.filter(({ type }) => type === 'marking-definition');
    expect(markings.map(({ id, name }) => [id, name])).toEqual([
      ['marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003', 'TLP:AMBER+STRICT'],
    ]);
  });
});

describe('a STIX export of indicators that are not for detection', () => {
  const contextOnly = (type: IndicatorType, value: string) =>
    exportIndicator(1, type, value, { forDetection: false, tags: ['malicious-activity'] });

  it('has no indicator that a consumer would detect', async () => {
    const rows = [...GOLDEN, ...HOSTILE].map((row) => ({ ...row, forDetection: false }));
    const bundle = await written(stix, rows);
    expect(bundleProblems(bundle)).toEqual([]);
    const types = (JSON.parse(bundle).objects as Written[]).map(({ type }) => type);
    expect(types).not.toContain('indicator');
    const sdos = types.filter((type) => type === 'observed-data' || type === 'vulnerability');
    expect(sdos).toHaveLength(rows.length);
  });

  // The ids were computed by the rule of STIX 2.1 (§2.9) with another implementation.
  it.each<[IndicatorType, string, object]>([
    [
      'IPV4',
      '198.51.100.3',
      { id: 'ipv4-addr--28bb3599-77cd-5a82-a950-b5bc3caf07c4', value: '198.51.100.3' },
    ],
    ['IPV6', '2001:db8::1', { type: 'ipv6-addr', value: '2001:db8::1' }],
    [
      'DOMAIN',
      'example.com',
      { id: 'domain-name--bedb4899-d24b-5401-bc86-8f6b4cc18ec7', value: 'example.com' },
    ],
    [
      'URL',
      'https://example.com/research/index.html',
      { id: 'url--47c3cf9a-5027-5bf0-997a-017c7edc7c55', value: 'https://example.com/research/index.html' },
    ],
    ['EMAIL', 'john@example.com', { id: 'email-addr--7165e2a9-671f-585d-b1e1-ca59c671d934' }],
    ['ASN', 'AS15139', { id: 'autonomous-system--3aa27478-50b5-5ab8-9da9-cdc12b657fff', number: 15139 }],
    [
      'MUTEX',
      '__CLEANSWEEP__',
      { id: 'mutex--f93fe911-e545-5239-b9b0-597840d0c871', name: '__CLEANSWEEP__' },
    ],
    ['MD5', 'd41d8cd98f00b204e9800998ecf8427a', { hashes: { MD5: 'd41d8cd98f00b204e9800998ecf8427a' } }],
    [
      'SHA1',
      'da39a3ee5e6b4b0d3255bfef95601890afd8070a',
      { hashes: { 'SHA-1': 'da39a3ee5e6b4b0d3255bfef95601890afd8070a' } },
    ],
    [
      'SHA256',
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85a',
      { hashes: { 'SHA-256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85a' } },
    ],
    ['FILENAME', 'C:\\a\\x.exe', { type: 'file', name: 'C:\\a\\x.exe' }],
    ['REGISTRY_KEY', 'HKLM\\Run', { type: 'windows-registry-key', key: 'HKEY_LOCAL_MACHINE\\Run' }],
    ['USER_AGENT', 'evil/1', { type: 'artifact', mime_type: 'text/plain', payload_bin: 'ZXZpbC8x' }],
    [
      'BTC_ADDRESS',
      '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
      { type: 'artifact', payload_bin: 'MUExelAxZVA1UUdlZmkyRE1QVGZUTDVTTG12N0RpdmZOYQ==' },
    ],
  ])('states %s %s as observed data of one observable', async (type, value, observable) => {
    const row = contextOnly(type, value);
    const [observed] = await only('observed-data', row);
    const objects = await objectsOf(row);
    expect(observed?.id).toBe(`observed-data--${row.id}`);
    expect(observed?.object_refs).toHaveLength(1);
    const [ref] = (observed?.object_refs ?? []) as string[];
    expect(objects.find(({ id }) => id === ref)).toMatchObject(observable);
  });

  it('states a CVE as a vulnerability', async () => {
    const [vulnerability] = await only('vulnerability', contextOnly('CVE', 'CVE-2021-44228'));
    expect(vulnerability?.name).toBe('CVE-2021-44228');
    expect(vulnerability?.description).toMatch(/^Context only/);
  });

  it('has no observation that ends before it begins', async () => {
    const row = contextOnly('DOMAIN', 'evil.example');
    const [observed] = await only('observed-data', { ...row, lastSeen: new Date('2020-01-01') });
    expect(observed?.last_observed).toBe(row.firstSeen.toISOString());
  });
});
