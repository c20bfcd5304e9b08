import { describe, expect, it } from 'vitest';
import { stixImporter } from '../../src/importers/stix.ts';
import { countByOutcome, inputOf, ofKind, runImporter } from './run-importer.ts';

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const CREATED = '2024-01-01T00:00:00.000Z';
const MODIFIED = '2024-03-01T00:00:00.000Z';
const CUSTOM_MARKING = `marking-definition--${uuid(99)}`;

const indicator = (fields: object = {}) => ({
  type: 'indicator',
  spec_version: '2.1',
  id: `indicator--${uuid(1)}`,
  created: CREATED,
  modified: MODIFIED,
  valid_from: '2024-02-01T00:00:00.000Z',
  pattern: "[domain-name:value = 'bad.example.com']",
  pattern_type: 'stix',
  ...fields,
});
const bundle = (...objects: unknown[]) =>
  JSON.stringify({ type: 'bundle', id: `bundle--${uuid(0)}`, objects });
const run = (content: string | Buffer, chunkSize?: number) =>
  runImporter(stixImporter, inputOf(content, 'file.json', chunkSize));
const recordsOf = async (...objects: unknown[]) => (await run(bundle(...objects))).records;
const firstIndicator = async (fields: object, ...others: unknown[]) =>
  ofKind(await recordsOf(indicator(fields), ...others), 'indicator')[0];

