import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Importer, ImportRecord } from '../../src/importers/importer.ts';
import { mispImporter } from '../../src/importers/misp.ts';
import { stixImporter } from '../../src/importers/stix.ts';
import { runPendingUndos, startUndo } from '../../src/imports/undo.service.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { MAX_RECORDS } from '../../src/model/source-record.ts';
import { runPendingRemovals, startRemoval } from '../../src/sources/remove-source.ts';
import { requireSource } from '../../src/sources/sources.service.ts';
import { inputOf, ofKind, runImporter } from '../importers/run-importer.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { attributeRecord, campaignRecord, relationshipRecord, reportRecord } from '../support/records.ts';

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const STATED = '1779000000';
const BY = { who: 'cli:test', now: NOW };
const MD5 = 'd41d8cd98f00b204e9800998ecf8427a';
const SHA1 = 'da39a3ee5e6b4b0d3255bfef95601890afd8070a';

const attribute = (n: number, type: string, value: string, fields: object = {}) => ({
  uuid: uuid(n),
  type,
  value,
  category: 'Network activity',
  to_ids: true,
  timestamp: STATED,
  comment: '',
  ...fields,
});

/** A MISP event with all that analysts write: comments, objects, rules, texts, links. */
const EVENT = {
  Event: {
    uuid: uuid(1),
    info: 'Operation Example',
    date: '2026-05-01',
    timestamp: STATED,
    threat_level_id: '1',
    Orgc: { name: 'Example CERT', uuid: uuid(2) },
    Tag: [{ name: 'tlp:green' }, { name: 'osint' }],
    Galaxy: [
      {
        type: 'threat-actor',
        GalaxyCluster: [
          {
            type: 'threat-actor',
            value: 'Example Bear',
            tag_name: 'misp-galaxy:threat-actor="Example Bear"',
          },
        ],
      },
    ],
    Attribute: [
      attribute(10, 'ip-src', '198.51.100.7', { comment: 'Scanner', category: 'Payload delivery' }),
      attribute(11, 'domain', 'evil.example', { comment: 'First stage' }),
      attribute(12, 'filename|sha1', `a.exe|${SHA1}`, { category: 'Payload delivery', comment: 'Dropper' }),
      attribute(13, 'yara', 'rule example { condition: false }', { category: 'Payload installation' }),
      attribute(14, 'link', 'https://report.example/1', { category: 'External analysis', to_ids: false }),
    ],
    Object: [
      {
        uuid: uuid(20),
        name: 'file',
        'meta-category': 'file',
        template_uuid: uuid(21),
        template_version: '24',
        comment: 'Loader',
        Attribute: [
          attribute(22, 'md5', MD5, { object_relation: 'md5', category: 'Payload delivery' }),
          attribute(23, 'imphash', MD5, { object_relation: 'imphash', category: 'Payload delivery' }),
        ],
      },
    ],
    EventReport: [{ uuid: uuid(30), name: 'Analysis', content: '# How it came', timestamp: STATED }],
  },
};

const RULE = 'alert tcp any any -> any any (msg:"x"; sid:1;)';
const BUNDLE = {
  type: 'bundle',
  id: `bundle--${uuid(100)}`,
  objects: [
    stix('identity', 101, { name: 'Example Labs', identity_class: 'organization' }),
    stix('indicator', 102, {
      name: 'C2 server',
      description: 'Seen in May',
      pattern: "[domain-name:value = 'evil.example']",
      pattern_type: 'stix',
      valid_from: '2026-05-01T00:00:00.000Z',
      kill_chain_phases: [{ kill_chain_name: 'mitre-attack', phase_name: 'command-and-control' }],
    }),
    stix('indicator', 103, {
      name: 'Rule',
      pattern: RULE,
      pattern_type: 'snort',
      valid_from: '2026-05-01T00:00:00.000Z',
      kill_chain_phases: [{ kill_chain_name: 'lockheed-martin-cyber-kill-chain', phase_name: 'delivery' }],
    }),
    stix('report', 104, {
      name: 'What happened',
      description: 'The whole story',
      published: '2026-05-02T00:00:00.000Z',
      created_by_ref: `identity--${uuid(101)}`,
      external_references: [{ source_name: 'blog', url: 'https://blog.example/2' }],
      object_refs: [`indicator--${uuid(102)}`, `indicator--${uuid(103)}`],
    }),
    stix('note', 105, {
      abstract: 'Doubt',
      content: 'May be a sinkhole',
      object_refs: [`indicator--${uuid(102)}`],
    }),
  ],
};

function stix(type: string, n: number, fields: object) {
  const times = { created: '2026-05-02T00:00:00.000Z', modified: '2026-05-03T00:00:00.000Z' };
  return { type, spec_version: '2.1', id: `${type}--${uuid(n)}`, ...times, ...fields };
}

