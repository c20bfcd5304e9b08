import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { objectsStatement, resolveExternalIds } from '../../src/entities/resolution/external-ids.queries.ts';
import { onEveryEngine } from '../support/engines.ts';
import { startHarness } from '../support/harness.ts';

onEveryEngine((engine) => {
  it('objects are found by index even if one external id refers to most of them', async () => {
    const tipline = await startHarness(engine);
    const add = (id: string, count: number) =>
      sql`insert into external_id (external_id, entity_id, entity_kind)
        select ${id}, gen_random_uuid(), 'indicator' from generate_series(1, ${count}::int)`.execute(
        tipline.db,
      );
    await add('indicator--pattern', 20_000);
    await sql`analyze external_id`.execute(tipline.db);
    const others = Array.from({ length: 100 }, (_, i) => `malware--${i}`);
    for (const id of others) await add(id, 1);
    const ids = ['indicator--pattern', ...others];
    const found = await resolveExternalIds(tipline.db, ids, 'RED', 1_001);
    expect([found.get('indicator--pattern')?.length, found.get('malware--7')?.length]).toEqual([1_001, 1]);
    const { rows } = await sql`explain ${objectsStatement(ids, 'RED', 1_001)}`.execute(tipline.db);
    expect(JSON.stringify(rows)).toContain('external_id_pkey');
    await tipline.close();
  });
});