describe('a STIX indicator', () => {
  it('carries the fields of the object', async () => {
    const stated = {
      labels: ['phishing', ' phishing ', 'x'.repeat(257)],
      indicator_types: ['malicious-activity'],
      confidence: 80,
      valid_until: '2025-01-01T00:00:00Z',
      name: ' C2 of Example ',
      description: 'Seen in a mail',
      kill_chain_phases: [
        { kill_chain_name: 'mitre-attack', phase_name: 'command-and-control' },
        { kill_chain_name: 'mitre-attack' },
      ],
    };
    expect(await recordsOf(indicator(stated))).toEqual([
      {
        kind: 'indicator',
        type: 'DOMAIN',
        value: 'bad.example.com',
        normalized: 'bad.example.com',
        externalIds: [`indicator--${uuid(1)}`],
        statedAt: new Date(MODIFIED),
        tlp: null,
        confidence: 80,
        severity: null,
        tags: ['phishing', 'malicious-activity'],
        firstSeen: new Date('2024-02-01'),
        lastSeen: new Date(MODIFIED),
        expiresAt: new Date('2025-01-01'),
        forDetection: true,
        records: [
          {
            id: `indicator--${uuid(1)}`,
            statedAt: new Date(MODIFIED).toISOString(),
            name: 'C2 of Example',
            description: 'Seen in a mail',
            killChainPhases: [{ chain: 'mitre-attack', phase: 'command-and-control' }],
          },
        ],
      },
    ]);
  });

  it.each([
    [{ indicator_types: ['benign'] }, false],
    [{ indicator_types: ['Benign', 'unknown'] }, false],
    [{ labels: ['benign'] }, false],
    [{ indicator_types: ['benign', 'compromised'] }, true],
    [{ indicator_types: ['malicious-activity'], labels: ['benign'] }, true],
    [{ indicator_types: ['unknown'] }, true],
    [{}, true],
  ])('with %j', async (stated, forDetection) => {
    expect(await recordsOf(indicator(stated))).toMatchObject([{ forDetection }]);
  });

  it.each([
    [
      { pattern_type: 'yara', pattern: 'rule a {}' },
      { type: 'yara', value: 'rule a {}' },
    ],
    [
      { pattern: "[process:command_line = 'x']" },
      { type: 'stix-pattern', value: "[process:command_line = 'x']" },
    ],
    [{ pattern: "[process:name LIKE 'a%'] AND [process:pid = 1]" }, { type: 'stix-pattern' }],
    [
      { pattern_type: 'yara', pattern: 'rule a {}', valid_until: '2026-01-01T00:00:00Z' },
      { expiresAt: new Date('2026-01-01') },
    ],
    [
      {
        pattern_type: 'yara',
        pattern: 'rule a {}',
        kill_chain_phases: [{ kill_chain_name: 'a', phase_name: 'b' }, { kill_chain_name: 'c' }],
      },
      { killChainPhases: [{ chain: 'a', phase: 'b' }] },
    ],
    [{ pattern: "[file:hashes.SSDEEP = '3:a:b']" }, { type: 'stix-pattern' }],
  ])('with %j, which no indicator can hold, is an attribute', async (fields, expected) => {
    const made = await recordsOf(indicator({ ...fields, name: 'A rule', description: 'What it finds' }));
    const shared = { name: 'A rule', description: 'What it finds', externalIds: [`indicator--${uuid(1)}`] };
    expect(made).toMatchObject([{ kind: 'attribute', forDetection: true, ...shared, ...expected }]);
  });

  it('with a part that is an indicator is no attribute: the text would disclose its value', async () => {
    const pattern = "[domain-name:value = 'bad.example.com' OR process:name = 'x']";
    expect(countByOutcome(await recordsOf(indicator({ pattern })))).toEqual({
      'indicator DOMAIN': 1,
      'rejected indicator: unknown type: process:name': 1,
    });
  });

  it.each([
    ["[mutex:name LIKE 'a%']", 'operator not supported: LIKE'],
    ["[mutex:name = 'a'] AND [mutex:name = 'b']", 'AND across observables'],
    ["[process:name = 'a'] FOLLOWEDBY [url:value = 'http://evil.example/']", 'FOLLOWEDBY across observables'],
  ])('with the pattern %s, which has a value of an indicator in it, is rejected', async (pattern, reason) => {
    expect(await recordsOf(indicator({ pattern }))).toMatchObject([{ kind: 'rejected', reason }]);
  });

  it('that is named by its value has no name besides', async () => {
    expect((await firstIndicator({ name: 'bad.example.com' }))?.records?.[0]).not.toHaveProperty('name');
  });

  it('of a source of traffic has that direction', async () => {
    const pattern = "[network-traffic:src_ref.value = '192.0.2.1']";
    expect((await firstIndicator({ pattern }))?.records).toMatchObject([{ direction: 'source' }]);
  });

  it('of STIX 2.0 needs no pattern_type', async () => {
    const json = JSON.stringify({
      type: 'bundle',
      spec_version: '2.0',
      objects: [indicator({ pattern_type: undefined })],
    });
    expect(countByOutcome((await run(json)).records)).toEqual({ 'indicator DOMAIN': 1 });
  });

  it('is first seen at its creation if valid_from is missing', async () => {
    expect((await firstIndicator({ valid_from: undefined }))?.firstSeen).toEqual(new Date(CREATED));
  });

  it('has no last sighting before the first', async () => {
    const later = new Date('2024-06-01');
    expect((await firstIndicator({ valid_from: later.toISOString() }))?.lastSeen).toEqual(later);
  });

  it('with alternatives yields several records with the same id', async () => {
    const pattern = "[ipv4-addr:value = '192.0.2.1' OR ipv4-addr:value = '192.0.2.2']";
    const records = ofKind(await recordsOf(indicator({ pattern })), 'indicator');
    expect(records.map(({ externalIds }) => externalIds)).toEqual([
      [`indicator--${uuid(1)}`],
      [`indicator--${uuid(1)}`],
    ]);
  });

  it.each([
    [{ pattern_type: '<b>' }, 'pattern type not supported: ?b?'],
    [{ pattern: undefined }, 'no pattern'],
    [{ pattern: 5 }, 'no pattern'],
    [{ pattern: "[mutex:name = 'a\u0000b']" }, 'control characters'],
    [{ revoked: true, pattern: "[mutex:name = 'a\u0000b']" }, 'revoked by its source'],
    [{ valid_from: 'yesterday' }, 'date not readable: valid_from'],
    [{ valid_until: 5 }, 'date not readable: valid_until'],
    [{ confidence: 101 }, 'confidence not an integer from 0 to 100'],
    [{ confidence: '80' }, 'confidence not an integer from 0 to 100'],
    [{ object_marking_refs: 'tlp' }, 'markings not readable'],
    [{ granular_markings: [{ marking_ref: 5 }] }, 'markings not readable'],
  ])('with %j is rejected, and later objects are read', async (fields, reason) => {
    const records = await recordsOf(indicator(fields), indicator({ id: `indicator--${uuid(2)}` }));
    expect(records).toEqual([
      { kind: 'rejected', of: 'indicator', reason, where: `object 1 (indicator--${uuid(1)})` },
      expect.objectContaining({ kind: 'indicator', externalIds: [`indicator--${uuid(2)}`] }),
    ]);
  });
});

