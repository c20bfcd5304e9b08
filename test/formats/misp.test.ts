import { describe, expect, it } from 'vitest';
import type { ExportEntity, ExportIndicator } from '../../src/formats/format.ts';
import { mispFormat } from '../../src/formats/misp.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE, toward, written } from './input.ts';
import { problemsOf, readEvent } from './misp-checks.ts';

const plain = mispFormat({ context: false });
const withContext = mispFormat({ context: true });

const shared = {
  description: null,
  statedAt: null,
  confidence: 50,
  tlp: 'CLEAR' as const,
  createdAt: new Date('2026-05-21T00:00:00.000Z'),
  modifiedAt: new Date('2026-05-21T00:00:00.000Z'),
  externalIds: [],
  aliases: [],
};
const dates = { firstSeen: null, lastSeen: null };

type Entity<K extends ExportEntity['kind']> = Extract<ExportEntity, { kind: K }>;

const actor = (name: string, fields: Partial<Entity<'actor'>> = {}): Entity<'actor'> => ({
  ...{ ...shared, ...dates, kind: 'actor', id: name, name, attackId: null, country: null },
  ...{ motivation: 'UNKNOWN', sophistication: null },
  ...fields,
});
const campaign = (name: string): Entity<'campaign'> => ({
  ...{ ...shared, ...dates, kind: 'campaign', id: name, name },
});
const software = (name: string, softwareType: 'malware' | 'tool', attackId: string | null) =>
  ({ ...shared, kind: 'software', id: name, name, softwareType, attackId }) satisfies ExportEntity;
const technique = (name: string, attackId: string) =>
  ({ ...shared, kind: 'technique', id: name, name, attackId, tactics: [] }) satisfies ExportEntity;

const row = (fields: Partial<ExportIndicator> = {}) => exportIndicator(1, 'DOMAIN', 'evil.example', fields);
const attributesOf = async (rows: ExportIndicator[]) => readEvent(await written(plain, rows)).Attribute;

/** Names of the tags of one indicator, its TLP apart. */
async function tagsOf(fields: Partial<ExportIndicator>, entities: ExportEntity[] = []): Promise<string[]> {
  const { Attribute } = readEvent(await written(withContext, [row(fields)], { entities }));
  return (Attribute[0]?.Tag ?? []).slice(1).map(({ name }) => name);
}

describe('MISP event', () => {
  it('matches the golden file', async () => {
    const entities = [
      actor('Example Bear', { externalIds: ['intrusion-set--1', 'misp-galaxy:threat-actor="Example Bear"'] }),
      software('Examplebot', 'malware', 'S9999'),
    ];
    const rows = GOLDEN.map((one) =>
      one.number === 4 ? { ...one, indicates: toward('Example Bear', 'Examplebot') } : one,
    );
    await expectGolden(await written(withContext, rows, { entities }), 'indicators.misp.json');
  });

  it('with more than 10,000 attributes says that a feed is faster', async () => {
    const infoOf = async (rows: number) =>
      readEvent(await written(plain, [row()], { rows, total: 50_000 })).info;
    expect(await infoOf(10_000)).toBe('Tipline: all indicators');
    expect(await infoOf(10_001)).toContain('10001 attributes');
    expect(await infoOf(10_001)).toContain('/api/v1/feeds/misp');
  });

  it.each(['constructor', '__proto__', 'toString'])('takes a type named %s for any other', async (type) => {
    const event = readEvent(await written(plain, [row({ records: [{ source: 'Labs', type }] })]));
    expect(event.Attribute.map((attribute) => attribute.type)).toEqual(
      readEvent(await written(plain, [row()])).Attribute.map((attribute) => attribute.type),
    );
  });

  it('contains nothing that MISP would reject or drop, for hostile input', async () => {
    expect(problemsOf(readEvent(await written(plain, [...GOLDEN, ...HOSTILE])))).toEqual([]);
  });

  it('has one attribute per line', async () => {
    const lines = (await written(plain, HOSTILE)).split('\n').slice(1, 1 + HOSTILE.length);
    for (const line of lines) expect(JSON.parse(line.replace(/,$/, ''))).toHaveProperty('value');
  });

  it('is identical for any batch size', async () => {
    expect(await written(plain, GOLDEN, {}, 1)).toBe(await written(plain, GOLDEN, {}, 1000));
  });

  it('keeps its uuid for the same query', async () => {
    const uuidOf = async (query: string, rows: ExportIndicator[]) =>
      readEvent(await written(plain, rows, { query })).uuid;
    expect(await uuidOf('tag=x', GOLDEN)).toBe(await uuidOf('tag=x', HOSTILE));
    expect(await uuidOf('tag=x', GOLDEN)).not.toBe(await uuidOf('tag=y', GOLDEN));
  });

  it('is valid without indicators, and not published', async () => {
    const event = readEvent(await written(plain, []));
    expect(event).toMatchObject({ published: false, Tag: [], Attribute: [], date: '1970-01-01' });
    expect(problemsOf(event)).toEqual([]);
  });

  it('has the TLP of its most restricted attribute', async () => {
    const rows = [row({ tlp: 'GREEN' }), exportIndicator(2, 'DOMAIN', 'b.example', { tlp: 'AMBER_STRICT' })];
    const event = readEvent(await written(plain, rows));
    expect(event.Tag.map(({ name }) => name)).toEqual(['tlp:amber+strict']);
    expect(event.Attribute.map(({ Tag }) => Tag.map(({ name }) => name)).sort()).toEqual([
      ['tlp:amber+strict'],
      ['tlp:green'],
    ]);
  });
});

