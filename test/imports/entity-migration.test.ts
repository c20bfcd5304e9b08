import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../src/db/migrate.ts';
import type { ImportRecord } from '../../src/importers/importer.ts';
import { createCounts } from '../../src/imports/import-context.ts';
import { importFiles } from '../../src/imports/imports.service.ts';
import { nameKey } from '../../src/model/text.ts';
import { ensureSource } from '../../src/sources/store/sources.queries.ts';
import { NOW, WIDEST } from '../support/harness.ts';
import { type Db, emptyDatabases, migrateTo } from '../support/migrations.ts';
import {
  actorRecord,
  campaignRecord,
  reportRecord,
  softwareRecord,
  techniqueRecord,
} from '../support/records.ts';

const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const DEFAULTS = { tlp: 'CLEAR', confidence: 50, severity: 'MEDIUM' } as const;

const engines = emptyDatabases();

/** Columns by their present names, with those of then. */
const RENAMED_SINCE: Record<string, string> = {
  interval_seconds: 'every_seconds',
  is_snapshot_list: 'membership',
  recomputed: 'reckoned',
};

async function load(db: Db, source: string, records: ImportRecord[]) {
  const importer = {
    name: 'stix' as const,
    recognizes: () => true,
    async *read() {
      yield records;
    },
  };
  const counts = createCounts();
  const input = { fileName: 'test', open: () => Promise.reject(new Error('not opened')) as never };
  const from = await ensureSource(db, source, 'import', DEFAULTS, NOW);
  await importFiles(db, [{ importer, input }], {
    source: from,
    now: NOW,
    dryRun: false,
    tlpCeiling: 'RED',
    widest: WIDEST,
    counts,
  });
  return counts;
}

describe.each(engines)('migration on %s from before per-source statements', (_, open) => {
  const records = [
    actorRecord('APT 28', {
      externalIds: [`intrusion-set--${uuid(1)}`],
      attackGroupId: 'G0007',
      aliases: [{ alias: 'Fancy-Bear', namedBy: 'Maker' }],
      firstSeen: new Date('2010-01-01T00:00:00.120Z'),
      targetSectors: ['defense'],
      statedAt: new Date('2026-01-01T00:00:00.000Z'),
    }),
    campaignRecord('Group 7-2', {
      aliases: ['\uff21\uff30\uff34 one'],
      startDate: new Date('2020-01-01T00:00:00Z'),
    }),
    techniqueRecord('T1059', { externalIds: [`attack-pattern--${uuid(2)}`], tactics: ['execution'] }),
    softwareRecord('PlugX', { attackId: 'S0013', aliases: ['Korplug'] }),
    reportRecord('A report', { tags: ['a'], publishedAt: new Date('2020-01-01T00:00:00Z') }),
  ];

  it('turns imported data into statements of its source, and repeating the import changes nothing', {
    tags: ['nightly'],
    timeout: 120_000,
  }, async () => {
    const db = await open();
    try {
      await migrateTo(db, '0003');
      await insertAsBefore(db);
      await migrate(db);
      const before = await db.selectFrom('revision').select('value').executeTakeFirstOrThrow();
      const counts = await load(db, 'Files', records);
      for (const [kind, numbers] of counts.kinds)
        expect([kind, numbers]).toMatchObject([kind, { unchanged: 1 }]);
      expect(await db.selectFrom('revision').select('value').executeTakeFirstOrThrow()).toEqual(before);
      const { rows } = await sql<{
        key: string;
      }>`select key from entity_key where key like 'name:%' order by 1`.execute(db);
      const names = [
        'APT 28',
        'Fancy-Bear',
        'Group 7-2',
        '\uff21\uff30\uff34 one',
        'Technique T1059',
        'PlugX',
        'Korplug',
      ];
      expect(rows.map(({ key }) => key)).toEqual(names.map((name) => `name:${nameKey(name)}`).sort());
      await load(db, 'Vendor', [actorRecord('fancy bear', { description: 'from the vendor' })]);
      expect(await db.selectFrom('actor').select(['id', 'description']).execute()).toEqual([
        { id: uuid(1), description: 'from the vendor' },
      ]);
    } finally {
      await db.destroy();
    }
  });

  /** What the import of `records` left behind, made by that of now in a database of its own. */
  async function insertAsBefore(db: Db): Promise<void> {
    const now = await open();
    try {
      await migrate(now);
      await load(now, 'Files', records);
      for (const table of [
        'source',
        'actor',
        'campaign',
        'technique',
        'software',
        'report',
        'external_id',
      ] as const) {
        const { rows } = await sql<{
          all: Record<string, unknown>[];
        }>`select jsonb_agg(t) as all from ${sql.table(table)} as t`.execute(now);
        const asBefore = rows[0]?.all.map((row) =>
          Object.fromEntries(
            Object.entries(row).map(([name, value]) => [RENAMED_SINCE[name] ?? name, value]),
          ),
        );
        await sql`insert into ${sql.table(table)}
          select * from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(asBefore)}::jsonb)
        `.execute(db);
      }
    } finally {
      await now.destroy();
    }
  }
});