it.each([
  { type: 'indicator', pattern_type: 'yara', pattern: 'rule a {}' },
  { type: 'indicator', pattern: "[process:command_line = 'x']" },
  { type: 'report', name: 'R', object_refs: ['indicator--1'] },
  { type: 'grouping', context: 'suspicious-activity', object_refs: ['indicator--1'] },
  { type: 'note', content: 'x', object_refs: ['indicator--1'] },
  { type: 'campaign', name: 'C' },
])('%j is withdrawn when it is revoked, without links', async (object) => {
  const revoked = { id: `${object.type}--${uuid(1)}`, modified: MODIFIED, revoked: true, ...object };
  expect(await recordsOf(revoked)).toMatchObject([
    { externalIds: [revoked.id], statedAt: new Date(MODIFIED), withdrawn: 'revoked by its source' },
  ]);
  const [record] = await recordsOf({ ...revoked, revoked: false });
  expect(record).not.toHaveProperty('withdrawn');
});

it.each([{ revoked: true }, { x_mitre_deprecated: true }, { x_mitre_deprecated: 'true' }])(
  'a STIX relationship with %j is withdrawn',
  async (fields) => {
    const link = { relationship_type: 'indicates', source_ref: 'indicator--1', target_ref: 'malware--1' };
    const stated = { type: 'relationship', id: `relationship--${uuid(1)}`, ...link };
    expect(await recordsOf({ ...stated, ...fields })).toEqual([
      {
        kind: 'relationship',
        type: 'indicates',
        from: 'indicator--1',
        to: 'malware--1',
        tlp: null,
        id: stated.id,
        withdrawn: 'revoked by its source',
      },
    ]);
    expect(await recordsOf({ ...stated, ...fields, relationship_type: 'mitigates' })).toEqual([]);
  },
);

it.each([true, 'true', 'True', 1])('a STIX indicator with revoked %j is withdrawn', async (revoked) => {
  const [record] = await recordsOf(indicator({ revoked }));
  expect(record).toMatchObject({ value: 'bad.example.com', withdrawn: 'revoked by its source' });
});

