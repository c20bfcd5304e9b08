import { describe, expect, it } from 'vitest';
import type { ExportEntity, ExportRelationship } from '../../src/formats/format.ts';
import { stixFormat } from '../../src/formats/stix.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, toward, written } from './input.ts';
import { bundleProblems } from './stix-rules.ts';

const stix = stixFormat({ context: true });

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const ATTACK_UUID = '899ce53f-13a0-479b-a0e4-67d46e241542';
const ATTACK_GROUP = `intrusion-set--${ATTACK_UUID}`;

const shared = (n: number) => ({
  id: uuid(n),
  description: null,
  statedAt: null,
  confidence: 70,
  tlp: 'GREEN' as const,
  createdAt: new Date('2026-03-01T00:00:00.000Z'),
  modifiedAt: new Date('2026-04-01T00:00:00.000Z'),
  externalIds: [],
});

function actor(n: number, name: string, fields: Partial<Extract<ExportEntity, { kind: 'actor' }>> = {}) {
  return {
    ...shared(n),
    ...{
      kind: 'actor' as const,
      name,
      aliases: [],
      attackId: null,
      country: null,
      motivation: 'UNKNOWN' as const,
    },
    ...{ sophistication: null, firstSeen: null, lastSeen: null },
    ...fields,
  };
}

const group = actor(1, 'Example Bear', {
  id: ATTACK_UUID,
  externalIds: [`attack:${ATTACK_GROUP}`, ATTACK_GROUP, 'misp-galaxy:threat-actor="Example Bear"'],
  attackId: 'G9001',
  aliases: ['Example Bear', 'Dancing Bear'],
  description: 'A group that is made up.',
  country: 'XX',
  motivation: 'ESPIONAGE',
  sophistication: 'EXPERT',
  firstSeen: new Date('2024-01-01T00:00:00.000Z'),
  lastSeen: new Date('2026-05-01T00:00:00.000Z'),
});
const person = actor(2, 'Example Person', {
  externalIds: [`threat-actor--${uuid(2)}`],
  sophistication: 'MINIMAL',
  firstSeen: new Date('2026-05-01T00:00:00.000Z'),
  lastSeen: new Date('2024-01-01T00:00:00.000Z'),
});
const campaign: ExportEntity = {
  ...shared(3),
  ...{
    kind: 'campaign',
    name: 'Example campaign',
    aliases: [],
    firstSeen: null,
    lastSeen: null,
    tlp: 'AMBER',
  },
};
const technique: ExportEntity = {
  ...shared(4),
  ...{ kind: 'technique', name: 'PowerShell', attackId: 'T1059.001', tactics: ['execution'] },
};
const malware: ExportEntity = {
  ...shared(5),
  ...{ kind: 'software', softwareType: 'malware', name: 'Example RAT', aliases: ['ERAT'], attackId: null },
};
const tool: ExportEntity = {
  ...shared(6),
  ...{ kind: 'software', softwareType: 'tool', name: 'Example tool', aliases: [], attackId: 'S9001' },
};
const entities = [group, person, campaign, technique, malware, tool];
const link = (
  from: ExportEntity,
  type: ExportRelationship['type'],
  to: ExportEntity,
): ExportRelationship => ({
  fromId: from.id,
  toId: to.id,
  type,
  tlp: 'CLEAR',
});
const relationships = [
  link(campaign, 'attributed-to', group),
  link(group, 'uses', malware),
  link(group, 'uses', technique),
  link(malware, 'uses', technique),
  link(tool, 'uses', technique),
];
const info = { entities, relationships, tlps: ['CLEAR' as const, 'GREEN' as const, 'AMBER' as const] };
const rows = [
  exportIndicator(1, 'DOMAIN', 'evil.example', { indicates: toward(ATTACK_UUID, uuid(3), uuid(5)) }),
  exportIndicator(2, 'CVE', 'CVE-2021-44228', { indicates: toward(uuid(5), uuid(2)) }),
];

interface Written {
  type: string;
  id: string;
  relationship_type?: string;
  [property: string]: unknown;
}
const objects = async (fields: object = info) =>
  JSON.parse(await written(stix, rows, { ...info, ...fields })).objects as Written[];
const typesAndIds = (all: Written[]) => all.map(({ id }) => id.replace(/--.*-/, '--'));

