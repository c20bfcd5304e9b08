import { describe, expect, it } from 'vitest';
import { stixFormat } from '../../src/formats/stix.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';
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
    const info = { query: '', digest: '', total: 0, tlps: [], changedAt: null, day: null, lastSeen: null };
    const rest = { entities: [], relationships: [] };
    for await (const piece of stix.write(batches(), { ...info, ...rest })) pieces.push(piece);
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
    const own = ['extension-definition', 'identity', 'indicator', 'marking-definition', 'vulnerability'];
    expect([...types].sort()).toEqual(own);
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

  it('not for detection are not malicious-activity', async () => {
    const [indicator] = await only('indicator', {
      ...row,
      tags: ['malicious-activity'],
      forDetection: false,
    });
    expect(indicator?.indicator_types).toEqual(['unknown']);
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