describe('a MISP attribute', () => {
  it.each([
    ['ASN', 'AS64496', 'AS', '64496'],
    ['EMAIL', 'Phisher@evil.example', 'email', 'phisher@evil.example'],
    ['IPV6', '2001:DB8:0:0::1', 'ip-dst', '2001:db8::1'],
    ['CVE', 'cve-2021-44228', 'vulnerability', 'CVE-2021-44228'],
    ['DOMAIN', 'Bücher.example', 'domain', 'xn--bcher-kva.example'],
    ['FILENAME', 'A|b.exe', 'filename', 'A|b.exe'],
  ] as const)('maps %s %s to %s %s', async (ours, value, type, expected) => {
    expect(await attributesOf([exportIndicator(1, ours, value)])).toMatchObject([{ type, value: expected }]);
  });

  it('sets to_ids only for indicators for detection', async () => {
    expect(await attributesOf([row({ forDetection: false })])).toMatchObject([{ to_ids: false }]);
  });

  it('puts fields unknown to MISP into its comment', async () => {
    const fields = { confidence: 95, severity: 'CRITICAL', expiresAt: new Date('2027-01-01') } as const;
    const [attribute] = await attributesOf([row(fields)]);
    expect(attribute?.comment).toBe(
      'Example feed; confidence 95; severity critical; expires 2027-01-01T00:00:00.000Z',
    );
  });

  it('is never newer than its event', async () => {
    const text = await written(plain, [row()], { changedAt: new Date('2026-01-01T00:00:00.000Z') });
    expect(readEvent(text)).toMatchObject({
      timestamp: '1767225600',
      Attribute: [{ timestamp: '1767225600' }],
    });
  });
});

describe('tags of a MISP attribute', () => {
  it('omit a second TLP and blank tags', async () => {
    const tags = [' ', 'TLP:WHITE', 'a"b', 'line\nbreak', 'misp-galaxy:sector="Bank"', 'tlp:red'];
    expect(await tagsOf({ tags })).toEqual(['a"b', 'line\nbreak', 'misp-galaxy:sector="Bank"']);
  });

  it('are truncated at character boundaries', async () => {
    expect(await tagsOf({ tags: ['é'.repeat(200), `${'😈'.repeat(64)}`] })).toEqual([
      'é'.repeat(127),
      '😈'.repeat(63),
    ]);
  });

  it.each([
    [actor('Bear', { externalIds: ['misp-galaxy:threat-actor="Bear"'] }), 'misp-galaxy:threat-actor="Bear"'],
    [actor('APT29', { attackId: 'G0016' }), 'misp-galaxy:mitre-intrusion-set="APT29 - G0016"'],
    [actor('Bear'), 'misp-galaxy:threat-actor="Bear"'],
    [campaign('Operation X'), 'misp-galaxy:mitre-campaign="Operation X"'],
    [technique('PowerShell', 'T1059.001'), 'misp-galaxy:mitre-attack-pattern="PowerShell - T1059.001"'],
    [software('Emotet', 'malware', 'S0367'), 'misp-galaxy:mitre-malware="Emotet - S0367"'],
    [software('PsExec', 'tool', 'S0029'), 'misp-galaxy:mitre-tool="PsExec - S0029"'],
    [software('Somebot', 'malware', null), 'misp-galaxy:malpedia="Somebot"'],
    [software('Sometool', 'tool', null), 'misp-galaxy:tool="Sometool"'],
  ])('with context name the indicated entity: %#', async (entity, tag) => {
    expect(await tagsOf({ indicates: toward(entity.id) }, [entity])).toEqual([tag]);
  });

  it('without context do not name the indicated entity', async () => {
    const rows = [row({ indicates: toward('Bear'), tags: ['x'] })];
    const { Attribute } = readEvent(await written(plain, rows, { entities: [actor('Bear')] }));
    expect(Attribute[0]?.Tag.map(({ name }) => name)).toEqual(['tlp:clear', 'x']);
  });

  it('name no entity more restricted than the attribute', async () => {
    const entities = [actor('Bear', { tlp: 'AMBER' })];
    expect(await tagsOf({ tlp: 'GREEN', indicates: toward('Bear') }, entities)).toEqual([]);
    expect(await tagsOf({ tlp: 'AMBER', indicates: toward('Bear') }, entities)).toHaveLength(1);
  });

  it('omit an entity whose name is too long for a tag', async () => {
    expect(await tagsOf({ indicates: toward('x'.repeat(300)) }, [actor('x'.repeat(300))])).toEqual([]);
  });
});