describe('stix with context', () => {
  it('matches the golden file', async () => {
    await expectGolden(await written(stix, rows, info), 'context.stix.json');
  });

  it('is valid', async () => {
    expect(bundleProblems(await written(stix, rows, info), [ATTACK_GROUP])).toEqual([]);
  });

  it('includes only relationships whose ends are present', async () => {
    const all = await objects({ entities: [campaign], relationships });
    const joins = all.filter(({ type }) => type === 'relationship');
    expect(joins.map(({ relationship_type, target_ref }) => [relationship_type, target_ref])).toEqual([
      ['indicates', `campaign--${uuid(3)}`],
    ]);
  });

  it('is a different bundle than without context', async () => {
    const plain = JSON.parse(await written(stixFormat({ context: false }), rows, info));
    expect(plain.id).not.toBe(JSON.parse(await written(stix, rows, info)).id);
    expect(typesAndIds(plain.objects).filter((id) => /^(campaign|relationship)/.test(id))).toEqual([]);
  });

  it('marks a relationship with the most restrictive TLP of itself and its ends', async () => {
    const all = await objects({ relationships: [{ ...link(campaign, 'attributed-to', group), tlp: 'RED' }] });
    const join = all.find(({ relationship_type: type }) => type === 'attributed-to');
    expect(join?.object_marking_refs).toEqual(['marking-definition--e828b379-4e03-4974-9ac4-e53a884c97c1']);
    const indicates = all.find(({ target_ref: to }) => to === `campaign--${uuid(3)}`);
    expect(indicates?.object_marking_refs).toEqual([
      'marking-definition--55d920b0-5e8b-4f79-9ee9-91f868d9b421',
    ]);
  });
});

describe('STIX objects of entities', () => {
  const idsOf = async (...only: ExportEntity[]) =>
    (await objects({ entities: only, relationships: [] }))
      .filter(({ type }) => ['intrusion-set', 'threat-actor', 'attack-pattern'].includes(type))
      .map(({ id }) => id);

  it('of ATT&CK are only referred to, by the ids of MITRE', async () => {
    const all = await objects();
    expect(all.filter(({ id }) => id === ATTACK_GROUP)).toEqual([]);
    const relationships = all.filter(({ type }) => type === 'relationship');
    expect(relationships.map((one) => [one.source_ref, one.relationship_type, one.target_ref])).toEqual(
      expect.arrayContaining([[`campaign--${uuid(3)}`, 'attributed-to', ATTACK_GROUP]]),
    );
  });

  it('of ATT&CK are recognized when they were first imported from elsewhere', async () => {
    expect(await idsOf({ ...group, id: uuid(9) })).toEqual([]);
  });

  it('of a producer who copies the number of ATT&CK are included', async () => {
    expect(await idsOf({ ...group, externalIds: [ATTACK_GROUP] })).toEqual([ATTACK_GROUP]);
  });

  it('have unique ids', async () => {
    expect(await idsOf(group, { ...group, id: uuid(9) })).toEqual([`intrusion-set--${uuid(9)}`]);
  });

  it('have valid ids where the source generated an invalid UUID', async () => {
    const made = { ...technique, id: 'd4e5f6a7-b8c9-0d1e-2f3a-4b5c6d7e8f90' };
    const externalIds = [`attack-pattern--${made.id}`];
    const text = await written(stix, [], { entities: [{ ...made, externalIds }], tlps: ['GREEN'] });
    expect(bundleProblems(text)).toEqual([]);
    expect(text).toContain(`"external_id":"${externalIds[0]}"`);
  });

  it('have the type stated by the source', async () => {
    expect(await idsOf(person, actor(7, 'Nobody'))).toEqual([
      `threat-actor--${uuid(2)}`,
      `intrusion-set--${uuid(7)}`,
    ]);
  });

  it('of other producers have no created_by_ref', async () => {
    const all = await objects({ entities: [person, technique], relationships: [] });
    const creators = all.filter(({ type }) => type === 'threat-actor' || type === 'attack-pattern');
    expect(creators.map((object) => 'created_by_ref' in object)).toEqual([false, true]);
  });

  it('of other producers keep their stated times and full description', async () => {
    const statedAt = new Date('2025-10-01T00:00:00.000Z');
    const description = 'd'.repeat(20_000);
    const all = await objects({ entities: [{ ...person, statedAt, description }], relationships: [] });
    const stated = statedAt.toISOString();
    expect(all.find(({ type }) => type === 'threat-actor')).toMatchObject({
      ...{ created: stated, modified: stated, description },
    });
  });

  it("of other producers without a stated time use the entity's creation time", async () => {
    const all = await objects({ entities: [person], relationships: [] });
    const created = person.createdAt.toISOString();
    expect(all.find(({ type }) => type === 'threat-actor')).toMatchObject({ created, modified: created });
  });

  it("of Tipline's own use Tipline's times", async () => {
    const statedAt = new Date('2025-10-01T00:00:00.000Z');
    const all = await objects({ entities: [{ ...technique, statedAt }], relationships: [] });
    expect(all.find(({ type }) => type === 'attack-pattern')).toMatchObject({
      created: technique.createdAt.toISOString(),
      modified: technique.modifiedAt.toISOString(),
    });
  });
});