describe('a STIX marking', () => {
  it.each([
    [
      'a fixed id',
      { object_marking_refs: ['marking-definition--34098fce-860f-48ae-8e50-ebd3cc5e41da'] },
      'GREEN',
    ],
    [
      'several ids: the narrowest',
      {
        object_marking_refs: [
          'marking-definition--34098fce-860f-48ae-8e50-ebd3cc5e41da',
          'marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003',
        ],
      },
      'AMBER_STRICT',
    ],
    [
      'a granular marking, as if it were for the whole',
      {
        granular_markings: [
          { marking_ref: 'marking-definition--5e57c739-391a-4eb3-b6be-7d15ca92d5ed', selectors: ['name'] },
        ],
      },
      'RED',
    ],
    ['a granular language', { granular_markings: [{ lang: 'de', selectors: ['name'] }] }, null],
    ['an id nobody defines', { object_marking_refs: [CUSTOM_MARKING] }, 'RED'],
    [
      "ATT&CK's copyright, undefined here",
      { object_marking_refs: ['marking-definition--fa42a846-8d90-4e51-bc29-71d5b4802168'] },
      null,
    ],
    ['a label', { labels: ['botnet', 'tlp:red'] }, 'RED'],
    [
      'the more restrictive one of a marking and a label',
      {
        object_marking_refs: ['marking-definition--34098fce-860f-48ae-8e50-ebd3cc5e41da'],
        labels: ['TLP:AMBER'],
      },
      'AMBER',
    ],
  ])('is read from %s', async (_, fields, tlp) => {
    expect((await firstIndicator(fields))?.tlp).toBe(tlp);
  });

  it.each([
    [{ definition_type: 'tlp', definition: { tlp: 'amber' } }, 'AMBER'],
    [{ definition_type: 'tlp', definition: { tlp: 'purple' } }, 'RED'],
    [{ name: 'TLP:GREEN' }, 'GREEN'],
    [
      {
        name: 'TLP:CLEAR',
        extensions: {
          'extension-definition--60a3c5c5-0d10-413e-aab3-9e08dde9e88d': { tlp_2_0: 'amber+strict' },
        },
      },
      'AMBER_STRICT',
    ],
    [{ definition_type: 'statement', definition: { statement: '©' } }, null],
    [{ definition_type: 'statement', definition: { statement: 'TLP:AMBER+STRICT' } }, 'AMBER_STRICT'],
    [{ definition_type: 'statement', definition: { statement: 'TLP:RED - do not share' } }, 'RED'],
    [{ name: 'TLP:GREEN', definition_type: 'statement', definition: { statement: 'tlp:amber' } }, 'AMBER'],
    [
      {
        definition_type: 'statement',
        definition: { statement: 'custom' },
        x_opencti_definition_type: 'TLP',
        x_opencti_definition: 'TLP:AMBER+STRICT',
      },
      'AMBER_STRICT',
    ],
    [{ definition_type: 'statement', x_opencti_definition: 'TLP:GREEN' }, 'GREEN'],
    [{ definition_type: 'statement', x_opencti_definition_type: 'TLP' }, 'RED'],
    [
      {
        definition_type: 'statement',
        definition: { statement: 'custom' },
        x_opencti_definition_type: 'PAP',
        x_opencti_definition: 'PAP:RED',
      },
      null,
    ],
    [{ definition_type: 'iep', definition: {} }, 'RED'],
  ])('defined as %j applies, whether it precedes or follows the objects', async (definition, tlp) => {
    const marking = { type: 'marking-definition', id: CUSTOM_MARKING, ...definition };
    const marked = indicator({ object_marking_refs: [CUSTOM_MARKING] });
    const after = ofKind(await recordsOf(marked, marking), 'indicator');
    const before = ofKind(await recordsOf(marking, marked), 'indicator');
    expect([after[0]?.tlp, before[0]?.tlp]).toEqual([tlp, tlp]);
  });

  it('with a fixed id cannot be redefined by a file', async () => {
    const id = 'marking-definition--5e57c739-391a-4eb3-b6be-7d15ca92d5ed';
    const marking = { type: 'marking-definition', id, definition_type: 'tlp', definition: { tlp: 'white' } };
    expect((await firstIndicator({ object_marking_refs: [id] }, marking))?.tlp).toBe('RED');
  });

  describe('of an identity', () => {
    const RED = 'marking-definition--5e57c739-391a-4eb3-b6be-7d15ca92d5ed';
    const GREEN = 'marking-definition--34098fce-860f-48ae-8e50-ebd3cc5e41da';
    const CLEAR = 'marking-definition--613f2e26-407d-48c7-9eca-b8e91df99dc9';
    const creator = `identity--${uuid(40)}`;
    const identity = (fields: object) => ({ type: 'identity', id: creator, name: 'A victim', ...fields });
    const report = (...refs: string[]) => ({
      type: 'report',
      id: `report--${uuid(41)}`,
      name: 'R',
      created_by_ref: creator,
      ...(refs.length > 0 && { object_marking_refs: refs }),
    });

    it.each([
      ['RED, in a GREEN report', [RED], [GREEN], []],
      ['RED, in a report without a marking', [RED], [], []],
      ['GREEN, in a report without a marking', [GREEN], [], []],
      ['CLEAR, in a report without a marking', [CLEAR], [], ['A victim']],
      ['without a marking', undefined, [], ['A victim']],
      ['RED, in a RED report', [RED], [RED], ['A victim']],
      ['unknown', [`marking-definition--${uuid(98)}`], [GREEN], []],
      ['not readable', 'RED', [GREEN], []],
      ['too many', Array.from({ length: 101 }, () => CLEAR), [GREEN], []],
    ])('that is %s, decides whether its name is an author', async (_, refs, ofReport, authors) => {
      const marked = identity({ object_marking_refs: refs });
      for (const objects of [
        [marked, report(...ofReport)],
        [report(...ofReport), marked],
      ])
        expect(ofKind(await recordsOf(...objects), 'report')[0]?.authors).toEqual(authors);
    });

    it('applies if it is granular, or of another version', async () => {
      const granular = identity({ granular_markings: [{ marking_ref: RED, selectors: ['name'] }] });
      expect(ofKind(await recordsOf(granular, report(GREEN)), 'report')[0]?.authors).toEqual([]);
      const versions = [identity({ object_marking_refs: [RED] }), identity({}), report(GREEN)];
      expect(ofKind(await recordsOf(...versions), 'report')[0]?.authors).toEqual([]);
    });
  });

  it('costs at most one extra pass over the file', async () => {
    const content = bundle(
      ...[1, 2, 3].map((n) => indicator({ object_marking_refs: [`marking-definition--${uuid(n)}`] })),
    );
    let opened = 0;
    const input = inputOf(content);
    const open = () => {
      opened += 1;
      return input.open();
    };
    await runImporter(stixImporter, { fileName: 'f', open });
    expect(opened).toBe(2);
  });
});