async function recordsOf(importer: Importer, content: object | string): Promise<ImportRecord[]> {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const { records, unreadable } = await runImporter(importer, inputOf(text));
  expect([unreadable, ofKind(records, 'rejected')]).toEqual([null, []]);
  return records;
}

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine, { publicAddress: 'https://tipline.example' });
  });
  afterEach(() => harness.close());

  const loadEvent = async () => harness.load(await recordsOf(mispImporter, EVENT), 'CERT');
  const loadBundle = async () => harness.load(await recordsOf(stixImporter, BUNDLE), 'Labs');
  const contextOf = async (...[type, value]: Parameters<typeof indicatorId>) =>
    (await harness.get(`/api/v1/indicators/${indicatorId(type, value)}/context`)).json();
  const exported = async (query: string, key?: string) =>
    (await harness.get(`/api/v1/exports/${query}`, key ? { key } : {})).json();
  const revision = async () =>
    (await harness.db.selectFrom('revision').select('value').executeTakeFirstOrThrow()).value;
  const etagOf = async (query: string) => (await harness.get(`/api/v1/exports/${query}`)).headers.etag;

  describe('the context of an indicator', () => {
    it('has what each source says of it, in its words', async () => {
      await loadEvent();
      await loadBundle();
      const { records, reports } = await contextOf('DOMAIN', 'evil.example');
      expect(records).toMatchObject([
        { source: 'CERT', id: `indicator--${uuid(11)}`, description: 'First stage', type: 'domain' },
        {
          source: 'Labs',
          id: `indicator--${uuid(102)}`,
          name: 'C2 server',
          description: 'Seen in May',
          killChainPhases: [{ chain: 'mitre-attack', phase: 'command-and-control' }],
        },
      ]);
      expect(reports).toMatchObject([
        { authors: ['Example Labs'], links: ['https://blog.example/2'], description: 'The whole story' },
        { authors: ['Example CERT'], links: ['https://report.example/1'] },
      ]);
    });

    it('has notes about it, and the other parts of its objects', { tags: ['nightly'] }, async () => {
      await loadEvent();
      await loadBundle();
      expect((await contextOf('DOMAIN', 'evil.example')).attributes).toMatchObject([
        { type: 'note', name: 'Doubt', value: 'May be a sinkhole' },
      ]);
      expect((await contextOf('MD5', MD5)).attributes).toMatchObject([
        { type: 'imphash', value: MD5, object: { id: uuid(20), name: 'file', relation: 'imphash' } },
      ]);
      expect((await contextOf('IPV4', '198.51.100.7')).records).toMatchObject([{ direction: 'source' }]);
    });

    it('has nothing above the TLP ceiling', async () => {
      const object = { id: uuid(20), name: 'file' };
      const known = indicatorRecord('MD5', MD5, { records: [{ id: 'x', object }] });
      await harness.load([
        known,
        attributeRecord('imphash', MD5, { object, tlp: 'RED' }),
        attributeRecord('text', 'for all', { object }),
      ]);
      const id = indicatorId('MD5', MD5);
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      const url = `/api/v1/indicators/${id}/context`;
      expect((await harness.get(url, { key })).json().attributes).toMatchObject([{ value: 'for all' }]);
      expect((await harness.get(url)).json().attributes).toHaveLength(2);
    });
  });

  it('a source that states an indicator in thousands of records keeps the latest', {
    tags: ['nightly'],
  }, async () => {
    const count = MAX_RECORDS * 3;
    const records = Array.from({ length: count }, (_, n) =>
      indicatorRecord('DOMAIN', 'evil.example', {
        records: [{ id: `indicator--${n}`, statedAt: new Date(NOW.getTime() - n * 1000).toISOString() }],
      }),
    );
    await harness.load(records.reverse());
    const stored = (await contextOf('DOMAIN', 'evil.example')).records;
    expect(stored.map(({ id }: { id: string }) => id)).toEqual(
      Array.from({ length: MAX_RECORDS }, (_, n) => `indicator--${n}`),
    );
  });

  describe('an indicator that its source no longer marks for detection', () => {
    const stating = (record: string, statedAt: string, forDetection: boolean) => [
      indicatorRecord('DOMAIN', 'evil.example', {
        statedAt: new Date(statedAt),
        forDetection,
        records: [{ id: `indicator--${record}`, statedAt }],
      }),
    ];
    const [OLD, NEW] = ['2026-05-01T00:00:00.000Z', '2026-05-02T00:00:00.000Z'];
    const isForDetection = async () =>
      (await harness.get('/api/v1/exports/txt')).body.split('\n').includes('evil.example');

    it.each([['in this order'], ['in the other order']])('is in no rule or block list, %s', async (order) => {
      const files = [stating('1', OLD, true), stating('1', NEW, false)];
      for (const file of order === 'in this order' ? files : files.reverse()) await harness.load(file);
      expect(await isForDetection()).toBe(false);
      await harness.load(stating('1', OLD, true));
      expect(await isForDetection()).toBe(false);
    });

    it('is in them while another record of the source marks it, also an older one', async () => {
      await harness.load([...stating('1', OLD, true), ...stating('2', NEW, false)]);
      expect(await isForDetection()).toBe(true);
      await harness.load(stating('1', NEW, false));
      expect(await isForDetection()).toBe(false);
    });

    it('is in none once the version that an earlier release stored without a mark is stated again', {
      tags: ['nightly'],
    }, async () => {
      await harness.load([...stating('1', OLD, true), ...stating('2', OLD, true)]);
      await harness.load(stating('2', NEW, true));
      expect(await isForDetection()).toBe(true);
      await harness.load([...stating('1', OLD, false), ...stating('2', NEW, false)]);
      expect(await isForDetection()).toBe(false);
    });

    it('stays what another Tipline states, whose other sources have records that do not', {
      tags: ['nightly'],
    }, async () => {
      const said = indicatorRecord('DOMAIN', 'evil.example', {
        externalIds: ['indicator--x'],
        statedAt: new Date(NEW),
        records: [{ id: 'indicator--1', statedAt: OLD, forDetection: false }],
      });
      await harness.load([said]);
      await harness.load([{ ...said, tags: ['new'] }]);
      expect(await isForDetection()).toBe(true);
      const { kinds } = await harness.load([{ ...said, tags: ['new'] }]);
      expect(kinds.get('indicator')).toMatchObject({ unchanged: 1 });
    });

    it('without records, follows the latest statement', async () => {
      const saying = (statedAt: string, forDetection: boolean) =>
        indicatorRecord('DOMAIN', 'evil.example', { statedAt: new Date(statedAt), forDetection });
      await harness.load([saying(OLD, true)]);
      await harness.load([saying(NEW, false)]);
      expect(await isForDetection()).toBe(false);
    });
  });

  describe('an indicator that its source withdraws', () => {
    const DAYS = ['2026-05-01', '2026-05-02', '2026-05-03'].map((day) => `${day}T00:00:00.000Z`);
    const revoked = (n: number, day: number, isRevoked: boolean) =>
      recordsOf(stixImporter, {
        type: 'bundle',
        id: `bundle--${uuid(100)}`,
        objects: [
          stix('indicator', n, {
            modified: DAYS[day],
            revoked: isRevoked,
            pattern: "[domain-name:value = 'evil.example']",
            pattern_type: 'stix',
            valid_from: DAYS[0],
          }),
        ],
      });
    const deleted = (n: number, day: number, isDeleted: boolean) => {
      const timestamp = String(Date.parse(DAYS[day] ?? '') / 1000);
      const one = attribute(n, 'domain', 'evil.example', { timestamp, deleted: isDeleted });
      return recordsOf(mispImporter, {
        Event: { ...EVENT.Event, Galaxy: [], Object: [], EventReport: [], Attribute: [one] },
      });
    };
    const isListed = async () => (await harness.get('/api/v1/indicators?q=evil.example')).json().total === 1;
    const outcomes = ({ kinds }: Awaited<ReturnType<Harness['load']>>) => kinds.get('indicator');

    const WAYS = [
      ['STIX', revoked, 'revoked by its source'],
      ['MISP', deleted, 'deleted in its source'],
    ] as const;
    it.each(WAYS)('is not returned any more, until %s states it again', async (_, record) => {
      await harness.load(await record(200, 0, false));
      expect(await isListed()).toBe(true);
      expect(outcomes(await harness.load(await record(200, 1, true)))).toMatchObject({ updated: 1 });
      expect(await isListed()).toBe(false);
      expect(outcomes(await harness.load(await record(200, 1, true)))).toMatchObject({ unchanged: 1 });
      await harness.load(await record(200, 0, false));
      expect(await isListed()).toBe(false);
      await harness.load(await record(200, 2, false));
      expect(await isListed()).toBe(true);
    });

    it.each(WAYS)(
      'stays while another record in %s or another source states it',
      { tags: ['nightly'] },
      async (_, record) => {
        await harness.load([...(await record(200, 0, false)), ...(await record(201, 0, false))]);
        await harness.load(await record(200, 1, true));
        expect(await isListed()).toBe(true);
        expect((await contextOf('DOMAIN', 'evil.example')).records).toMatchObject([
          { id: `indicator--${uuid(201)}` },
        ]);
        await harness.load(await record(201, 1, true));
        expect(await isListed()).toBe(false);
        await harness.load([indicatorRecord('DOMAIN', 'evil.example')], 'Other');
        expect(await isListed()).toBe(true);
      },
    );

    it.each(WAYS)('is that of the other sources, if %s does not state it any more', async (_, record) => {
      const defaults = { confidence: 95, severity: 'CRITICAL' } as const;
      const shown = async () => {
        const { data } = (await harness.get('/api/v1/indicators?q=evil.example')).json();
        const { body } = await harness.get('/api/v1/exports/txt');
        return [data[0]?.source, data[0]?.confidence, data[0]?.severity, body.includes('evil.example')];
      };
      await harness.load(await record(200, 0, false), 'A', defaults);
      const said = { confidence: 10, forDetection: false };
      await harness.load([indicatorRecord('DOMAIN', 'evil.example', said)], 'B', { severity: 'LOW' });
      const before = await shown();
      // MISP's threat level is high.
      expect(before).toEqual(['A', 95, record === revoked ? 'CRITICAL' : 'HIGH', true]);
      await harness.load(await record(200, 1, true), 'A');
      expect(await shown()).toEqual(['B', 10, 'LOW', false]);
      await harness.load(await record(200, 2, false), 'A');
      expect(await shown()).toEqual(before);
    });

    it.each(WAYS)('is rejected in %s if its source has not stated it', async (_, record, reason) => {
      const rejected = { rejected: 1, reasons: { [reason]: 1 } };
      expect(outcomes(await harness.load(await record(200, 1, true)))).toMatchObject(rejected);
      await harness.load(await record(200, 0, false), 'Other');
      expect(outcomes(await harness.load(await record(200, 1, true)))).toMatchObject(rejected);
      await harness.load([indicatorRecord('DOMAIN', 'evil.example')]);
      expect(outcomes(await harness.load(await record(200, 1, true)))).toMatchObject(rejected);
      expect(await isListed()).toBe(true);
    });

    it.each(WAYS)('is not added by an older file in %s', async (_, record) => {
      await harness.load(await record(201, 0, false));
      await harness.load(await record(200, 1, true));
      expect(await isListed()).toBe(true);
      await harness.load(await record(201, 1, true));
      await harness.load(await record(200, 0, false));
      expect(await isListed()).toBe(false);
    });

    it.each(WAYS)(
      'is not listed if an older file in %s is read after the withdrawal',
      { tags: ['nightly'] },
      async (_, record, reason) => {
        const state = () =>
          sql`select (select count(*) from indicator) as rows, (select count(*) from external_id where entity_kind = 'indicator') as ids`.execute(
            harness.db,
          );
        const before = (await state()).rows;
        expect(outcomes(await harness.load(await record(200, 1, true)))).toMatchObject({
          rejected: 1,
          reasons: { [reason]: 1 },
        });
        expect((await state()).rows).toEqual(before);
        const taken = await revision();
        await harness.load(await record(200, 1, true));
        expect(await revision()).toBe(taken);
        expect(outcomes(await harness.load(await record(200, 0, false)))).toMatchObject({ new: 1 });
        expect(await isListed()).toBe(false);
        await harness.load([indicatorRecord('DOMAIN', 'evil.example')], 'Other');
        await harness.load(await record(200, 0, false), 'Other');
        expect(await isListed()).toBe(true);
        await harness.load(await record(200, 2, false));
        expect((await contextOf('DOMAIN', 'evil.example')).records).toHaveLength(2);
      },
    );

    it.each(WAYS)(
      'is listed if the withdrawal in %s was undone before an older file is read',
      { tags: ['nightly'] },
      async (_, record) => {
        const ids = [];
        for (let n = 0; n < 2; n++) ids.push(await harness.loadRun(await record(200, 1, true), 'A'));
        const undo = async (id = '') => {
          await startUndo(harness.db, id, BY);
          await runPendingUndos(harness.db, { now: () => NOW });
        };
        await undo(ids[0]);
        const older = await harness.loadRun(await record(200, 0, false), 'A');
        expect(await isListed()).toBe(false);
        await undo(older);
        await undo(ids[1]);
        await harness.loadRun(await record(200, 0, false), 'A');
        expect(await isListed()).toBe(true);
      },
    );

    it('is listed if the source was removed before an older file is read', async () => {
      await harness.load(await revoked(200, 1, true), 'A');
      await startRemoval(harness.db, await requireSource(harness.db, 'A'), BY);
      await runPendingRemovals(harness.db, { now: () => NOW });
      await harness.load(await revoked(200, 0, false), 'A');
      expect(await isListed()).toBe(true);
    });

    it('is not listed if an older file follows the withdrawal by more than a batch', {
      tags: ['nightly'],
    }, async () => {
      const others = Array.from({ length: 1_200 }, (_, n) =>
        indicatorRecord('DOMAIN', `d${n}.test-feed.net`),
      );
      const file = [...(await revoked(200, 1, true)), ...others, ...(await revoked(200, 0, false))];
      await harness.load(file);
      expect(await isListed()).toBe(false);
    });

    it('stays where there were more records than are stored', { tags: ['nightly'] }, async () => {
      const count = MAX_RECORDS + 1;
      const all = (day: number, isRevoked: boolean) =>
        Promise.all(Array.from({ length: count }, (_, n) => revoked(200 + n, day, isRevoked)));
      await harness.load((await all(0, false)).flat());
      await harness.load((await all(1, true)).flat().slice(1));
      expect(await isListed()).toBe(true);
    });

    it('does not count as stated again when an earlier import is undone', { tags: ['nightly'] }, async () => {
      const first = await harness.loadRun([indicatorRecord('DOMAIN', 'evil.example')], 'A');
      await harness.loadRun(await revoked(200, 1, true), 'A');
      await startUndo(harness.db, first, BY);
      await runPendingUndos(harness.db, { now: () => NOW });
      expect(await isListed()).toBe(false);
    });

    it('is rejected above the TLP ceiling of the importer, and stays', async () => {
      await harness.load(await revoked(200, 0, false), 'Test', { tlp: 'RED' });
      expect(outcomes(await harness.load(await revoked(200, 1, true), 'Test', {}, 'GREEN'))).toMatchObject({
        rejected: 1,
      });
      expect(await isListed()).toBe(true);
    });

    it('comes back when the withdrawal is undone', async () => {
      await harness.loadRun(await revoked(200, 0, false), 'A');
      const second = await harness.loadRun(await revoked(200, 1, true), 'A');
      expect(await isListed()).toBe(false);
      await startUndo(harness.db, second, BY);
      await runPendingUndos(harness.db, { now: () => NOW });
      expect(await isListed()).toBe(true);
    });

    it('of another Tipline, without records, ends with its time', async () => {
      const said = indicatorRecord('DOMAIN', 'evil.example', {
        externalIds: ['observed-data--1'],
        statedAt: new Date(DAYS[0] ?? ''),
      });
      const end = {
        ...said,
        statedAt: new Date(DAYS[1] ?? ''),
        withdrawn: 'revoked by its source',
        isCompleteStatement: true,
      };
      await harness.load([said]);
      await harness.load([{ ...end, externalIds: ['observed-data--2'] }]);
      expect(await isListed()).toBe(true);
      await harness.load([end]);
      expect(await isListed()).toBe(false);
    });
  });

  describe('a record that its source corrects', () => {
    const DAYS = ['2026-05-01', '2026-05-02', '2026-05-03'].map((day) => `${day}T00:00:00.000Z`);
    /** Values as one pattern, or as a composite. */
    const stixVersion = (n: number, day: number, values: string[], isRevoked = false) =>
      recordsOf(stixImporter, {
        type: 'bundle',
        id: `bundle--${uuid(100)}`,
        objects: [
          stix('indicator', n, {
            modified: DAYS[day],
            revoked: isRevoked,
            pattern: values.map((value) => `[${typeOf(value)}:value = '${value}']`).join(' OR '),
            pattern_type: 'stix',
            valid_from: DAYS[0],
          }),
        ],
      });
    const typeOf = (value: string) => (/^[0-9.]+$/.test(value) ? 'ipv4-addr' : 'domain-name');
    const mispVersion = (n: number, day: number, values: string[], isDeleted = false) => {
      const type =
        values.length > 1 ? 'domain|ip' : typeOf(values[0] ?? '') === 'ipv4-addr' ? 'ip-dst' : 'domain';
      const timestamp = String(Date.parse(DAYS[day] ?? '') / 1000);
      const one = attribute(n, type, values.join('|'), { timestamp, deleted: isDeleted });
      return recordsOf(mispImporter, {
        Event: { ...EVENT.Event, Galaxy: [], Object: [], EventReport: [], Attribute: [one] },
      });
    };
    const WAYS = [
      ['STIX', stixVersion],
      ['MISP', mispVersion],
    ] as const;
    const [WRONG, RIGHT, ADDRESS] = ['wrong-evil.com', 'right-evil.com', '198.51.100.9'] as const;
    const listed = async () => {
      const { data } = (await harness.get('/api/v1/indicators')).json();
      return data.map(({ value }: { value: string }) => value).sort();
    };
    const blocked = async () =>
      (await harness.get('/api/v1/exports/txt')).body
        .split('\n')
        .filter((line: string) => /^[^#]/.test(line))
        .sort();
    const ORDERS = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ];

    it.each(WAYS)('is not listed with its earlier value in %s', async (_, version) => {
      await harness.load(await version(200, 0, [WRONG]));
      const { kinds } = await harness.load(await version(200, 1, [RIGHT]));
      expect(kinds.get('indicator')).toMatchObject({ read: 1, new: 1 });
      expect([await listed(), await blocked()]).toEqual([[RIGHT], [RIGHT]]);
      const again = await harness.load(await version(200, 0, [WRONG]));
      expect(again.kinds.get('indicator')).toMatchObject({ unchanged: 1 });
      expect([await listed(), await blocked()]).toEqual([[RIGHT], [RIGHT]]);
    });

    it.each(WAYS)(
      'has the values of its latest version in %s, in whatever order versions are read',
      { tags: ['nightly'] },
      async (_, version) => {
        const versions = [
          await version(200, 0, [WRONG]),
          await version(200, 1, [RIGHT, ADDRESS]),
          await version(200, 2, [ADDRESS]),
        ];
        for (const order of ORDERS) {
          const source = `In files ${order.join()}`;
          for (const at of order) await harness.load(versions[at] ?? [], source);
          expect([order, await listed(), await blocked()]).toEqual([order, [ADDRESS], [ADDRESS]]);
          const before = await revision();
          for (const at of order) await harness.load(versions[at] ?? [], source);
          await harness.load(
            order.flatMap((at) => versions[at] ?? []),
            source,
          );
          expect(await revision()).toBe(before);
          await harness.load(
            order.flatMap((at) => versions[at] ?? []),
            `In a file ${order.join()}`,
          );
          expect([order, await listed(), await blocked()]).toEqual([order, [ADDRESS], [ADDRESS]]);
        }
      },
    );

    it.each(WAYS)(
      'is withdrawn with every value that it has had in %s',
      { tags: ['nightly'] },
      async (_, version) => {
        const versions = [
          await version(200, 0, [WRONG]),
          await version(200, 1, [RIGHT]),
          await version(200, 2, [RIGHT], true),
        ];
        for (const order of ORDERS) {
          for (const at of order) await harness.load(versions[at] ?? [], order.join());
          expect([order, await listed()]).toEqual([order, []]);
        }
        for (const order of ORDERS) {
          await harness.load(
            order.flatMap((at) => versions[at] ?? []),
            `In a file ${order.join()}`,
          );
          expect([order, await listed()]).toEqual([order, []]);
        }
      },
    );

    it.each(WAYS)(
      'stays listed with an earlier value that another record or source states, in %s',
      { tags: ['nightly'] },
      async (_, version) => {
        await harness.load([...(await version(200, 0, [WRONG])), ...(await version(201, 0, [WRONG]))]);
        await harness.load(await version(200, 1, [RIGHT]));
        expect([await listed(), await blocked()]).toEqual([
          [RIGHT, WRONG],
          [RIGHT, WRONG],
        ]);
        expect((await contextOf('DOMAIN', WRONG)).records).toMatchObject([{ id: `indicator--${uuid(201)}` }]);
        await harness.load(await version(200, 0, [WRONG]), 'Other');
        await harness.load(await version(201, 1, [RIGHT]));
        expect(await listed()).toEqual([RIGHT, WRONG]);
        await harness.load(await version(200, 1, [RIGHT]), 'Other');
        expect(await listed()).toEqual([RIGHT]);
      },
    );

    it.each(WAYS)(
      'is listed with its earlier value again once a later version in %s has it',
      { tags: ['nightly'] },
      async (_, version) => {
        await harness.load(await version(200, 0, [WRONG]));
        await harness.load(await version(200, 1, [RIGHT]));
        await harness.load(await version(200, 2, [WRONG]));
        expect([await listed(), await blocked()]).toEqual([[WRONG], [WRONG]]);
      },
    );

    it('without a time keeps its values', async () => {
      const version = (value: string) =>
        indicatorRecord('DOMAIN', value, {
          externalIds: ['indicator--x'],
          records: [{ id: 'indicator--x' }],
        });
      await harness.load([version(WRONG)]);
      await harness.load([version(RIGHT)]);
      expect(await listed()).toEqual([RIGHT, WRONG]);
    });

    it('keeps all values of a version that does not fit into one batch', { tags: ['nightly'] }, async () => {
      const values = Array.from({ length: 1_200 }, (_, n) => `d${n}.test-feed.net`);
      await harness.load(await stixVersion(200, 0, [WRONG, ...values]));
      await harness.load(await stixVersion(200, 1, values));
      expect((await harness.get('/api/v1/indicators')).json().total).toBe(values.length);
      const before = await revision();
      await harness.load(await stixVersion(200, 1, values));
      expect(await revision()).toBe(before);
    });

    it('is not changed above the TLP ceiling of the importer', async () => {
      await harness.load(await stixVersion(200, 0, [WRONG]), 'Test', { tlp: 'RED' });
      const marked = (await stixVersion(200, 1, [RIGHT])).map((record) => ({
        ...record,
        tlp: 'GREEN' as const,
      }));
      await harness.load(marked as ImportRecord[], 'Test', {}, 'GREEN');
      expect(await listed()).toEqual([RIGHT, WRONG]);
    });

    it.each(WAYS)(
      'gets its earlier value back when the correction in %s is undone',
      { tags: ['nightly'] },
      async (_, version) => {
        const undo = async (id: string) => {
          await startUndo(harness.db, id, BY);
          await runPendingUndos(harness.db, { now: () => NOW });
        };
        await harness.loadRun(await version(200, 0, [WRONG]), 'A');
        const second = await harness.loadRun(await version(200, 1, [RIGHT]), 'A');
        const third = await harness.loadRun(await version(200, 1, [RIGHT]), 'A');
        await undo(second);
        expect([await listed(), await blocked()]).toEqual([[RIGHT], [RIGHT]]);
        await undo(third);
        expect([await listed(), await blocked()]).toEqual([[WRONG], [WRONG]]);
      },
    );

    it('is listed with its earlier value when that is imported again after the correction was undone', {
      tags: ['nightly'],
    }, async () => {
      const second = await harness.loadRun(await stixVersion(200, 1, [RIGHT]), 'A');
      await harness.loadRun(await stixVersion(200, 0, [WRONG]), 'A');
      await startUndo(harness.db, second, BY);
      await runPendingUndos(harness.db, { now: () => NOW });
      await harness.loadRun(await stixVersion(200, 0, [WRONG]), 'A');
      expect([await listed(), await blocked()]).toEqual([[WRONG], [WRONG]]);
    });
  });

  describe('a changed comment', () => {
    const stating = (description: string, statedAt: string) =>
      indicatorRecord('DOMAIN', 'evil.example', {
        records: [{ id: `indicator--${uuid(1)}`, statedAt, description }],
      });

    it.each(['stix', 'misp'])('changes the %s export, and repeating it changes nothing', async (format) => {
      await harness.load([stating('one', '2026-05-01T00:00:00.000Z')]);
      const before = await etagOf(format);
      await harness.load([stating('two', '2026-05-02T00:00:00.000Z')]);
      const after = await etagOf(format);
      expect(after).not.toBe(before);
      await harness.load([stating('two', '2026-05-02T00:00:00.000Z')]);
      await harness.load([stating('one', '2026-05-01T00:00:00.000Z')]);
      expect(await etagOf(format)).toBe(after);
      expect((await harness.get(`/api/v1/exports/${format}`)).body).toContain('two');
    });

    it('is undone with its import, and the exports show it', async () => {
      await harness.loadRun([stating('one', '2026-05-01T00:00:00.000Z')], 'A');
      const second = await harness.loadRun([stating('two', '2026-05-02T00:00:00.000Z')], 'A');
      const before = await etagOf('stix');
      await startUndo(harness.db, second, BY);
      await runPendingUndos(harness.db, { now: () => NOW });
      expect(await etagOf('stix')).not.toBe(before);
      expect((await contextOf('DOMAIN', 'evil.example')).records).toMatchObject([{ description: 'one' }]);
    });

    it('goes with its source, and the exports show it', async () => {
      await harness.load([indicatorRecord('DOMAIN', 'evil.example')], 'A');
      await harness.load([{ ...stating('two', '2026-05-02T00:00:00.000Z'), confidence: 1 }], 'B');
      const before = await etagOf('stix');
      await startRemoval(harness.db, await requireSource(harness.db, 'B'), BY);
      await runPendingRemovals(harness.db, { now: () => NOW });
      expect(await etagOf('stix')).not.toBe(before);
      expect((await contextOf('DOMAIN', 'evil.example')).records).toEqual([]);
    });
  });

  describe('a STIX bundle', () => {
    it('gives back what STIX and MISP sources said', async () => {
      await loadEvent();
      await loadBundle();
      const bundle = await exported('stix?include=context');
      const records = await recordsOf(stixImporter, JSON.stringify(bundle));
      const given = [...(await recordsOf(mispImporter, EVENT)), ...(await recordsOf(stixImporter, BUNDLE))];
      const textsOf = (from: ImportRecord[]) =>
        ofKind(from, 'indicator')
          .flatMap(({ value, records: said = [] }) => said.map((one) => ({ value, ...one })))
          .sort((a, b) => (`${a.value} ${a.id}` < `${b.value} ${b.id}` ? -1 : 1));
      expect(textsOf(records)).toEqual(textsOf(given));
      const attributesOf = (from: ImportRecord[]) =>
        ofKind(from, 'attribute')
          .map(({ type, name, value, description, category, forDetection, killChainPhases, object }) => {
            return { type, name, value, description, category, forDetection, killChainPhases, object };
          })
          .sort((a, b) => (`${a.type} ${a.value}` < `${b.type} ${b.value}` ? -1 : 1));
      expect(attributesOf(records)).toEqual(attributesOf(given));
      const reportsOf = (from: ImportRecord[]) =>
        ofKind(from, 'report')
          .map(({ title, description, publishedAt, authors, links, tags }) => {
            return { title, description, publishedAt, authors, links, tags };
          })
          .sort((a, b) => (a.title < b.title ? -1 : 1));
      expect(reportsOf(records)).toEqual(reportsOf(given));
    });

    it('refers from reports and notes to objects that are in it', async () => {
      await loadEvent();
      await loadBundle();
      const { objects } = await exported('stix?include=context&ids=original');
      const ids = new Set(objects.map(({ id }: { id: string }) => id));
      expect(ids.size).toBe(objects.length);
      const refs = objects.flatMap(({ object_refs = [] }: { object_refs?: string[] }) => object_refs);
      expect(refs.length).toBeGreaterThan(10);
      expect(refs.filter((id: string) => !ids.has(id))).toEqual([]);
    });

    it('keeps the ids and times of records that give one indicator, if asked to', async () => {
      await loadBundle();
      await loadEvent();
      const own = await exported('stix?type=DOMAIN');
      const original = await exported('stix?type=DOMAIN&ids=original');
      const [ours] = own.objects.filter(({ type }: { type: string }) => type === 'indicator');
      const [theirs] = original.objects.filter(({ type }: { type: string }) => type === 'indicator');
      expect(ours.id).toBe(`indicator--${indicatorId('DOMAIN', 'evil.example')}`);
      // That of the source that determines the confidence; both have the same, and CERT saw it first.
      expect(theirs).toMatchObject({ id: `indicator--${uuid(11)}`, modified: '2026-05-17T06:40:00.000Z' });
      expect(theirs.created_by_ref).toBeUndefined();
      const files = await exported('stix?types=FILENAME,SHA1&ids=original');
      expect(JSON.stringify(files)).not.toContain(`"id":"indicator--${uuid(12)}","created`);
    });
  });

  describe('MISP events by report', () => {
    const events = async (query = '', key?: string) =>
      (await exported(`misp?group=report${query}`, key)).response.map(
        ({ Event }: { Event: object }) => Event,
      );

    it('give back the event, with its objects and texts', async () => {
      await loadEvent();
      const [event] = await events('&ids=original');
      expect(event).toMatchObject({
        uuid: uuid(1),
        info: 'Operation Example',
        date: '2026-05-01',
        EventReport: [{ uuid: uuid(30), name: 'Analysis', content: '# How it came' }],
      });
      const names = event.Tag.map(({ name }: { name: string }) => name);
      expect(names).toEqual(['tlp:green', 'osint', 'misp-galaxy:threat-actor="Example Bear"']);
      const written = (
        list: { uuid: string; type: string; value: string; comment: string; category: string }[],
      ) =>
        list
          .map(({ uuid: id, type, value, comment, category }) => [id, type, value, comment, category])
          .sort();
      const given = EVENT.Event.Attribute.filter(({ type }) => !type.includes('|'));
      const single = event.Attribute.filter(({ uuid: id }: { uuid: string }) =>
        given.some((one) => one.uuid === id),
      );
      expect(written(single)).toEqual(written(given));
      const [object] = event.Object;
      expect(object).toMatchObject({
        uuid: uuid(20),
        name: 'file',
        comment: 'Loader',
        template_uuid: uuid(21),
      });
      expect(written(object.Attribute)).toEqual(written(EVENT.Event.Object[0]?.Attribute ?? []));
      // The two halves of a composite, and the page of the report here.
      expect(event.Attribute).toHaveLength(given.length + 3);
    });

    it('have uuids of their own, and say which event they repeat', { tags: ['nightly'] }, async () => {
      await loadEvent();
      const [event] = await events();
      expect(event.uuid).not.toBe(uuid(1));
      expect(event.extends_uuid).toBe(uuid(1));
      const uuids = JSON.stringify([event.Attribute, event.Object, event.EventReport]);
      expect(EVENT.Event.Attribute.filter((one) => uuids.includes(`"uuid":"${one.uuid}"`))).toEqual([]);
    });

    it('repeat an indicator in each of its reports, and list those of none', {
      tags: ['nightly'],
    }, async () => {
      await harness.load([
        reportRecord('One', { externalIds: [`report--${uuid(1)}`] }),
        reportRecord('Two', { externalIds: [`report--${uuid(2)}`] }),
        ...Array.from({ length: 600 }, (_, n) =>
          indicatorRecord('DOMAIN', `d${n}.evil.example`, { externalIds: [`i:${n}`] }),
        ),
        ...[0, 1, 2].map((n) => relationshipRecord(`report--${uuid(1)}`, 'refers-to', `i:${n}`)),
        ...[2, 3].map((n) => relationshipRecord(`report--${uuid(2)}`, 'refers-to', `i:${n}`)),
      ]);
      const sizes = (await events()).map(
        ({ info, Attribute }: { info: string; Attribute: { type: string }[] }) =>
          [info, Attribute.filter(({ type }) => type === 'domain').length] as const,
      );
      expect(Object.fromEntries(sizes)).toEqual({
        'Tipline: indicators without a report': 596,
        One: 3,
        Two: 2,
      });
    });

    it('have neither reports nor attributes above the TLP ceiling', async () => {
      await harness.load([
        reportRecord('Open', { externalIds: [`report--${uuid(1)}`] }),
        reportRecord('Secret', { externalIds: [`report--${uuid(2)}`], tlp: 'RED' }),
        attributeRecord('text', 'secret text', { externalIds: ['a:1'], tlp: 'RED' }),
        indicatorRecord('DOMAIN', 'evil.example', { externalIds: ['i:1'] }),
        relationshipRecord(`report--${uuid(1)}`, 'refers-to', 'i:1'),
        relationshipRecord(`report--${uuid(2)}`, 'refers-to', 'i:1'),
        relationshipRecord(`report--${uuid(1)}`, 'refers-to', 'a:1'),
      ]);
      const key = await harness.newKey({ tlpCeiling: 'AMBER' });
      for (const query of ['misp?group=report', 'stix?include=context']) {
        const text = JSON.stringify(await exported(query, key));
        expect(text).toContain('Open');
        expect(text).not.toMatch(/secret/i);
      }
      const [open] = await events();
      expect(open.Tag[0].name).toBe('tlp:red');
    });
  });

  describe('links that are more restricted than their ends', () => {
    const loadLinked = () =>
      harness.load([
        reportRecord('Open', { externalIds: [`report--${uuid(1)}`], tlp: 'GREEN' }),
        attributeRecord('text', 'a text', { externalIds: [`x-misp-attribute--${uuid(2)}`], tlp: 'GREEN' }),
        indicatorRecord('DOMAIN', 'evil.example', { externalIds: ['i:1'], tlp: 'GREEN' }),
        relationshipRecord(`report--${uuid(1)}`, 'refers-to', 'i:1', { tlp: 'RED' }),
        relationshipRecord(`report--${uuid(1)}`, 'refers-to', `x-misp-attribute--${uuid(2)}`, {
          tlp: 'GREEN',
        }),
      ]);

    it('mark the MISP event and its entry in the feed', async () => {
      await loadLinked();
      const { response } = await exported('misp?group=report');
      expect(response[0].Event.Tag[0].name).toBe('tlp:red');
      const manifest = (await harness.get('/api/v1/feeds/misp/by-report/manifest.json')).json();
      const entries = Object.values<{ Tag: { name: string }[] }>(manifest);
      expect(entries.map(({ Tag }) => Tag[0]?.name)).toEqual(['tlp:red']);
    });

    it('mark the STIX report, and the bundle has every marking that it uses', async () => {
      await loadLinked();
      const { objects } = await exported('stix?include=context');
      const ids = new Set(objects.map(({ id }: { id: string }) => id));
      const marks = objects.flatMap(({ object_marking_refs = [] }) => object_marking_refs);
      expect(marks.filter((id: string) => !ids.has(id))).toEqual([]);
      const marking = (id: string) => objects.find((one: { id: string }) => one.id === id)?.name;
      const report = objects.find(({ type }: { type: string }) => type === 'report');
      expect(report.object_marking_refs.map(marking)).toEqual(['TLP:RED']);
    });
  });

  it.each([
    ['misp?group=report', 'report'],
    ['misp?group=campaign', 'campaign'],
    ['stix?include=context', 'report'],
  ] as const)('%s has another ETag when only a link to a %s is new', async (query, kind) => {
    const container =
      kind === 'report'
        ? reportRecord('One', { externalIds: ['c:1'] })
        : campaignRecord('One', { externalIds: ['c:1'] });
    const link =
      kind === 'report'
        ? relationshipRecord('c:1', 'refers-to', 'i:2')
        : relationshipRecord('i:2', 'indicates', 'c:1');
    const other =
      kind === 'report'
        ? relationshipRecord('c:1', 'refers-to', 'i:1')
        : relationshipRecord('i:1', 'indicates', 'c:1');
    const named = ['one.example', 'two.example'].map((value, n) =>
      indicatorRecord('DOMAIN', value, { externalIds: [`i:${n + 1}`] }),
    );
    await harness.load([container, ...named, other]);
    const before = await etagOf(query);
    await harness.load([link]);
    expect(await etagOf(query)).not.toBe(before);
  });

  it('the MISP feed by campaign moves an event when the campaign is renamed', async () => {
    const load = (name: string) =>
      harness.load([
        campaignRecord(name, { externalIds: ['c:1'], statedAt: harness.clock.now }),
        indicatorRecord('DOMAIN', 'evil.example', { externalIds: ['i:1'] }),
        relationshipRecord('i:1', 'indicates', 'c:1'),
      ]);
    const manifest = async () => (await harness.get('/api/v1/feeds/misp/by-campaign/manifest.json')).json();
    await load('Old name');
    const before = await manifest();
    harness.clock.now = new Date(NOW.getTime() + 60_000);
    await load('New name');
    const [id = ''] = Object.keys(before);
    const after = (await manifest())[id];
    expect(after.info).toBe('New name');
    expect(Number(after.timestamp)).toBeGreaterThan(Number(before[id].timestamp));
  });

  it('the MISP feed answers many requests for events at once', { tags: ['nightly'] }, async () => {
    await loadEvent();
    const feed = '/api/v1/feeds/misp/by-report';
    const [id] = Object.keys((await harness.get(`${feed}/manifest.json`)).json());
    const answers = await Promise.all(Array.from({ length: 40 }, () => harness.get(`${feed}/${id}.json`)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 40 }, () => 200));
  });

  it.each([
    ['source', ['CERT', 'Labs']],
    ['campaign', ['Tipline: indicators without a campaign']],
    ['number', ['Tipline: indicators 0 to 1999']],
  ])('MISP events by %s are named after it', { tags: ['nightly'] }, async (group, names) => {
    await loadEvent();
    await loadBundle();
    const { response } = await exported(`misp?group=${group}`);
    expect(response.map(({ Event }: { Event: { info: string } }) => Event.info).sort()).toEqual(names);
  });

  describe.each(['source', 'campaign', 'report'] as const)('the MISP feed by %s', (group) => {
    const feed = `/api/v1/feeds/misp/by-${group}`;
    const manifest = async (key?: string) =>
      (await harness.get(`${feed}/manifest.json`, key ? { key } : {})).json<
        Record<string, { timestamp: string }>
      >();

    it('has a manifest, events and hashes that agree', { tags: ['nightly'] }, async () => {
      await loadEvent();
      await loadBundle();
      await harness.load(
        Array.from({ length: 2_500 }, (_, n) => indicatorRecord('DOMAIN', `d${n}.evil.example`)),
        'Many',
      );
      const entries = Object.entries(await manifest());
      expect(entries.length).toBeGreaterThan(1);
      const values = new Set<string>();
      for (const [id, entry] of entries) {
        const { Event } = (await harness.get(`${feed}/${id}.json`)).json();
        expect(Event).toMatchObject({ uuid: id, ...entry });
        const parts = Event.Object?.flatMap(({ Attribute }: { Attribute: object[] }) => Attribute) ?? [];
        for (const { value } of [...Event.Attribute, ...parts]) values.add(value);
      }
      const total = Number((await harness.get('/api/v1/exports/misp')).headers['x-total-count']);
      const { data } = (await harness.get('/api/v1/indicators?pageSize=500')).json();
      expect(data.filter(({ value }: { value: string }) => !values.has(value))).toEqual([]);
      const hashes = (await harness.get(`${feed}/hashes.csv`)).body.trimEnd().split('\n');
      expect(hashes.length).toBeGreaterThanOrEqual(total);
      const listed = new Set(hashes.map((line) => line.split(',')[1]));
      expect([...listed].sort()).toEqual(entries.map(([id]) => id).sort());
    });

    it('moves only the event that changes', async () => {
      await loadEvent();
      await harness.load([indicatorRecord('DOMAIN', 'other.example')], 'Other');
      const before = await manifest();
      harness.clock.now = new Date(NOW.getTime() + 60_000);
      await harness.load([indicatorRecord('DOMAIN', 'other.example', { tags: ['new'] })], 'Other');
      const after = await manifest();
      const moved = Object.keys(after).filter((id) => after[id]?.timestamp !== before[id]?.timestamp);
      expect(moved).toHaveLength(1);
      // Without a campaign both indicators are in one event.
      expect(Object.keys(after)).toHaveLength(group === 'campaign' ? 1 : 2);
    });
  });

  it('the MISP feed by report moves an event when only its texts change', async () => {
    const report = reportRecord('One', { externalIds: [`report--${uuid(1)}`] });
    const text = (value: string, statedAt: Date) =>
      attributeRecord('text', value, { externalIds: [`x-misp-attribute--${uuid(2)}`], statedAt });
    await harness.load([
      report,
      text('one', NOW),
      indicatorRecord('DOMAIN', 'evil.example', { externalIds: ['i:1'] }),
      relationshipRecord(`report--${uuid(1)}`, 'refers-to', 'i:1'),
      relationshipRecord(`report--${uuid(1)}`, 'refers-to', `x-misp-attribute--${uuid(2)}`),
    ]);
    const manifest = async () => (await harness.get('/api/v1/feeds/misp/by-report/manifest.json')).json();
    const before = await manifest();
    harness.clock.now = new Date(NOW.getTime() + 60_000);
    await harness.load([text('two', harness.clock.now)]);
    const [id = ''] = Object.keys(before);
    expect(Number((await manifest())[id].timestamp)).toBeGreaterThan(Number(before[id].timestamp));
    expect((await harness.get(`/api/v1/feeds/misp/by-report/${id}.json`)).body).toContain('two');
  });
});
