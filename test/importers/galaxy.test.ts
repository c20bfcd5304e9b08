import { describe, expect, it } from 'vitest';
import { galaxyImporter } from '../../src/importers/galaxy.ts';
import type { ActorRecord } from '../../src/importers/importer.ts';
import { stixImporter } from '../../src/importers/stix.ts';
import { inputOf, ofKind, runImporter } from './run-importer.ts';

const UUID = '00000000-0000-4000-8000-000000000001';
const MICROSOFT = 'd0c33595-b684-45ef-91c3-e2f5ce1a8191';
const run = (content: unknown) => runImporter(galaxyImporter, inputOf(JSON.stringify(content)));
const galaxyOf = (type: string, ...values: unknown[]) => ({ authors: [], type, uuid: UUID, values });

async function actorOf(meta: object, value = 'Example Group'): Promise<ActorRecord | undefined> {
  const { records } = await run(galaxyOf('threat-actor', { value, uuid: UUID, description: 'Text', meta }));
  return ofKind(records, 'actor')[0];
}

describe('a threat-actor cluster', () => {
  it('becomes an actor with the ids that MISP events use for it', async () => {
    expect(await actorOf({ country: 'CN', synonyms: ['Other', 'G0006'] })).toEqual({
      kind: 'actor',
      externalIds: [
        `intrusion-set--${UUID}`,
        `threat-actor--${UUID}`,
        'misp-galaxy:threat-actor="Example Group"',
      ],
      statedAt: null,
      tlp: null,
      confidence: null,
      name: 'Example Group',
      aliases: [{ alias: 'Other', namedBy: null }],
      attackGroupId: 'G0006',
      description: 'Text',
      country: 'CN',
      motivation: null,
      sophistication: null,
      retired: false,
      firstSeen: null,
      lastSeen: null,
      targetSectors: [],
      targetCountries: [],
    });
  });

  it('records who assigned each name, including its own', async () => {
    const meta = {
      synonyms: ['A:1', 'B', 'C', 'D'],
      'name-attribution': [`A:1:${MICROSOFT}`, `B:${MICROSOFT}`, `C:${UUID}`, `Example Group:${MICROSOFT}`],
      'origin:B': 'Secureworks',
    };
    expect((await actorOf(meta))?.aliases).toEqual([
      { alias: 'Example Group', namedBy: 'Microsoft' },
      { alias: 'A:1', namedBy: 'Microsoft' },
      { alias: 'B', namedBy: 'Secureworks' },
      { alias: 'C', namedBy: null },
      { alias: 'D', namedBy: null },
    ]);
  });

  it('with two ATT&CK group ids gets neither', async () => {
    const actor = await actorOf({ synonyms: ['G0025', 'G0001'] });
    expect([actor?.attackGroupId, actor?.aliases.map(({ alias }) => alias)]).toEqual([
      null,
      ['G0025', 'G0001'],
    ]);
  });

  it('maps unambiguous countries and sectors', async () => {
    const meta = {
      'cfr-suspected-state-sponsor': "Korea (Democratic People's Republic of)",
      'cfr-suspected-victims': [
        'United States',
        'Hong Kong',
        'The Philippines',
        'Middle East',
        'NATO',
        'Sony',
      ],
      'cfr-target-category': ['Government'],
      'targeted-sector': ['Bank', 'Government'],
    };
    expect(await actorOf(meta)).toMatchObject({
      country: 'KP',
      targetCountries: ['US', 'HK', 'PH'],
      targetSectors: ['Government', 'Bank'],
    });
  });

  it.each([
    [{ 'cfr-type-of-incident': 'Espionage' }, 'ESPIONAGE'],
    [{ 'cfr-type-of-incident': ['Espionage', 'Denial of service'] }, 'ESPIONAGE'],
    [{ 'cfr-type-of-incident': ['Espionage', 'Sabotage'] }, null],
    [{ 'cfr-type-of-incident': 'Denial of service' }, null],
    [{ motive: 'Cybercrime' }, 'FINANCIAL'],
    [{ motive: 'Hacktivists-Nationalists' }, 'HACKTIVISM'],
  ])('with %j has the motivation %s', async (meta, motivation) => {
    expect((await actorOf(meta))?.motivation).toBe(motivation);
  });
});

