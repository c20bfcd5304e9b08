import { describe, expect, it } from 'vitest';
import { mispImporter } from '../../src/importers/misp.ts';
import { countByOutcome, inputOf, ofKind, runImporter } from './run-importer.ts';

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const MD5 = 'd41d8cd98f00b204e9800998ecf8427e';
const SHA1 = 'a'.repeat(40);
const SHA256 = 'b'.repeat(64);
const TIMESTAMP = '1709251200'; // 2024-03-01

let nextUuid = 100;
const attribute = (type: string, value: string, fields: object = {}) => {
  nextUuid += 1;
  return { uuid: uuid(nextUuid), type, value, to_ids: true, timestamp: TIMESTAMP, ...fields };
};
const event = (attributes: unknown[], fields: object = {}) => ({
  uuid: uuid(1),
  info: 'Title',
  date: '2024-02-01',
  timestamp: TIMESTAMP,
  threat_level_id: '4',
  Attribute: attributes,
  ...fields,
});
const run = (content: unknown) =>
  runImporter(mispImporter, inputOf(typeof content === 'string' ? content : JSON.stringify(content)));
const recordsOf = async (attributes: unknown[], fields: object = {}) =>
  (await run({ Event: event(attributes, fields) })).records;
const indicatorsOf = async (attributes: unknown[], fields: object = {}) =>
  ofKind(await recordsOf(attributes, fields), 'indicator');

