import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { oneById } from '../../src/db/one-by-id.ts';
import { onEveryEngine } from '../support/engines.ts';

const ID = '5c0f4a6e-7d1b-4f5c-9a52-1d2f0c3b4a59';
const NOW = new Date('2026-06-01T12:00:00Z');
const viewer = { tlpCeiling: 'AMBER' as const, now: NOW };

onEveryEngine((engine) => {
  it('asks with the id, the instant and the ceiling of each call', async () => {
    const { db, close } = await engine.open();
    const find = oneById((given, { tlpCeiling, now }, id) =>
      given.selectNoFrom([
        sql<string>`${id}::uuid`.as('id'),
        sql<string>`${tlpCeiling}::tlp`.as('ceiling'),
        sql<Date>`${now}::timestamptz`.as('now'),
      ]),
    );
    const other = '0f4a6e5c-7d1b-4f5c-9a52-1d2f0c3b4a59';
    const later = new Date(NOW.getTime() + 1);
    expect(await find(db, viewer, ID)).toEqual({ id: ID, ceiling: 'AMBER', now: NOW });
    expect(await find(db, { tlpCeiling: 'RED', now: later }, other)).toEqual({
      id: other,
      ceiling: 'RED',
      now: later,
    });
    expect(await find(db, viewer, other)).toEqual({ id: other, ceiling: 'AMBER', now: NOW });
    await close();
  });

  it('refuses a statement that holds another instant than that of the call', async () => {
    const { db, close } = await engine.open();
    const find = oneById((given, { now }) =>
      given.selectNoFrom(sql<Date>`${new Date(now.getTime() - 1)}::timestamptz`.as('before')),
    );
    await expect(find(db, viewer, ID)).rejects.toThrow('another instant');
    await close();
  });
});
