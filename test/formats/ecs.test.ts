import { describe, expect, it } from 'vitest';
import { ecsFormat, ecsObservable } from '../../src/formats/ecs.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';

const ecs = ecsFormat({ publicAddress: null });

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
  'software',
  'url',
  'windows-registry-key',
];

describe('ecs', () => {
  it('refers to the page of an indicator where the public address is known', async () => {
    const row = exportIndicator(1, 'DOMAIN', 'evil.example');
    const text = await written(ecsFormat({ publicAddress: 'https://tipline.example' }), [row]);
    expect(JSON.parse(text).threat.indicator.reference).toBe(`https://tipline.example/indicators/${row.id}`);
    expect((await documents([row]))[0].threat.indicator).not.toHaveProperty('reference');
  });

  it('matches the golden file', async () => {
    await expectGolden(await written(ecs, GOLDEN), 'indicators.ecs.ndjson');
  });

  it('is empty without matches', async () => {
    expect(await written(ecs, [])).toBe('');
  });

  it('contains only allowed ECS values, no nulls and no empty lists, for hostile input', async () => {
    const found = await documents([...GOLDEN, ...HOSTILE]);
    for (const { threat } of found) {
      expect(INDICATOR_TYPES).toContain(threat.indicator.type);
      expect(['CLEAR', 'GREEN', 'AMBER', 'AMBER+STRICT', 'RED']).toContain(threat.indicator.marking.tlp);
    }
    expect(JSON.stringify(found)).not.toMatch(/:null|:\[\]|:\{\}|:""/);
  });

  it('names the host of a URL without a dot at its end, as events of names do', async () => {
    const [document] = await documents([exportIndicator(1, 'URL', 'http://www.evil.example./x')]);
    expect(document.threat.indicator.url).toMatchObject({
      full: 'http://www.evil.example./x',
      domain: 'www.evil.example',
      registered_domain: 'evil.example',
    });
  });

  /**
   * The prebuilt indicator match rules of elastic/detection-rules (rules/threat_intel): the field that their query of
   * indicators requires, and pairs of the fields of events and indicators that they compare.
   */
  const MATCH_RULES = [
    [
      'address',
      'ip',
      [
        ['source.ip', 'ip'],
        ['destination.ip', 'ip'],
      ],
    ],
    [
      'email',
      'email.address',
      [
        ['email.from.address', 'email.address'],
        ['email.to.address', 'email.address'],
      ],
    ],
    [
      'hash',
      'file.hash',
      [
        ['file.hash.sha256', 'file.hash.sha256'],
        ['process.hash.md5', 'file.hash.md5'],
        ['dll.hash.sha1', 'file.hash.sha1'],
      ],
    ],
    ['registry', 'registry.path', [['registry.path', 'registry.path']]],
    [
      'url',
      'url.full',
      [
        ['url.full', 'url.full'],
        ['url.original', 'url.original'],
      ],
    ],
  ] as const;
  const EVENTS: Record<string, Record<string, string>> = {
    address: { 'destination.ip': '198.51.100.7' },
    email: { 'email.from.address': 'phish@evil.example' },
    hash: { 'process.hash.md5': 'd41d8cd98f00b204e9800998ecf8427a' },
    registry: { 'registry.path': 'HKLM\\software\\microsoft\\run\\evil' },
    url: { 'url.full': 'http://evil.example/a' },
  };
  type Fields = Record<string, unknown>;
  const fieldOf = (document: unknown, path: string) =>
    path.split('.').reduce<unknown>((at, name) => (at as Fields | undefined)?.[name], document);

  it.each(MATCH_RULES)(
    'is matched by Elastic’s rule of kind %s, also after months without changes',
    async (kind, required, pairs) => {
      const old = { modifiedAt: new Date('2026-01-01T00:00:00Z') };
      const rows = [
        exportIndicator(1, 'IPV4', '198.51.100.7', old),
        exportIndicator(2, 'EMAIL', 'phish@evil.example', old),
        exportIndicator(3, 'MD5', 'd41d8cd98f00b204e9800998ecf8427a', old),
        exportIndicator(4, 'REGISTRY_KEY', 'HKEY_LOCAL_MACHINE\\Software\\Microsoft\\Run\\Evil', old),
        exportIndicator(5, 'URL', 'http://evil.example/a', old),
      ];
      const now = new Date('2026-05-27T09:00:00Z');
      const read = (await documents(rows)).filter(
        (document) =>
          Date.parse(document['@timestamp']) >= now.getTime() - 30 * 86_400_000 &&
          Date.parse(document['@timestamp']) <= now.getTime() &&
          /^(threatintel|ti_.*)$/.test(document.event.module) &&
          document.event.category.includes('threat') &&
          document.event.kind === 'enrichment' &&
          document.event.type.includes('indicator') &&
          document.labels.is_ioc_transform_source !== 'true' &&
          fieldOf(document.threat.indicator, required) !== undefined,
      );
      const event = EVENTS[kind] ?? {};
      const matches = read.filter(({ threat }) =>
        pairs.some(([field, value]) => {
          const wanted = event[field]?.toLowerCase();
          return (
            wanted !== undefined &&
            String(fieldOf(threat.indicator, value)).toLowerCase() === wanted.toLowerCase()
          );
        }),
      );
      expect(matches).toHaveLength(1);
    },
  );

  it('uses the last change as @timestamp when it is later than the export day', async () => {
    const modifiedAt = new Date('2026-05-27T08:00:00.000Z');
    const [found] = await documents([exportIndicator(1, 'DOMAIN', 'evil.example', { modifiedAt })]);
    expect(found['@timestamp']).toBe('2026-05-27T08:00:00.000Z');
  });

  it('puts user agents into the field that events use', async () => {
    const [found] = await documents([exportIndicator(1, 'USER_AGENT', 'Evil/1.0')]);
    expect(found.user_agent).toEqual({ original: 'Evil/1.0' });
  });

  it.each([
    [0, 'None'],
    [1, 'Low'],
    [29, 'Low'],
    [30, 'Medium'],
    [69, 'Medium'],
    [70, 'High'],
    [100, 'High'],
  ])('maps a confidence of %i to %s', async (confidence, name) => {
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
  ] as const)('splits the %s %s into fields', (type, value, fields) => {
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
  ] as const)('maps the %s %s to fields', (type, value, fields) => {
    expect(ecsObservable(type, value)).toMatchObject(fields);
    expect(Object.keys(ecsObservable(type, value))).toEqual(['type', ...Object.keys(fields)]);
  });
});
