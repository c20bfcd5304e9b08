import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compareTlp } from '../../src/model/statement.ts';
import { runs } from '../properties/runs.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { actorRecord, campaignRecord, relationshipRecord, softwareRecord } from '../support/records.ts';
import { type Said, WORLD_SOURCES, worlds } from './entity-worlds.ts';

const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const ids = (n: number) => [`intrusion-set--${uuid(n)}`];
const aliases = (...names: string[]) => names.map((alias) => ({ alias, namedBy: null }));

onEveryEngine((engine) => {
  let harness: Harness;
  beforeAll(async () => void (harness = await startHarness(engine)));
  beforeEach(clear);
  afterAll(() => harness.close());

  async function clear(): Promise<void> {
    await sql`truncate actor, campaign, technique, software, report, relationship, external_id`.execute(
      harness.db,
    );
    await sql`truncate indicator, indicator_source cascade`.execute(harness.db);
  }

  /** Which objects are one, what is shown of them, and which ids elsewhere stand for them. */
  async function world() {
    const { rows: objects } = await sql<{ object_id: string; entity_id: string }>`
      select distinct object_id, entity_id from entity_source order by 1, 2`.execute(harness.db);
    const { rows: shown } = await sql<{ row: Record<string, unknown> }>`
      select to_jsonb(a) - '{created_at,modified_at,revision,change_number}'::text[] as row from actor as a order by id
    `.execute(harness.db);
    const { rows: named } = await sql`
      select external_id, entity_id from external_id where entity_kind = 'actor' order by 1, 2`.execute(
      harness.db,
    );
    return { objects, shown, named };
  }

  async function load(all: readonly Said[], cuts: readonly boolean[]): Promise<void> {
    let file: Said[] = [];
    for (const [i, said] of all.entries()) {
      if (file[0] && (file[0].source !== said.source || cuts[i % cuts.length])) {
        await loadFile(file);
        file = [];
      }
      file.push(said);
    }
    await loadFile(file);
  }

  async function loadFile(file: readonly Said[]) {
    const source = file[0]?.source ?? 'Vendor';
    return harness.load(
      file.map(({ record }) => record),
      source,
      WORLD_SOURCES[source],
    );
  }

  const names = async (key?: string) =>
    (await harness.get('/api/v1/actors', key ? { key } : {}))
      .json()
      .data.map((actor: { name: string }) => actor.name);

  it('groups entities identically, whatever the order of records and files', async () => {
    const property = fc.asyncProperty(
      worlds.chain((all) =>
        fc.tuple(
          fc.constant(all),
          fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
          fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
        ),
      ),
      async ([one, other, cuts]) => {
        await clear();
        await load(one, [false]);
        const first = await world();
        await clear();
        await load(other, cuts);
        expect(await world()).toEqual(first);
        for (const said of one) {
          expect((await loadFile([said])).kinds.get('actor')).toMatchObject({ unchanged: 1 });
        }
        expectSound(first.objects, one);
        await expectSameForMany(first, one);
      },
    );
    await fc.assert(property, runs(25));
  });

  /** No two clusters and no two of ATT&CK's groups are one. */
  function expectSound(objects: { object_id: string; entity_id: string }[], all: readonly Said[]): void {
    for (const first of ['a', 'b', 'c']) {
      const own = objects.filter(({ object_id }) => object_id.startsWith(`${first}0000000-`));
      expect(new Set(own.map(({ entity_id }) => entity_id)).size).toBe(own.length);
    }
    expect(objects.length).toBeGreaterThan(0);
    expect(objects.length).toBeLessThanOrEqual(all.length);
  }

  /** What is said to few changes nothing of what all see. */
  async function expectSameForMany(full: Awaited<ReturnType<typeof world>>, all: readonly Said[]) {
    const isPublic = ({ source, record }: Said) =>
      compareTlp(record.tlp ?? WORLD_SOURCES[source]?.tlp ?? 'RED', 'CLEAR') === 0;
    // A source that later speaks to fewer takes back what it said to all.
    const audiences = new Map<string, Set<boolean>>();
    for (const said of all) {
      const object = `${said.source} ${said.record.externalIds[0] ?? said.record.name}`;
      audiences.set(object, (audiences.get(object) ?? new Set()).add(isPublic(said)));
    }
    if ([...audiences.values()].some(({ size }) => size > 1)) return;
    const open = all.filter(isPublic);
    if (open.length === 0) return;
    await clear();
    await load(open, [false]);
    const { shown } = await world();
    expect(full.shown.filter(({ row }) => row.tlp === 'CLEAR')).toEqual(shown);
  }

  describe('a name that turns out to be ambiguous', () => {
    const a = () => actorRecord('A', { externalIds: ids(1), aliases: aliases('X'), description: 'of A' });
    const x = () => actorRecord('X', { externalIds: ['label:X'], description: 'of X', country: 'FR' });
    const b = () => actorRecord('B', { externalIds: ids(2), aliases: aliases('X') });
    const joins = [
      indicatorRecord('DOMAIN', 'one.example.com', { externalIds: ['i1'] }),
      indicatorRecord('DOMAIN', 'two.example.com', { externalIds: ['i2'] }),
    ];

    it('splits the entities that it merged, with all their statements', async () => {
      await harness.load([a(), ...joins, relationshipRecord('i1', 'indicates', ids(1)[0] ?? '')], 'First');
      await harness.load([x(), relationshipRecord('i2', 'indicates', 'label:X')], 'Second');
      expect(await names()).toEqual(['A']);
      await harness.load([b()], 'First');
      const { data } = (await harness.get('/api/v1/actors')).json();
      expect(data.map((actor: { name: string }) => actor.name)).toEqual(['A', 'B', 'X']);
      const detail = async (i: number) => (await harness.get(`/api/v1/actors/${data[i].id}`)).json().data;
      expect(await detail(0)).toMatchObject({ id: uuid(1), description: 'of A', country: null });
      expect(await detail(2)).toMatchObject({ description: 'of X', country: 'FR' });
      const indicated = async (i: number) =>
        (await harness.get(`/api/v1/indicators?actorId=${data[i].id}`))
          .json()
          .data.map(({ value }: { value: string }) => value);
      expect([await indicated(0), await indicated(1), await indicated(2)]).toEqual([
        ['one.example.com'],
        [],
        ['two.example.com'],
      ]);
    });

    it('has the same result when it was ambiguous from the start', async () => {
      const orders = [
        [
          ['First', a()],
          ['Second', x()],
          ['First', b()],
        ],
        [
          ['First', b()],
          ['First', a()],
          ['Second', x()],
        ],
        [
          ['Second', x()],
          ['First', b()],
          ['First', a()],
        ],
      ] as const;
      const results = [];
      for (const order of orders) {
        await clear();
        for (const [source, record] of order) await harness.load([record], source);
        results.push(await world());
      }
      expect(results[1]).toEqual(results[0]);
      expect(results[2]).toEqual(results[0]);
    });
  });

  describe('merged objects', () => {
    const attack = actorRecord('ATT&CK name', {
      externalIds: ids(7),
      attackGroupId: 'G0007',
      aliases: aliases('Vendor name'),
    });

    it('combine their relationships, each under its TLP marking', async () => {
      await harness.load(
        [
          actorRecord('Vendor name', { externalIds: ['label'] }),
          indicatorRecord('DOMAIN', 'one.example.com', { externalIds: ['i'] }),
          softwareRecord('Locker', { externalIds: ['s'] }),
          relationshipRecord('i', 'indicates', 'label', { tlp: 'GREEN' }),
          relationshipRecord('label', 'uses', 's'),
        ],
        'Vendor',
      );
      await harness.load([attack], 'ATT&CK');
      const [actor, ...others] = (await harness.get('/api/v1/actors')).json().data;
      expect(others).toEqual([]);
      expect(actor).toMatchObject({ id: uuid(7), name: 'ATT&CK name' });
      const { malware } = (await harness.get(`/api/v1/actors/${actor.id}`)).json().data;
      expect(malware).toMatchObject([{ name: 'Locker' }]);
      const total = async (key?: string) =>
        (await harness.get(`/api/v1/indicators?actorId=${actor.id}`, key ? { key } : {})).json().total;
      expect(await total()).toBe(1);
      expect(await total(await harness.newKey({ tlpCeiling: 'CLEAR' }))).toBe(0);
      const { rows } = await sql`select from relationship where from_id not in (
        select id from actor union select id from indicator) or to_id not in (
        select id from actor union select id from software)`.execute(harness.db);
      expect(rows).toEqual([]);
      // What names the old object still means it.
      const counts = await harness.load(
        [relationshipRecord('i', 'indicates', 'label', { tlp: 'GREEN' })],
        'Vendor',
      );
      expect(counts.kinds.get('relationship')).toMatchObject({ unchanged: 1 });
    });

    it('keep the pinned status', async () => {
      await harness.load([campaignRecord('Honey', { externalIds: ['label'] })], 'Vendor');
      await harness.db.updateTable('campaign').set({ pinned_status: 'CONCLUDED' }).execute();
      await harness.load(
        [campaignRecord('honey', { externalIds: [`campaign--${uuid(3)}`], description: 'more' })],
        'Other',
      );
      await harness.load(
        [campaignRecord('Honey', { externalIds: ['label'], statedAt: new Date('2026-05-01') })],
        'Vendor',
      );
      const { data } = (await harness.get('/api/v1/campaigns')).json();
      expect(data).toMatchObject([{ status: 'CONCLUDED', description: 'more' }]);
    });

    it('keep the pinned status when another id replaces theirs', async () => {
      await harness.load([campaignRecord('Honey', { externalIds: ['label'], tlp: 'AMBER' })], 'Vendor');
      await harness.db.updateTable('campaign').set({ pinned_status: 'CONCLUDED' }).execute();
      await harness.load([campaignRecord('Honey', { externalIds: [`campaign--${uuid(3)}`] })], 'Other');
      const { data } = (await harness.get('/api/v1/campaigns')).json();
      expect(data).toMatchObject([{ id: uuid(3), status: 'CONCLUDED', tlp: 'CLEAR' }]);
    });
  });

  it("shows the date of ATT&CK's statement, not that of an event that repeats it", async () => {
    const at = (day: string) => new Date(`${day}T00:00:00.000Z`);
    const own = { externalIds: ids(7), attackGroupId: 'G0007' };
    const repeated = [...ids(7), 'misp-galaxy:mitre-intrusion-set="Bears - G0007"'];
    const event = actorRecord('Bears', {
      ...own,
      externalIds: repeated,
      statedAt: at('2026-05-01'),
      description: 'old copy',
    });
    const attack = actorRecord('Bears', { ...own, statedAt: at('2025-01-01'), description: 'own words' });
    for (const order of [
      [event, attack],
      [attack, event],
    ]) {
      await clear();
      for (const record of order)
        await harness.load([record], record === event ? 'Events' : 'ATT&CK', {
          confidence: record === event ? 90 : 50,
        });
      const [row] = await harness.db.selectFrom('actor').select(['stated_at', 'description']).execute();
      expect(row).toEqual({ stated_at: at('2025-01-01'), description: 'own words' });
    }
  });

  it('hides external ids that a source stated for a narrower audience only, and still links them', async () => {
    const [id = ''] = ids(1);
    const stated = (day: string, tlp: 'RED' | 'GREEN', ...more: string[]) =>
      actorRecord('Bear', { externalIds: [id, ...more], tlp, statedAt: new Date(day) });
    const domain = (i: number) =>
      indicatorRecord('DOMAIN', `${i}.example.com`, { externalIds: [`i:${i}`], tlp: 'GREEN' });
    const secret = 'misp-galaxy:threat-actor="Operation Secret"';
    await harness.load([stated('2026-01-01', 'RED', secret)], 'Partner');
    await harness.load([stated('2026-02-01', 'GREEN', 'label:open'), domain(1), domain(2)], 'Partner');
    await harness.load([relationshipRecord('i:1', 'indicates', id, { tlp: 'GREEN' })], 'Partner');
    const exported = async () => {
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      const answers = ['stix?include=context', 'misp?group=actor'].map((format) =>
        harness.get(`/api/v1/exports/${format}`, { key }),
      );
      return (await Promise.all(answers)).map(({ body }) => body).join();
    };
    expect(await exported()).toContain('label:open');
    expect(await exported()).not.toContain('Operation Secret');
    const link = relationshipRecord('i:2', 'indicates', secret, { tlp: 'RED' });
    const outcomes = async (ceiling: 'RED' | 'GREEN') =>
      (await harness.load([link], 'Partner', {}, ceiling)).kinds.get('relationship');
    expect(await outcomes('GREEN')).toMatchObject({ new: 0, rejected: 1 });
    expect(await outcomes('RED')).toMatchObject({ new: 1, rejected: 0 });
    await harness.load([stated('2026-03-01', 'GREEN', secret)], 'Partner');
    expect(await exported()).toContain('Operation Secret');
  });

  it('replaces an earlier value that a source has corrected', async () => {
    const at = (day: string) => ({ externalIds: ids(1), statedAt: new Date(`${day}T00:00:00Z`) });
    await harness.load([actorRecord('Bear', { externalIds: ids(1), confidence: 90 })], 'First');
    await harness.load([actorRecord('Bear', { ...at('2026-01-01'), country: 'DE' })], 'Second');
    await harness.load([actorRecord('Bear', { ...at('2026-02-01'), country: 'FR' })], 'Second');
    expect((await harness.get('/api/v1/actors')).json().data).toMatchObject([{ country: 'FR' }]);
  });

  it('merges software with the same ATT&CK id, whatever ids a producer generates', async () => {
    const counts = await harness.load([
      softwareRecord('PlugX', { externalIds: [`malware--${uuid(1)}`], attackId: 'S0013' }),
      softwareRecord('Korplug', { externalIds: [`malware--${uuid(2)}`], attackId: 'S0013' }),
      softwareRecord('PlugX', { externalIds: [`malware--${uuid(3)}`] }),
    ]);
    expect(counts.kinds.get('software')).toMatchObject({ new: 2, updated: 1 });
  });

  it('ignores a name shared by very many actors as a match key', { tags: ['nightly'] }, async () => {
    const crowd = Array.from({ length: 70 }, (_, i) =>
      actorRecord('Unknown', { externalIds: [`label:${i}`], description: `${i}` }),
    );
    for (const [i, record] of crowd.entries()) await harness.load([record], `Source ${i % 7}`);
    expect((await harness.get('/api/v1/actors')).json().total).toBe(70);
    await clear();
    await harness.load([...crowd].reverse(), 'All');
    expect((await harness.get('/api/v1/actors')).json().total).toBe(70);
  });
});
