import { describe, expect, it } from 'vitest';
import { ecsFormat } from '../../src/formats/ecs.ts';
import { ecsObservable } from '../../src/formats/ecs-observable.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';

const ecs = ecsFormat();

async function documents(rows: Parameters<typeof written>[1]) {
  const text = await written(ecs, rows);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** ECS, threat.indicator.type: the allowed values that we use. */
const INDICATOR_TYPES = [
  'autonomous-system',
  'domain-name',
  'email-addr',
  'file',
  'ipv4-addr',
  'ipv6-addr',
  'mutex',
  'url',
  'windows-registry-key',
];

describe('ecs', () => {
  it('is this, whole', async () => {
    await expectGolden(await written(ecs, GOLDEN), 'indicators.ecs.ndjson');
  });

  it('is nothing when nothing matches', async () => {
    expect(await written(ecs, [])).toBe('');
  });

  it('has the allowed values of ECS, no null and no empty list, whatever values and tags hold', async () => {
    const found = await documents([...GOLDEN, ...HOSTILE]);
    for (const { threat } of found) {
      expect(INDICATOR_TYPES).toContain(threat.indicator.type);
      expect(['CLEAR', 'GREEN', 'AMBER', 'AMBER+STRICT', 'RED']).toContain(threat.indicator.marking.tlp);
    }
    expect(JSON.stringify(found)).not.toMatch(/:null|:\[\]|:\{\}|:""/);
  });

  it.each([
    [0, 'None'],
    [1, 'Low'],
    [29, 'Low'],
    [30, 'Medium'],
    [69, 'Medium'],
    [70, 'High'],
    [100, 'High'],
  ])('calls a confidence of %i %s', async (confidence, name) => {
    const [found] = await documents([exportIndicator(1, 'DOMAIN', 'evil.example', { confidence })]);
    expect(found.threat.indicator.confidence).toBe(name);
  });

  it.each([
    [
      'URL',
      'http://[2001:db8::5]:8080/six',
      { domain: '[2001:db8::5]', port: 8080, path: '/six', scheme: 'http' },
    ],
    [
      'URL',
      'https://u:p@www.east.evil.example/a.tar.gz?q=1',
      {
        domain: 'www.east.evil.example',
        registered_domain: 'evil.example',
        subdomain: 'www.east',
        top_level_domain: 'example',
        path: '/a.tar.gz',
        query: 'q=1',
        extension: 'gz',
      },
    ],
  ] as const)('takes the %s %s apart', (type, value, fields) => {
    expect(ecsObservable(type, value).url).toMatchObject({ original: value, full: value, ...fields });
  });

  it.each([
    ['FILENAME', 'C:\\Temp\\a.exe', { file: { name: 'a.exe', path: 'C:\\Temp\\a.exe', extension: 'exe' } }],
    ['FILENAME', '/tmp/.x/', { file: { path: '/tmp/.x/' } }],
    ['FILENAME', '.profile', { file: { name: '.profile' } }],
    [
      'REGISTRY_KEY',
      'HKEY_USERS\\Software\\x',
      { registry: { hive: 'HKU', key: 'Software\\x', path: 'HKU\\Software\\x' } },
    ],
    ['REGISTRY_KEY', 'HKEY_USERS', { registry: { hive: 'HKU', path: 'HKU' } }],
    ['ASN', 'AS64496', { as: { number: 64496 } }],
  ] as const)('has the %s %s in its fields', (type, value, fields) => {
    expect(ecsObservable(type, value)).toMatchObject(fields);
    expect(Object.keys(ecsObservable(type, value))).toEqual(['type', ...Object.keys(fields)]);
  });
});
