import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ENTITY_RULES } from '../../src/entities/resolution/entity-kinds.ts';
import type { EntityState } from '../../src/entities/resolution/entity-state.ts';
import { type EntityStatement, hasOwnUuid } from '../../src/entities/resolution/entity-statement.ts';
import { groupObjects } from '../../src/entities/resolution/group-objects.ts';
import {
  mergeEntities,
  resolveEntity,
  type StatedObject,
  sameEntity,
} from '../../src/entities/resolution/merge-entities.ts';
import { TLPS, type Tlp } from '../../src/model/vocabulary.ts';
import { runs } from '../properties/runs.ts';

const rules = ENTITY_RULES.actor;
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 2 });
const date = fc.constantFrom(...['2025-01-01', '2025-06-01', '2026-01-01'].map((day) => new Date(day)));
/** As records are: with a prototype. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
const alias = record({
  alias: fc.constantFrom('Pawn', 'PAWN', 'Bear', 'Fancy', 'Storm'),
  namedBy: maybe(fc.constantFrom('Vendor', 'Another')),
});

const state: fc.Arbitrary<EntityState> = record<EntityState>({
  id: fc.constant('object'),
  sourceId: fc.constant('source'),
  statedAt: maybe(date),
  tlp: fc.constantFrom(...TLPS),
  confidence: fc.constantFrom(10, 90),
  columns: record({
    name: fc.constantFrom('Bear', 'BEAR', 'Fancy'),
    aliases: fc.array(alias, { maxLength: 3 }),
    attack_group_id: maybe(fc.constantFrom('G0001', 'G0002')),
    description: maybe(fc.constantFrom('one', 'two')),
    country: maybe(fc.constantFrom('DE', 'FR')),
    motivation: fc.constantFrom('UNKNOWN', 'FINANCIAL', 'ESPIONAGE'),
    retired: fc.boolean(),
    target_sectors: fc.uniqueArray(fc.constantFrom('energy', 'finance'), { maxLength: 2 }),
  }),
});

const object: fc.Arbitrary<StatedObject> = record<StatedObject>({
  state,
  externalIds: fc.uniqueArray(fc.constantFrom('id:a', 'id:b', 'id:c'), { maxLength: 2 }),
});

const at = (day: string) => new Date(`${day}T00:00:00.000Z`);
const said = (fields: Partial<EntityState>, columns: EntityState['columns'] = {}): EntityState => ({
  id: 'object',
  sourceId: 'source',
  statedAt: null,
  tlp: 'CLEAR',
  confidence: 50,
  ...fields,
  columns: {
    name: 'Bear',
    aliases: [],
    description: null,
    motivation: 'UNKNOWN',
    retired: false,
    ...columns,
  },
});

describe('merging statements of one source about an object', () => {
  const named = (
    externalIds: string[],
    fields: Partial<EntityState>,
    columns: EntityState['columns'] = {},
  ): StatedObject => ({ externalIds, state: said(fields, columns) });

  it('is commutative, associative and idempotent', () => {
    const expectSame = (a: StatedObject, b: StatedObject) => {
      expect(sameEntity(a.state, b.state), JSON.stringify([a, b])).toBe(true);
      expect(a.externalIds).toEqual(b.externalIds);
    };
    const property = fc.property(object, object, object, (a, b, c) => {
      expectSame(mergeEntities(a, b), mergeEntities(b, a));
      expectSame(mergeEntities(mergeEntities(a, b), c), mergeEntities(a, mergeEntities(b, c)));
      expectSame(mergeEntities(mergeEntities(a, b), a), mergeEntities(a, b));
    });
    fc.assert(property, runs(2_000));
  });

  it('survives storage as JSON', () => {
    const property = fc.property(object, object, object, (a, b, c) => {
      const merged = mergeEntities(a, b);
      const stored: StatedObject = JSON.parse(JSON.stringify(merged));
      stored.state.statedAt = merged.state.statedAt;
      expect(mergeEntities(stored, c)).toEqual(mergeEntities(merged, c));
    });
    fc.assert(property, runs(500));
  });

  it('prefers the later statement, and fills its gaps from the earlier one', () => {
    const earlier = named([], { statedAt: at('2025-01-01') }, { description: 'old', country: 'DE' });
    const later = named([], { statedAt: at('2026-01-01'), confidence: 70 }, { description: 'new' });
    expect(mergeEntities(earlier, later).state).toMatchObject({
      statedAt: at('2026-01-01'),
      confidence: 70,
      columns: { description: 'new', country: 'DE' },
    });
  });

  it('uses the TLP of the latest statement, and omits more restricted content', () => {
    const secret = named(
      ['id:both', 'id:secret'],
      { statedAt: at('2025-01-01'), tlp: 'RED' },
      { description: 'secret' },
    );
    const open = named(['id:both', 'id:open'], { statedAt: at('2026-01-01') });
    expect(mergeEntities(secret, open)).toMatchObject({
      externalIds: ['id:both', 'id:open'],
      state: { tlp: 'CLEAR', columns: { description: null } },
    });
    const closed = named([], { statedAt: at('2027-01-01'), tlp: 'RED' });
    expect(mergeEntities(mergeEntities(secret, open), closed)).toMatchObject({
      externalIds: ['id:both', 'id:open', 'id:secret'],
      state: { tlp: 'RED', columns: { description: 'secret' } },
    });
  });
});

const statement = (
  objectId: string,
  sourceName: string,
  fields: Partial<EntityState> = {},
  columns: EntityState['columns'] = {},
  externalIds: string[] = [],
): EntityStatement => ({
  objectId,
  entityId: null,
  sourceName,
  externalIds,
  firstImportedAt: at('2026-06-01'),
  state: said({ id: objectId, sourceId: sourceName, ...fields }, columns),
});

describe('a resolved entity', () => {
  it('prefers ATT&CK for its own objects, whatever the confidence of others', () => {
    const uuid = '00000000-0000-4000-8000-000000000001';
    const attack = [`intrusion-set--${uuid}`];
    const tagged = [...attack, 'misp-galaxy:mitre-intrusion-set="Bears - G0001"'];
    const shown = resolveEntity(
      uuid,
      [
        statement(
          uuid,
          'Events',
          { confidence: 90, statedAt: at('2018-01-01') },
          { name: 'Old', attack_group_id: 'G0001' },
          tagged,
        ),
        statement('x', 'Vendor', { confidence: 99 }, { name: 'Blizzard' }),
        statement(
          uuid,
          'ATT&CK',
          { confidence: 50, statedAt: at('2026-01-01') },
          { name: 'APT', attack_group_id: 'G0001' },
          attack,
        ),
      ],
      rules,
    );
    expect(shown).toMatchObject({ sourceId: 'ATT&CK', statedAt: at('2026-01-01'), columns: { name: 'APT' } });
    expect(shown.columns.aliases).toEqual([
      { alias: 'Blizzard', namedBy: null },
      { alias: 'Old', namedBy: null },
    ]);
  });

  it.each<[string, Partial<EntityState>, Partial<EntityState>]>([
    ['the more confident', { confidence: 90 }, { confidence: 10, statedAt: at('2001-01-01') }],
    ['the earlier of equals', { statedAt: at('2020-01-01') }, { statedAt: at('2021-01-01') }],
    ['a dated one before an undated one', { statedAt: at('2020-01-01') }, {}],
    ['else the first by name', {}, {}],
  ])('prefers %s', (_, deciding, other) => {
    const all = [
      statement('x', 'A', deciding, { name: 'Right' }),
      statement('y', 'B', other, { name: 'Other' }),
    ];
    for (const order of [all, [...all].reverse()]) {
      expect(resolveEntity('x', order, rules)).toMatchObject({ sourceId: 'A', columns: { name: 'Right' } });
    }
  });

  it('does not prefer a source that has withdrawn an object others still describe', () => {
    const [own, other] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
    const withdrawn = { name: 'Pencil', attack_group_id: 'G0086', retired: true };
    const attack = statement(own, 'ATT&CK', { confidence: 90 }, withdrawn, [`intrusion-set--${own}`]);
    const galaxy = statement(other, 'Galaxy', {}, { name: 'Kim', attack_group_id: 'G0086' }, [
      `intrusion-set--${other}`,
    ]);
    const repeated = statement(own, 'Events', {}, { name: 'Pencil' }, [`intrusion-set--${own}`]);
    const label = statement('x', 'Events', {}, { name: 'Pencil' });
    expect(resolveEntity(own, [attack, galaxy], rules).columns).toMatchObject({
      name: 'Kim',
      retired: false,
    });
    expect(resolveEntity(own, [repeated, attack, label], rules).columns).toMatchObject({ retired: true });
  });

  it('fills gaps from other statements, and credits who assigned a name', () => {
    const shown = resolveEntity(
      'x',
      [
        statement('x', 'A', { confidence: 90 }, { aliases: [{ alias: 'Pawn', namedBy: null }] }),
        statement(
          'y',
          'B',
          {},
          { name: 'pawn', aliases: [{ alias: 'pawn', namedBy: 'Maker' }], description: 'text' },
        ),
      ],
      rules,
    );
    expect(shown.columns).toMatchObject({ name: 'Bear', description: 'text' });
    expect(shown.columns.aliases).toEqual([{ alias: 'pawn', namedBy: 'Maker' }]);
  });

  it('uses only the statements of the widest audience', () => {
    const shown = resolveEntity(
      'x',
      [
        statement('x', 'A', { tlp: 'RED', confidence: 99 }, { name: 'Secret', description: 'secret' }),
        statement('y', 'B', { tlp: 'GREEN' }, { name: 'Open' }),
      ],
      rules,
    );
    expect(shown).toMatchObject({
      tlp: 'GREEN',
      sourceId: 'B',
      columns: { name: 'Open', description: null },
    });
    expect(shown.columns.aliases).toEqual([]);
  });

  it('does not depend on the order of statements', () => {
    const one = fc.record({
      state,
      source: fc.constantFrom('A', 'B', 'C'),
      object: fc.constantFrom('x', 'y', 'z'),
    });
    const several = fc.uniqueArray(one, {
      minLength: 1,
      maxLength: 5,
      selector: ({ source, object }) => `${source} ${object}`,
    });
    const property = fc.property(several, fc.infiniteStream(fc.nat()), (all, keys) => {
      const statements = all.map(({ state: { columns, ...fields }, source, object }) =>
        statement(object, source, { ...fields, id: object, sourceId: source }, columns),
      );
      const shuffled = statements
        .map((item) => ({ item, key: keys.next().value }))
        .sort((a, b) => a.key - b.key);
      expect(
        resolveEntity(
          'x',
          shuffled.map(({ item }) => item),
          rules,
        ),
      ).toEqual(resolveEntity('x', statements, rules));
    });
    fc.assert(property, runs(1_000));
  });
});

describe('entity matching', () => {
  const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
  const cluster = (n: number, name: string, aliases: string[] = [], attack: string | null = null) =>
    statement(uuid(n), 'Galaxy', {}, columns(name, aliases, attack), [
      `intrusion-set--${uuid(n)}`,
      `misp-galaxy:threat-actor="Cluster ${n}"`,
    ]);
  const label = (id: string, name: string, aliases: string[] = [], tlp: Tlp = 'CLEAR', source = 'Vendor') =>
    statement(id, source, { tlp }, columns(name, aliases));
  const columns = (name: string, aliases: string[] = [], attack: string | null = null) => ({
    name,
    aliases: aliases.map((one) => ({ alias: one, namedBy: null })),
    attack_group_id: attack,
  });
  const group = (...statements: EntityStatement[]) => {
    const objects = new Map<string, EntityStatement[]>();
    for (const one of statements) objects.set(one.objectId, [...(objects.get(one.objectId) ?? []), one]);
    const entities = new Map<string, string[]>();
    for (const [object, entity] of groupObjects(objects, rules, new Set()))
      entities.set(entity, [...(entities.get(entity) ?? []), object].sort());
    return [...entities.values()].sort();
  };

  it('uses an unambiguous name, however it is written', () => {
    expect(group(cluster(1, 'APT28', ['Fancy Bear']), label('v', 'Forest', ['apt-28']))).toEqual([
      [uuid(1), 'v'],
    ]);
  });

  it('ignores a name shared by two objects of one galaxy', () => {
    const [one, two] = [cluster(1, 'One', ['Shared']), cluster(2, 'Two', ['Shared'])];
    expect(group(one, two, label('v', 'Shared'))).toEqual([[uuid(1)], [uuid(2)], ['v']]);
  });

  it('does not assign an object whose names belong to two others', () => {
    const [one, two] = [cluster(1, 'One'), cluster(2, 'Two')];
    expect(group(one, two, label('v', 'Both', ['One', 'Two']))).toEqual([[uuid(1)], [uuid(2)], ['v']]);
  });

  it('prefers the ATT&CK id over names, and never merges two ATT&CK ids', () => {
    const attack = (n: number, name: string, id: string) =>
      statement(uuid(n), 'ATT&CK', {}, columns(name, [], id), [`intrusion-set--${uuid(n)}`]);
    expect(group(cluster(1, 'Naikon', [], 'G0013'), attack(5, 'Naikon', 'G0019'))).toEqual([
      [uuid(1)],
      [uuid(5)],
    ]);
    expect(group(cluster(1, 'Bears', [], 'G0007'), attack(5, 'Sofacy', 'G0007'))).toEqual([
      [uuid(1), uuid(5)],
    ]);
    const claims = [
      cluster(1, 'Naikon', [], 'G0013'),
      cluster(2, 'APT30', [], 'G0013'),
      attack(5, 'APT30', 'G0013'),
    ];
    expect(group(...claims)).toEqual([[uuid(1)], [uuid(2), uuid(5)]]);
  });

  it('prefers primary names over aliases', () => {
    const attack = (n: number, name: string, aliases: string[]) =>
      statement(uuid(n), 'ATT&CK', {}, columns(name, aliases, `G000${n}`), [`intrusion-set--${uuid(n)}`]);
    const broad = cluster(1, 'Lazarus', ['Zinc', 'Bluenoroff']);
    const [narrow, other] = [attack(5, 'Lazarus', ['Zinc']), attack(6, 'APT38', ['Bluenoroff'])];
    expect(group(broad, narrow, other)).toEqual([[uuid(1), uuid(5)], [uuid(6)]]);
    expect(group(broad, cluster(2, 'Two', ['Lazarus']), narrow)).toEqual([[uuid(1), uuid(5)], [uuid(2)]]);
    const alone = attack(5, 'Lazarus', []);
    expect(group(broad, cluster(2, 'Two', ['Lazarus']), alone)).toEqual([[uuid(1)], [uuid(2)], [uuid(5)]]);
  });

  it('ignores names withdrawn by their source', () => {
    const withdrawn = cluster(2, 'Dukes');
    withdrawn.state.columns.retired = true;
    expect(group(cluster(1, 'Cozy', ['Dukes']), withdrawn, label('v', 'Dukes'))).toEqual([
      [uuid(1), 'v'],
      [uuid(2)],
    ]);
  });

  it('of public objects ignores more restricted statements', () => {
    const [one, two] = [label('v', 'One'), label('w', 'Two', [], 'CLEAR', 'Other')];
    const bridge = label('x', 'Own', ['One', 'Two'], 'RED', 'Partner');
    expect(group(one, two, bridge)).toEqual([['v'], ['w'], ['x']]);
    const same = label('w', 'Two', ['One'], 'CLEAR', 'Other');
    const twice = [label('x', 'One', [], 'RED', 'Partner'), label('y', 'Own', ['One'], 'RED', 'Partner')];
    expect(group(one, same, ...twice)).toEqual([['v', 'w'], ['x'], ['y']]);
  });

  it("assigns an event with only a tag to the tag's cluster", () => {
    const tagged = statement('t', 'Events', {}, columns('Cluster 1'), [
      'misp-galaxy:threat-actor="Cluster 1"',
    ]);
    const renamed = statement('u', 'Events', {}, columns('Old name'), [
      'misp-galaxy:threat-actor="Old name"',
    ]);
    expect(group(cluster(1, 'New name', ['Old name']), tagged, renamed)).toEqual([[uuid(1), 't', 'u']]);
    expect(hasOwnUuid(tagged)).toBe(false);
  });
});
