import { createReadStream, existsSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Importer } from '../../src/importers/importer.ts';
import { recognizeFormat } from '../../src/importers/recognize.ts';
import { createCounts } from '../../src/imports/import-context.ts';
import { importFiles } from '../../src/imports/imports.service.ts';
import { ensureSource } from '../../src/sources/store/sources.queries.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, NOW, startHarness, WIDEST } from '../support/harness.ts';
import { REAL_DATA } from '../support/real-data.ts';

const FILES: Record<string, string> = {
  Galaxy: 'actors/misp-galaxy-threat-actor.json',
  'ATT&CK': 'attack/enterprise-attack-18.1.trimmed.json',
  Microsoft: 'actors/microsoft-threat-actor-naming.json',
  ICS: 'attack/ics-attack-18.1.json',
};

/** The groups alone. */
const actorsOf = (importer: Importer): Importer => ({
  ...importer,
  async *read(input) {
    for await (const part of importer.read(input)) yield [...part].filter(({ kind }) => kind === 'actor');
  },
});

onEveryEngine((engine) => {
  let harness: Harness;
  beforeAll(async () => void (harness = await startHarness(engine)));
  beforeEach(async () => void (await sql`truncate actor, external_id`.execute(harness.db)));
  afterAll(() => harness.close());

  async function load(name: string) {
    const file = FILES[name] ?? '';
    const input = { fileName: file, open: () => createReadStream(`${REAL_DATA}/${file}`) };
    const importer = await recognizeFormat(input);
    if (!importer) throw new Error(`${file} is not recognized`);
    const defaults = { tlp: 'CLEAR', confidence: 50, severity: 'MEDIUM' } as const;
    const source = await ensureSource(harness.db, name, 'import', defaults, NOW);
    const counts = createCounts();
    await importFiles(harness.db, [{ importer: actorsOf(importer), input }], {
      source,
      now: NOW,
      dryRun: false,
      tlpCeiling: 'RED',
      widest: WIDEST,
      counts,
    });
    return counts.kinds.get('actor');
  }

  /** How many entities the sources named speak of together, by their names. */
  async function groups() {
    const { rows } = await sql<{ sources: string; count: number }>`
      select sources, count(*)::int as count from (
        select string_agg(distinct s.name, ' + ' order by s.name) as sources
        from entity_source as e join source as s on s.id = e.source_id group by entity_id
      ) as entity group by sources order by sources collate "C"
    `.execute(harness.db);
    return rows;
  }

  const told = async (name: string) => {
    const { rows } = await sql<{ name: string; source: string }>`
      select other.columns ->> 'name' as name, s.name as source from entity_source as one
      join entity_source as other on other.entity_id = one.entity_id join source as s on s.id = other.source_id
      where one.columns ->> 'name' = ${name} and one.columns ->> 'retired' = 'false'
      order by s.name collate "C", other.columns ->> 'name'`.execute(harness.db);
    return [...new Set(rows.map((row) => `${row.source}: ${row.name}`))];
  };

  describe.skipIf(!existsSync(REAL_DATA))('the real groups', () => {
    it('stay as many as in the galaxy, and merge with other sources on unambiguous names', async () => {
      expect(await load('Galaxy')).toMatchObject({ read: 1041, new: 1041 });
      await load('ATT&CK');
      await load('Microsoft');
      await load('ICS');
      const found = await groups();
      const clusters = found.filter(({ sources }) => sources.includes('Galaxy'));
      expect(clusters.reduce((sum, { count }) => sum + count, 0)).toBe(1041);
      const { rows: numbers } = await sql<{ attack: string }>`
        select attack_group_id as attack from actor where attack_group_id is not null`.execute(harness.db);
      expect(new Set(numbers.map(({ attack }) => attack)).size).toBeGreaterThan(170);
      expect(await told('APT28')).toEqual(['ATT&CK: APT28', 'Galaxy: APT28', 'Microsoft: Forest Blizzard']);
      expect(await told('Lazarus Group')).toEqual([
        'ATT&CK: Lazarus Group',
        'Galaxy: Lazarus Group',
        'ICS: Lazarus Group',
      ]);
      expect(await told('APT30')).toEqual(['ATT&CK: APT30', 'Galaxy: APT30']);
      expect(await told('APT38')).toEqual(['ATT&CK: APT38', 'ICS: APT38']);
      expect(Object.fromEntries(found.map(({ sources, count }) => [sources, count]))).toEqual({
        'ATT&CK': 30,
        'ATT&CK + Galaxy': 99,
        'ATT&CK + Galaxy + ICS': 3,
        'ATT&CK + Galaxy + ICS + Microsoft': 7,
        'ATT&CK + Galaxy + Microsoft': 43,
        'ATT&CK + ICS': 4,
        'ATT&CK + Microsoft': 1,
        Galaxy: 824,
        'Galaxy + ICS': 2,
        'Galaxy + Microsoft': 63,
        Microsoft: 52,
      });
    });

    it('do not depend on the file order', async () => {
      for (const name of ['Galaxy', 'ATT&CK', 'Microsoft', 'ICS']) await load(name);
      const first = await state();
      await sql`truncate actor, external_id`.execute(harness.db);
      for (const name of ['ICS', 'Microsoft', 'ATT&CK', 'Galaxy']) await load(name);
      expect(await state()).toEqual(first);
      for (const name of Object.keys(FILES)) {
        const counts = await load(name);
        expect(counts).toMatchObject({ new: 0, updated: 0 });
      }
    });
  });

  async function state() {
    const { rows } = await sql<{ row: unknown }>`
      select to_jsonb(a) - '{created_at,modified_at,revision,change_number}'::text[] as row from actor as a order by id
    `.execute(harness.db);
    return rows;
  }
});