describe('a MISP attribute', () => {
  it.each([
    ['ip-src', '192.0.2.1', ['IPV4 192.0.2.1']],
    ['ip-dst', '2001:db8::1', ['IPV6 2001:db8::1']],
    ['ip-dst|port', '192.0.2.1|443', ['IPV4 192.0.2.1']],
    ['ip-src|port', '2001:db8::1|443', ['IPV6 2001:db8::1']],
    ['domain', 'bad[.]example.com', ['DOMAIN bad.example.com']],
    ['hostname', 'bad.example.com', ['DOMAIN bad.example.com']],
    ['hostname|port', 'bad.example.com|80', ['DOMAIN bad.example.com']],
    ['domain|ip', 'bad.example.com|192.0.2.1', ['DOMAIN bad.example.com', 'IPV4 192.0.2.1']],
    ['url', 'http://bad.example.com/a', ['URL http://bad.example.com/a']],
    ['md5', MD5, [`MD5 ${MD5}`]],
    ['sha1', SHA1, [`SHA1 ${SHA1}`]],
    ['sha256', SHA256, [`SHA256 ${SHA256}`]],
    ['filename', 'a.exe', ['FILENAME a.exe']],
    ['filename|md5', `a|b.exe|${MD5}`, ['FILENAME a|b.exe', `MD5 ${MD5}`]],
    ['filename|sha1', `a.exe|${SHA1}`, ['FILENAME a.exe', `SHA1 ${SHA1}`]],
    ['filename|sha256', `a.exe|${SHA256}`, ['FILENAME a.exe', `SHA256 ${SHA256}`]],
    ['malware-sample', `a.exe|${MD5}`, ['FILENAME a.exe', `MD5 ${MD5}`]],
    ['email', 'a@example.com', ['EMAIL a@example.com']],
    ['email-src', 'a@example.com', ['EMAIL a@example.com']],
    ['email-dst', 'a@example.com', ['EMAIL a@example.com']],
    ['vulnerability', 'CVE-2021-44228', ['CVE CVE-2021-44228']],
    ['btc', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', ['BTC_ADDRESS 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa']],
    ['regkey', 'HKLM\\Software\\A', [expect.stringMatching(/^REGISTRY_KEY .*\\Software\\A$/)]],
    [
      'regkey|value',
      'HKLM\\Software\\A|data|more',
      [expect.stringMatching(/^REGISTRY_KEY .*\\Software\\A$/)],
    ],
    ['mutex', 'Global\\x', ['MUTEX Global\\x']],
    ['user-agent', 'Bot/1', ['USER_AGENT Bot/1']],
    ['AS', '64512', ['ASN AS64512']],
  ])('of type %s: %s', async (type, value, expected) => {
    const indicators = await indicatorsOf([attribute(type, value)]);
    expect(indicators.map((one) => `${one.type} ${one.value}`)).toEqual(expected);
  });

  it('includes the fields of the attribute and its event', async () => {
    const fields = {
      to_ids: false,
      category: 'Network activity',
      comment: ' Seen in a mail ',
      Tag: [{ name: 'C2' }, { name: 'tlp:amber' }],
      first_seen: '2024-01-15T00:00:00.000000+00:00',
    };
    const own = attribute('domain', 'bad.example.com', fields);
    const shared = { threat_level_id: '1', Tag: [{ name: 'tlp:white' }, { name: 'campaign' }] };
    expect(await indicatorsOf([own], shared)).toEqual([
      {
        kind: 'indicator',
        type: 'DOMAIN',
        value: 'bad.example.com',
        normalized: 'bad.example.com',
        externalIds: [`indicator--${own.uuid}`],
        statedAt: new Date('2024-03-01'),
        tlp: 'AMBER',
        confidence: null,
        severity: 'HIGH',
        tags: ['C2', 'campaign'],
        firstSeen: new Date('2024-01-15'),
        lastSeen: new Date('2024-03-01'),
        expiresAt: null,
        forDetection: false,
        records: [
          {
            id: `indicator--${own.uuid}`,
            statedAt: '2024-03-01T00:00:00.000Z',
            reportId: `report--${uuid(1)}`,
            description: 'Seen in a mail',
            type: 'domain',
            category: 'Network activity',
          },
        ],
      },
    ]);
  });

  it('inherits dates, TLP and severity from the event', async () => {
    const [one] = await indicatorsOf([attribute('domain', 'bad.example.com')], {
      date: '2024-04-01',
      Tag: [{ name: 'tlp:green' }],
    });
    expect(one).toMatchObject({
      firstSeen: new Date('2024-04-01'),
      lastSeen: new Date('2024-04-01'),
      tlp: 'GREEN',
      severity: null,
    });
  });

  it.each([
    ['2', 'MEDIUM'],
    [3, 'LOW'],
    ['4', null],
  ])('has the severity of threat level %s', async (level, severity) => {
    const [one] = await indicatorsOf([attribute('domain', 'bad.example.com')], { threat_level_id: level });
    expect(one?.severity).toBe(severity);
  });

  it('of an object is read like one of the event', async () => {
    const objects = [{ name: 'file', Attribute: [attribute('md5', MD5), attribute('sha256', SHA256)] }];
    expect((await indicatorsOf([], { Object: objects })).map(({ type }) => type)).toEqual(['MD5', 'SHA256']);
  });

  it.each(['text', 'link', 'imphash', 'yara', 'ja3-fingerprint-md5', 'port', 'named pipe'])(
    'of type %s is an attribute of its report',
    async (type) => {
      const own = attribute(type, 'x', {
        comment: 'A comment',
        category: 'Other',
        Tag: [{ name: 'tlp:amber' }],
      });
      const records = await recordsOf([own], { Tag: [{ name: 'of the event' }] });
      const id = `x-misp-attribute--${own.uuid}`;
      expect(ofKind(records, 'attribute')).toEqual([
        {
          kind: 'attribute',
          externalIds: [id],
          statedAt: new Date('2024-03-01'),
          tlp: 'AMBER',
          confidence: null,
          type,
          value: 'x',
          name: null,
          description: 'A comment',
          category: 'Other',
          forDetection: true,
          object: null,
          expiresAt: null,
          killChainPhases: null,
          tags: [],
        },
      ]);
      expect(ofKind(records, 'relationship')).toEqual([
        { kind: 'relationship', type: 'refers-to', from: `report--${uuid(1)}`, to: id, tlp: 'AMBER' },
      ]);
    },
  );

  it.each([
    [attribute('text', ''), 'no value'],
    [attribute('text', 'x'.repeat(262_145)), 'value longer than 262144 characters'],
    [attribute('<b>', 'x'), 'type not supported: ?b?'],
    [attribute('named  pipe', 'x'), 'type not supported: named  pipe'],
    [attribute('a'.repeat(65), 'x'), `type not supported: ${'a'.repeat(64)}`],
  ])('like %j, of a type that no indicator has, is rejected with the reason', async (broken, reason) => {
    const rejected = ofKind(await recordsOf([broken]), 'rejected');
    expect(rejected).toMatchObject([{ of: 'attribute', reason }]);
  });

  it.each([
    ['ip-src', 'source'],
    ['ip-dst', 'destination'],
    ['email-src', 'source'],
    ['email-dst', 'destination'],
    ['email', undefined],
  ])('of type %s has the direction %s', async (type, direction) => {
    const value = type.startsWith('ip') ? '192.0.2.1' : 'a@example.com';
    expect((await indicatorsOf([attribute(type, value)]))[0]?.records?.[0]?.direction).toBe(direction);
  });

  it('with a port keeps the whole value', async () => {
    const [one] = await indicatorsOf([attribute('ip-dst|port', '192.0.2.1|443')]);
    expect(one?.records).toMatchObject([{ original: '192.0.2.1|443' }]);
  });

  it('of two indicators states neither in the record of the other, because one may be hidden', async () => {
    const two = await indicatorsOf([attribute('domain|ip', 'bad.example.com|192.0.2.1')]);
    expect(two.map(({ records }) => records?.[0])).toEqual([
      expect.objectContaining({ isShared: true }),
      expect.objectContaining({ isShared: true }),
    ]);
    expect(JSON.stringify(two.map(({ records }) => records))).not.toContain('bad.example.com');
  });

  it('with a file name and a hash that no indicator has gives both, neither with the value of the other', async () => {
    const records = await recordsOf([attribute('filename|imphash', `evil.exe|${MD5}`)]);
    const [name] = ofKind(records, 'indicator');
    expect(name).toMatchObject({ type: 'FILENAME', value: 'evil.exe', records: [{ isShared: true }] });
    expect(JSON.stringify(name)).not.toContain(MD5);
    const [hash] = ofKind(records, 'attribute');
    expect(hash).toMatchObject({ type: 'imphash', value: MD5 });
    expect(JSON.stringify(hash)).not.toContain('evil.exe');
  });

  it('for a wider audience than its event discloses neither the event nor its objects', async () => {
    const named = (tlp: string) =>
      attribute('md5', MD5, { object_relation: 'md5', Tag: [{ name: `tlp:${tlp}` }] });
    const object = { uuid: uuid(77), name: 'file', comment: 'of the victim' };
    const recordOf = async (tlp: string) => {
      const objects = [{ ...object, Attribute: [named(tlp)] }];
      const records = await recordsOf([], { Object: objects, Tag: [{ name: 'tlp:amber' }] });
      return ofKind(records, 'indicator')[0]?.records?.[0];
    };
    expect(await recordOf('red')).toMatchObject({ reportId: `report--${uuid(1)}`, object: { id: uuid(77) } });
    const open = await recordOf('clear');
    expect(open).not.toHaveProperty('reportId');
    expect(open).not.toHaveProperty('object');
  });

  it.each([
    ['tlp:red', 'RED' as const],
    ['OSINT', null],
  ])(
    'for a wider audience than its event, marked %s, inherits no tags, severity, date and audience of links',
    async (marking, tlp) => {
      const own = attribute('domain', 'bad.example.com', {
        Tag: [
          { name: 'tlp:green' },
          { name: 'own' },
          { name: 'misp-galaxy:threat-actor="Own"' },
          { name: 'misp-galaxy:threat-actor="Both"' },
        ],
      });
      const records = await recordsOf([own, attribute('md5', MD5)], {
        threat_level_id: '1',
        Tag: [
          { name: marking },
          { name: 'victim:example' },
          { name: 'misp-galaxy:sector="Bank"' },
          { name: 'misp-galaxy:threat-actor="Of the event"' },
          { name: 'misp-galaxy:threat-actor="Both"' },
        ],
      });
      const [open, other] = ofKind(records, 'indicator');
      expect(open).toMatchObject({ tlp: 'GREEN', tags: ['own'], severity: null });
      expect(open).toMatchObject({ firstSeen: new Date('2024-03-01'), lastSeen: new Date('2024-03-01') });
      expect(other).toMatchObject({ tlp, severity: 'HIGH', firstSeen: new Date('2024-02-01') });
      expect(other?.tags).toContain('victim:example');
      const indicates = ofKind(records, 'relationship').filter(({ type }) => type === 'indicates');
      expect(indicates.map(({ from, to, tlp }) => [from === open?.externalIds[0], to, tlp])).toEqual([
        [true, 'misp-galaxy:threat-actor="Of the event"', tlp],
        [true, 'misp-galaxy:threat-actor="Both"', 'GREEN'],
        [true, 'misp-galaxy:threat-actor="Own"', 'GREEN'],
        [false, 'misp-galaxy:threat-actor="Of the event"', tlp],
        [false, 'misp-galaxy:threat-actor="Both"', tlp],
      ]);
    },
  );

  it('marked RED in an event without a TLP inherits from the event', async () => {
    const own = attribute('domain', 'bad.example.com', { Tag: [{ name: 'tlp:red' }] });
    const [one] = await indicatorsOf([own], { threat_level_id: '1', Tag: [{ name: 'OSINT' }] });
    expect(one).toMatchObject({ tlp: 'RED', tags: ['OSINT'], severity: 'HIGH' });
    expect(one?.records).toMatchObject([{ reportId: `report--${uuid(1)}` }]);
  });

  it('of an object names the object and its part in it', async () => {
    const object = {
      uuid: uuid(77),
      name: 'file',
      'meta-category': 'file',
      template_uuid: uuid(78),
      template_version: '24',
      comment: 'Dropped',
      Attribute: [
        attribute('md5', MD5, { object_relation: 'md5' }),
        attribute('imphash', MD5, { object_relation: 'imphash' }),
      ],
    };
    const records = await recordsOf([], { Object: [object] });
    const whole = {
      id: uuid(77),
      name: 'file',
      metaCategory: 'file',
      templateId: uuid(78),
      templateVersion: '24',
      comment: 'Dropped',
    };
    expect(ofKind(records, 'indicator')[0]?.records?.[0]?.object).toEqual({ ...whole, relation: 'md5' });
    expect(ofKind(records, 'attribute')[0]?.object).toEqual({ ...whole, relation: 'imphash' });
  });

  it.each([
    [attribute('ip-dst', '192.0.2.1/24'), 'a network with bits set behind its prefix'],
    [attribute('filename|md5', 'a.exe'), 'composite value without its second part'],
    [attribute('domain', 'not a name', { deleted: true }), 'deleted in its source'],
    [attribute('domain', 'bad.example.com', { first_seen: 'soon' }), 'date not readable: first_seen'],
    [attribute('domain', 'bad.example.com', { Tag: 'tlp:red' }), 'Tag is not a list'],
    [attribute('domain', 'bad\u0000.example.com'), 'control characters'],
    [attribute('domain', 'x', { value: 5 }), 'empty'],
    [{ value: 'x' }, 'no type'],
    ['x', 'not an object'],
  ])('like %j is rejected with the reason and the position', async (broken, reason) => {
    const rejected = ofKind(await recordsOf([broken]), 'rejected');
    const where = expect.stringContaining(`event 1 (${uuid(1)}), attribute 1`);
    expect(rejected).toEqual([{ kind: 'rejected', of: 'indicator', reason, where }]);
  });

  it.each([
    ['deleted', [attribute('md5', MD5, { deleted: true })], {}],
    ['deleted, as a number,', [attribute('md5', MD5, { deleted: '1' })], {}],
    ['of a deleted object', [], { Object: [{ deleted: true, Attribute: [attribute('md5', MD5)] }] }],
  ])('that is %s is withdrawn, without links', async (_, attributes, event) => {
    const records = (await recordsOf(attributes, event)).filter(({ kind }) => kind !== 'report');
    expect(records).toMatchObject([{ kind: 'indicator', type: 'MD5', withdrawn: 'deleted in its source' }]);
  });

  it('of a type that no indicator has is withdrawn when it is deleted, without links', async () => {
    const records = await recordsOf([
      attribute('yara', 'rule a {}', { deleted: true }),
      attribute('filename|imphash', `evil.exe|${MD5}`, { deleted: '1' }),
    ]);
    expect(records.slice(1)).toMatchObject([
      { kind: 'attribute', type: 'yara', withdrawn: 'deleted in its source' },
      { kind: 'indicator', type: 'FILENAME', withdrawn: 'deleted in its source' },
      { kind: 'attribute', type: 'imphash', withdrawn: 'deleted in its source' },
    ]);
    expect(records).toHaveLength(4);
  });
});

describe('a MISP event', () => {
  it('becomes a report that refers to its indicators', async () => {
    const own = attribute('domain', 'bad.example.com');
    const Tag = [
      { name: 'tlp:amber+strict' },
      { name: 'tlp:green' },
      { name: 'misp-galaxy:sector="Bank"' },
      { name: 'OSINT' },
    ];
    const link = attribute('link', 'https://example.com/r');
    const Orgc = { name: 'An organisation', uuid: uuid(79) };
    expect(await recordsOf([link, own], { Tag, Orgc })).toEqual([
      {
        kind: 'report',
        externalIds: [`report--${uuid(1)}`],
        statedAt: new Date('2024-03-01'),
        tlp: 'AMBER_STRICT',
        confidence: null,
        title: 'Title',
        description: null,
        publishedAt: new Date('2024-02-01'),
        tags: ['OSINT'],
        url: 'https://example.com/r',
        authors: ['An organisation'],
        links: ['https://example.com/r'],
      },
      expect.objectContaining({ kind: 'attribute', type: 'link', value: 'https://example.com/r' }),
      expect.objectContaining({ kind: 'relationship', to: `x-misp-attribute--${link.uuid}` }),
      expect.objectContaining({
        kind: 'indicator',
        tags: ['OSINT', 'misp-galaxy:sector="Bank"'],
        tlp: 'AMBER_STRICT',
      }),
      {
        kind: 'relationship',
        type: 'refers-to',
        from: `report--${uuid(1)}`,
        to: `indicator--${own.uuid}`,
        tlp: 'AMBER_STRICT',
      },
    ]);
  });

  it.each([
    ['tlp:green', ['plain', 'clear']],
    ['OSINT', ['plain', 'clear']],
    ['tlp:red', ['plain', 'clear', 'green', 'red']],
  ])('marked %s has only links that are neither deleted nor for fewer people', async (marking, expected) => {
    const link = (path: string, fields: object = {}) =>
      attribute('link', `https://example.com/${path}`, fields);
    const marked = (tag: string) => link(tag.replace('tlp:', ''), { Tag: [{ name: tag }] });
    const own = [
      link('deleted', { deleted: true }),
      link('unreadable', { Tag: 'tlp:red' }),
      link('plain'),
      ...['tlp:clear', marking === 'tlp:green' ? 'tlp:amber' : 'tlp:green', 'tlp:red'].map(marked),
    ];
    const objects = [{ deleted: true, Attribute: [link('of-a-deleted-object')] }];
    const [report] = ofKind(await recordsOf(own, { Tag: [{ name: marking }], Object: objects }), 'report');
    expect(report?.links).toEqual(expected.map((path) => `https://example.com/${path}`));
    expect(report?.url).toBe('https://example.com/plain');
  });

  it('has texts with a TLP of their own', async () => {
    const text = (n: number, fields: object) => ({ uuid: uuid(n), content: 'x', ...fields });
    const records = await recordsOf([], {
      Tag: [{ name: 'tlp:green' }],
      EventReport: [text(80, {}), text(81, { Tag: [{ name: 'tlp:red' }] }), text(82, { Tag: 'tlp:red' })],
    });
    expect(ofKind(records, 'attribute').map(({ tlp }) => tlp)).toEqual(['GREEN', 'RED']);
    expect(ofKind(records, 'relationship').map(({ tlp }) => tlp)).toEqual(['GREEN', 'RED']);
    expect(ofKind(records, 'rejected')).toMatchObject([{ reason: 'Tag is not a list' }]);
  });

  it('keeps its texts as notes', async () => {
    const text = { uuid: uuid(80), name: 'Analysis', content: '# What happened', timestamp: '1709251200' };
    const deleted = { ...text, uuid: uuid(81), deleted: true };
    const records = await recordsOf([], { EventReport: [text, deleted] });
    expect(ofKind(records, 'attribute')).toMatchObject([
      { externalIds: [`note--${uuid(80)}`], type: 'note', name: 'Analysis', value: '# What happened' },
      { externalIds: [`note--${uuid(81)}`], withdrawn: 'deleted in its source' },
    ]);
    expect(ofKind(records, 'attribute')[0]).not.toHaveProperty('withdrawn');
    expect(ofKind(records, 'relationship')).toMatchObject([
      { type: 'refers-to', from: `report--${uuid(1)}`, to: `note--${uuid(80)}` },
    ]);
  });

  it('without a title loses the report, not the indicators', async () => {
    expect(countByOutcome(await recordsOf([attribute('md5', MD5)], { info: '' }))).toEqual({
      'indicator MD5': 1,
      'rejected report: no info': 1,
    });
  });

  it('with unreadable tags is rejected as a whole, because its TLP is unknown', async () => {
    expect(countByOutcome(await recordsOf([attribute('md5', MD5)], { Tag: 'tlp:red' }))).toEqual({
      'rejected report: Tag is not a list': 1,
    });
  });
});

describe('a MISP galaxy cluster', () => {
  const galaxy = (type: string, value: string, fields: object = {}) => ({
    type,
    GalaxyCluster: [{ type, value, uuid: uuid(50), tag_name: `misp-galaxy:${type}="${value}"`, ...fields }],
  });

  it('creates the actor that the indicators indicate', async () => {
    const meta = { synonyms: ['Fancy', 'Sofacy'], country: ['RU'], external_id: ['G0007'] };
    const own = attribute('md5', MD5);
    const records = await recordsOf([own], { Galaxy: [galaxy('threat-actor', 'Sofacy', { meta })] });
    expect(ofKind(records, 'actor')).toEqual([
      expect.objectContaining({
        externalIds: [
          `intrusion-set--${uuid(50)}`,
          `threat-actor--${uuid(50)}`,
          'misp-galaxy:threat-actor="Sofacy"',
        ],
        name: 'Sofacy',
        aliases: [{ alias: 'Fancy', namedBy: null }],
        country: 'RU',
        attackGroupId: 'G0007',
      }),
    ]);
    expect(ofKind(records, 'relationship').map(({ type, from, to }) => [type, from, to])).toEqual([
      ['refers-to', `report--${uuid(1)}`, `intrusion-set--${uuid(50)}`],
      ['refers-to', `report--${uuid(1)}`, `indicator--${own.uuid}`],
      ['indicates', `indicator--${own.uuid}`, `intrusion-set--${uuid(50)}`],
    ]);
  });

  it.each([
    { country: ['RU', 'CN'] },
    { country: 'Russia' },
    { 'cfr-suspected-state-sponsor': ['Unknown'] },
    { 'cfr-suspected-state-sponsor': ['Russian Federation', 'China'] },
  ])('yields no country from %j', async (meta) => {
    const records = await recordsOf([], { Galaxy: [galaxy('threat-actor', 'X', { meta })] });
    expect(ofKind(records, 'actor')[0]?.country).toBeNull();
  });

  it.each([
    { uuid: '7cdff317-a673-4474-84ec-4f1754947823' },
    { uuid: uuid(60), collection_uuid: uuid(60) },
    { uuid: '' },
  ])("identifies an actor by its tag when %j is the collection's uuid or none", async (fields) => {
    const records = await recordsOf([], { Galaxy: [galaxy('threat-actor', 'X', fields)] });
    expect(ofKind(records, 'actor')[0]?.externalIds).toEqual(['misp-galaxy:threat-actor="X"']);
  });

  it('creates actors from tags alone', async () => {
    const own = attribute('md5', MD5);
    const records = await recordsOf([own], { Tag: [{ name: 'misp-galaxy:threat-actor="X Y"' }] });
    expect(ofKind(records, 'actor')[0]).toMatchObject({
      name: 'X Y',
      externalIds: ['misp-galaxy:threat-actor="X Y"'],
    });
    expect(ofKind(records, 'relationship')).toContainEqual({
      kind: 'relationship',
      type: 'indicates',
      from: `indicator--${own.uuid}`,
      to: 'misp-galaxy:threat-actor="X Y"',
      tlp: null,
    });
  });

  it('is read once when tag and galaxy repeat it', async () => {
    const both = { Galaxy: [galaxy('threat-actor', 'X')], Tag: [{ name: 'misp-galaxy:threat-actor="X"' }] };
    expect(ofKind(await recordsOf([], both), 'actor')).toHaveLength(1);
  });

  it('creates techniques by ATT&CK id, without indicates relationships', async () => {
    const records = await recordsOf([attribute('md5', MD5)], {
      Galaxy: [galaxy('mitre-attack-pattern', 'PowerShell - T1059.001')],
    });
    expect(ofKind(records, 'technique')[0]).toMatchObject({ name: 'PowerShell', attackId: 'T1059.001' });
    expect(countByOutcome(records)).not.toHaveProperty('relationship indicates');
  });

  it.each([
    ['mitre-malware', 'Emotet - S0367', { softwareType: 'malware', name: 'Emotet', attackId: 'S0367' }],
    ['ransomware', 'Locky', { softwareType: 'malware', name: 'Locky', attackId: null }],
    ['rat', 'njRAT', { softwareType: 'malware', name: 'njRAT', attackId: null }],
    ['mitre-tool', 'PsExec - S0029', { softwareType: 'tool', name: 'PsExec', attackId: 'S0029' }],
  ])('of type %s creates software', async (type, value, expected) => {
    const records = await recordsOf([], { Galaxy: [galaxy(type, value)] });
    expect(ofKind(records, 'software')[0]).toMatchObject(expected);
  });

  it.each([
    ['threat-actor', 'X', []],
    ['mitre-campaign', 'X - C0001', []],
    ['mitre-malware', 'X - S0001', []],
    ['mitre-tool', 'X - S0002', ['misp-galaxy:mitre-tool="X - S0002"']],
    ['mitre-attack-pattern', 'X - T0001', ['misp-galaxy:mitre-attack-pattern="X - T0001"']],
    ['country', 'x', ['misp-galaxy:country="x"']],
    ['threat-actor', 'x'.repeat(201), [`misp-galaxy:threat-actor="${'x'.repeat(201)}"`]],
  ])('%s %s remains a tag unless a relationship replaces it', async (type, value, tags) => {
    const Tag = [{ name: `misp-galaxy:${type}="${value}"` }];
    const [own, inherited] = [
      await indicatorsOf([attribute('md5', MD5, { Tag })]),
      await indicatorsOf([attribute('md5', MD5)], { Tag }),
    ];
    expect([own[0]?.tags, inherited[0]?.tags]).toEqual([tags, tags]);
  });

  it('creates the campaign that the indicators indicate', async () => {
    const tag = 'misp-galaxy:mitre-campaign="Operation X - C0001"';
    const records = await recordsOf([attribute('md5', MD5)], { Tag: [{ name: tag }] });
    expect(ofKind(records, 'campaign')).toMatchObject([{ name: 'Operation X', externalIds: [tag] }]);
    expect(ofKind(records, 'relationship')).toContainEqual(
      expect.objectContaining({ type: 'indicates', to: tag }),
    );
  });

  it('of an attribute applies only to that attribute', async () => {
    const own = attribute('md5', MD5, { Galaxy: [galaxy('threat-actor', 'X')] });
    const records = await recordsOf([own, attribute('sha1', SHA1)]);
    const indicates = ofKind(records, 'relationship').filter(({ type }) => type === 'indicates');
    expect(indicates.map(({ from }) => from)).toEqual([`indicator--${own.uuid}`]);
  });
});

describe('a MISP file', () => {
  const one = event([attribute('md5', MD5)]);

  it.each([
    ['{"Event"}', { Event: one }],
    ['{"response":[{"Event"}]}', { response: [{ Event: one }] }],
    ['[{"Event"}]', [{ Event: one }]],
    ['an event itself', one],
    ['an array of events', [one]],
  ])('%s is recognized and read', async (_, content) => {
    expect(mispImporter.recognizes(JSON.stringify(content), 'f')).toBe(true);
    expect(countByOutcome((await run(content)).records)).toEqual({
      'indicator MD5': 1,
      'relationship refers-to': 1,
      report: 1,
    });
  });

  it('skips only elements that are not events', async () => {
    const { records } = await run({ response: [{ Event: one }, { Organisation: {} }, 5] });
    expect(countByOutcome(records)).toMatchObject({ 'indicator MD5': 1, 'rejected report: not an event': 2 });
  });

  it('with other JSON is unreadable', async () => {
    expect((await run({ type: 'bundle' })).unreadable).toMatch('not MISP');
  });

  it('truncated within an event yields nothing of that event', async () => {
    const content = JSON.stringify({ response: [{ Event: one }, { Event: one }] });
    const { records, unreadable } = await run(content.slice(0, -10));
    expect([ofKind(records, 'report').length, unreadable]).toEqual([1, expect.stringContaining('object 2')]);
  });

  it('with an event over 64 MiB skips only that event', { tags: ['nightly'] }, async () => {
    const big = event([], { padding: 'x'.repeat(64 * 1024 * 1024) });
    const { records } = await run([{ Event: big }, { Event: one }]);
    expect(countByOutcome(records)).toMatchObject({ 'rejected report: larger than 64 MiB': 1, report: 1 });
  });
});