describe('a galaxy', () => {
  it.each([
    ['malpedia', 'software'],
    ['tool', 'software'],
    ['mitre-attack-pattern', 'technique'],
    ['mitre-intrusion-set', 'actor'],
  ])('of type %s yields records of kind %s', async (type, kind) => {
    const { records } = await run(galaxyOf(type, { value: 'A - T1059', uuid: UUID }));
    expect(records.map((record) => record.kind)).toEqual([kind]);
  });

  it('may declare its type after its clusters', async () => {
    expect((await run({ values: [{ value: 'A' }], type: 'threat-actor', uuid: UUID })).records).toHaveLength(
      1,
    );
  });

  it('rejects clusters without a usable name', async () => {
    const { records } = await run(
      galaxyOf('threat-actor', {}, 7, { value: 'x'.repeat(201) }, { value: 'A' }),
    );
    expect(ofKind(records, 'rejected').map(({ reason }) => reason)).toEqual([
      'no value',
      'not an object',
      'value longer than 200 characters',
    ]);
  });

  it.each([
    [galaxyOf('sector', { value: 'A' }), 'a galaxy of a kind that is not read: sector'],
    [{ values: {} }, 'not a galaxy: the root object has no list values'],
    [[], 'not a galaxy: an empty list'],
  ])('rejects %j', async (content, message) => {
    expect(await run(content)).toEqual({ records: [], unreadable: message });
  });
});

describe("Microsoft's threat actor names", () => {
  it.each([
    ['China, Financially motivated', 'CN', 'FINANCIAL'],
    ['Influence operations, Russia', 'RU', 'INFORMATION_OPS'],
    ['Türkiye', 'TR', null],
    ['Group in development', null, null],
    ['Korea', null, null],
  ])('with the origin %s', async (origin, country, motivation) => {
    const entry = {
      'Threat actor name': 'Brass Typhoon',
      'Origin/Threat': origin,
      'Other names': 'BARIUM, APT41',
    };
    expect((await run([entry])).records).toEqual([
      expect.objectContaining({
        name: 'Brass Typhoon',
        country,
        motivation,
        aliases: [
          { alias: 'Brass Typhoon', namedBy: 'Microsoft' },
          { alias: 'BARIUM', namedBy: null },
          { alias: 'APT41', namedBy: null },
        ],
      }),
    ]);
  });
});

describe('an ATT&CK group', () => {
  const group = {
    type: 'intrusion-set',
    id: `intrusion-set--${UUID}`,
    name: 'APT1',
    aliases: ['APT1', 'Comment Panda', 'Forest Blizzard', 'Sofacy'],
    external_references: [
      { source_name: 'mitre-attack', external_id: 'G0006' },
      { source_name: 'APT1', description: '(Citation: Mandiant APT1)' },
      { source_name: 'Comment Panda', description: '(Citation: Kaspersky Report)' },
      {
        source_name: 'Forest Blizzard',
        description: '(Citation: ESET X)(Citation: Microsoft Naming July 2023)',
      },
      { source_name: 'Sofacy', description: '(Citation: Microsoft Sofacy)' },
    ],
  };

  it('credits a name to the reference whose naming scheme it follows', async () => {
    const { records } = await runImporter(
      stixImporter,
      inputOf(JSON.stringify({ type: 'bundle', objects: [group] })),
    );
    expect(ofKind(records, 'actor')[0]?.aliases).toEqual([
      { alias: 'APT1', namedBy: 'Mandiant' },
      { alias: 'Comment Panda', namedBy: null },
      { alias: 'Forest Blizzard', namedBy: 'Microsoft' },
      { alias: 'Sofacy', namedBy: null },
    ]);
  });
});