describe('STIX objects', () => {
  const object = (type: string, fields: object) => ({
    type,
    id: `${type}--${uuid(7)}`,
    modified: MODIFIED,
    ...fields,
  });

  it('intrusion sets become actors', async () => {
    const fields = {
      name: 'Group A',
      aliases: ['Group A', 'Alias B', 'Alias B'],
      description: 'text',
      country: 'ru',
      primary_motivation: 'unpredictable',
      secondary_motivations: ['personal-gain'],
      sophistication: 'innovator',
      x_mitre_deprecated: true,
      first_seen: CREATED,
      external_references: [
        { source_name: 'x', external_id: 'G9999' },
        { source_name: 'mitre-attack', external_id: 'G0016' },
      ],
    };
    expect(await recordsOf(object('intrusion-set', fields))).toEqual([
      {
        kind: 'actor',
        externalIds: [`intrusion-set--${uuid(7)}`],
        statedAt: new Date(MODIFIED),
        tlp: null,
        confidence: null,
        name: 'Group A',
        aliases: [{ alias: 'Alias B', namedBy: null }],
        attackGroupId: 'G0016',
        description: 'text',
        country: 'RU',
        motivation: 'FINANCIAL',
        sophistication: 'EXPERT',
        retired: true,
        firstSeen: new Date(CREATED),
        lastSeen: null,
        targetSectors: [],
        targetCountries: [],
      },
    ]);
  });

  it('campaigns keep their dates', async () => {
    const [campaign] = ofKind(
      await recordsOf(object('campaign', { name: 'C', first_seen: CREATED, last_seen: MODIFIED })),
      'campaign',
    );
    expect([campaign?.startDate, campaign?.endDate]).toEqual([new Date(CREATED), new Date(MODIFIED)]);
  });

  it('attack patterns become techniques with ATT&CK tactics only', async () => {
    const technique = object('attack-pattern', {
      name: 'PowerShell',
      external_references: [{ source_name: 'mitre-attack', external_id: 'T1059.001' }],
      kill_chain_phases: [
        { kill_chain_name: 'mitre-ics-attack', phase_name: 'execution' },
        { kill_chain_name: 'lockheed', phase_name: 'delivery' },
      ],
      revoked: true,
    });
    expect(await recordsOf(technique)).toEqual([
      expect.objectContaining({
        kind: 'technique',
        attackId: 'T1059.001',
        tactics: ['execution'],
        retired: true,
      }),
    ]);
  });

  it.each(['malware', 'tool'])('%s becomes software', async (type) => {
    const fields = { name: 'S', aliases: ['A'], x_mitre_aliases: ['S', 'B'] };
    expect(await recordsOf(object(type, fields))).toEqual([
      expect.objectContaining({ kind: 'software', softwareType: type, aliases: ['A', 'B'] }),
    ]);
  });

  it.each(['intrusion-set', 'campaign', 'attack-pattern', 'malware', 'tool'])(
    'a %s that MITRE has created has a second id that tells so',
    async (type) => {
      const stated = object(type, { name: 'Example' });
      const [other, mitre] = await recordsOf(stated, {
        ...stated,
        created_by_ref: 'identity--c78cb6e5-0c4b-4611-8297-d1b8b55e40b5',
      });
      expect(other).toMatchObject({ externalIds: [stated.id] });
      expect(mitre).toMatchObject({ externalIds: [stated.id, `attack:${stated.id}`] });
    },
  );

  it('observed data of others is not read: it was seen somewhere, and nobody states that it matters', async () => {
    const seen = { first_observed: CREATED, last_observed: MODIFIED, number_observed: 1 };
    expect(await recordsOf(object('observed-data', { ...seen, object_refs: [`url--${uuid(2)}`] }))).toEqual(
      [],
    );
  });

  it("relationships of Tipline's observed data are indications, those of others are not read", async () => {
    const ends = { source_ref: `observed-data--${uuid(1)}`, target_ref: `malware--${uuid(2)}` };
    const related = object('relationship', { relationship_type: 'related-to', ...ends });
    const creator = 'identity--1d5287ab-77c9-4e6d-a8d8-7b60c6bdc733';
    expect(await recordsOf(related)).toEqual([]);
    expect(await recordsOf({ ...related, created_by_ref: creator })).toEqual([
      {
        kind: 'relationship',
        type: 'indicates',
        from: ends.source_ref,
        to: ends.target_ref,
        tlp: null,
        id: related.id,
      },
    ]);
  });

  it('reports refer to their objects', async () => {
    const report = object('report', {
      name: 'R',
      published: CREATED,
      labels: ['apt'],
      object_refs: ['malware--a', 'tool--b'],
      external_references: [{ source_name: 's', url: 'https://example.com/r' }],
      object_marking_refs: ['marking-definition--34098fce-860f-48ae-8e50-ebd3cc5e41da'],
    });
    expect(await recordsOf(report)).toEqual([
      expect.objectContaining({
        kind: 'report',
        title: 'R',
        publishedAt: new Date(CREATED),
        url: 'https://example.com/r',
        tags: ['apt'],
      }),
      { kind: 'relationship', type: 'refers-to', from: `report--${uuid(7)}`, to: 'malware--a', tlp: 'GREEN' },
      { kind: 'relationship', type: 'refers-to', from: `report--${uuid(7)}`, to: 'tool--b', tlp: 'GREEN' },
    ]);
  });

  it.each(['indicates', 'attributed-to', 'uses'])('the relationship %s is imported', async (type) => {
    const fields = { relationship_type: type, source_ref: 'a--1', target_ref: 'b--2' };
    const stated = object('relationship', fields);
    expect(await recordsOf(stated)).toEqual([
      { kind: 'relationship', type, from: 'a--1', to: 'b--2', tlp: null, id: stated.id },
    ]);
  });

  it.each(['subtechnique-of', 'mitigates', 'revoked-by', 'toString'])(
    'the relationship %s is ignored',
    async (type) => {
      const fields = { relationship_type: type, source_ref: 'a--1', target_ref: 'b--2' };
      expect(await recordsOf(object('relationship', fields))).toEqual([]);
    },
  );

  it('a vulnerability with a CVE id becomes an indicator', async () => {
    const [record] = ofKind(
      await recordsOf(object('vulnerability', { name: 'cve-2021-44228' })),
      'indicator',
    );
    expect([record?.type, record?.value]).toEqual(['CVE', 'CVE-2021-44228']);
  });

  it.each([
    'identity',
    'course-of-action',
    'x-mitre-matrix',
    'x-anything',
    'sighting',
    'file',
    'infrastructure',
  ])('%s is ignored', async (type) => {
    expect(await recordsOf(object(type, {}))).toEqual([]);
  });

  it.each([
    [object('intrusion-set', {}), 'actor', 'no name'],
    [object('attack-pattern', { name: ' ' }), 'technique', 'no name'],
    [object('malware', { name: 5 }), 'software', 'no name'],
    [object('tool', { name: 'x'.repeat(1025) }), 'software', 'name longer than 1024 characters'],
    [
      object('intrusion-set', { name: 'x', aliases: Array.from({ length: 1001 }, (_, i) => `alias ${i}`) }),
      'actor',
      'more than 1000 tags or names',
    ],
    [object('report', { name: 'R', object_refs: [5] }), 'report', 'object_refs is not a list of ids'],
    [object('relationship', { relationship_type: 'uses', source_ref: 'a' }), 'relationship', 'no target_ref'],
    [object('vulnerability', { name: 'Heartbleed' }), 'indicator', 'vulnerability without a CVE id'],
    [object('made-up', {}), 'indicator', 'unknown object type: made-up'],
    [{ id: 'x' }, 'indicator', 'no type'],
    ['text', 'indicator', 'not an object'],
    [null, 'indicator', 'not an object'],
  ])('rejects %j', async (broken, of, reason) => {
    expect(await recordsOf(broken)).toEqual([expect.objectContaining({ kind: 'rejected', of, reason })]);
  });
});

describe('a STIX file', () => {
  it.each([
    ['a bundle', bundle(indicator())],
    ['a TAXII envelope', JSON.stringify({ more: true, next: '1', objects: [indicator()] })],
    ['an array', JSON.stringify([indicator()])],
    ['one object', JSON.stringify(indicator())],
    ['a bundle with a BOM', `\ufeff${bundle(indicator())}`],
  ])('%s is recognized and read', async (_, content) => {
    expect(stixImporter.recognizes(content.replace('\ufeff', ''), 'f')).toBe(true);
    expect(countByOutcome((await run(content, 7)).records)).toEqual({ 'indicator DOMAIN': 1 });
  });

  it.each(['{}', '{"more":false}', '{"type":"bundle","id":"bundle--x"}', bundle()])(
    '%s is an empty file',
    async (content) => {
      expect(await run(content)).toEqual({ records: [], unreadable: null });
    },
  );

  it('with other JSON is unreadable', async () => {
    expect((await run('{"Event":{}}')).unreadable).toMatch('not STIX');
  });

  it('truncated yields only the complete objects', async () => {
    const content = bundle(indicator(), indicator({ id: `indicator--${uuid(2)}` }));
    const { records, unreadable } = await run(content.slice(0, -20));
    expect([records.length, unreadable]).toEqual([1, expect.stringContaining('at or after object 2')]);
  });

  it('truncated before its marking definitions treats unknown markings as RED', async () => {
    const content = bundle(indicator({ object_marking_refs: [CUSTOM_MARKING] }), indicator());
    const { records, unreadable } = await run(content.slice(0, -20));
    expect([ofKind(records, 'indicator')[0]?.tlp, unreadable]).toEqual([
      'RED',
      expect.stringContaining('too early'),
    ]);
  });

  it('with an object over 4 MiB skips only that object', async () => {
    const records = await recordsOf(indicator({ description: 'x'.repeat(4 * 1024 * 1024) }), indicator());
    expect(countByOutcome(records)).toEqual({
      'indicator DOMAIN': 1,
      'rejected indicator: larger than 4 MiB': 1,
    });
  });

  it('is not affected by a __proto__ member', async () => {
    const content = bundle(indicator()).replace(
      '"type":"indicator"',
      '"__proto__":{"revoked":true},"type":"indicator"',
    );
    expect(countByOutcome((await run(content)).records)).toEqual({ 'indicator DOMAIN': 1 });
  });
});
