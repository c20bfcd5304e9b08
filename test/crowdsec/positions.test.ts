import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Client,
  findDeletions,
  findPosition,
  forgetPositions,
  type Sent,
  writePosition,
} from '../../src/crowdsec/positions.queries.ts';
import type { Database } from '../../src/db/database.ts';
import { onEveryEngine } from '../support/engines.ts';

const NOW = new Date('2026-06-01T12:00:00.000Z');
const CLIENT: Client = {
  keyId: '8c1d7a52-0a4e-4c8f-9a53-2b6a0e3f7d11',
  address: '192.0.2.1',
  userAgent: 'a/1',
};
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const sent = (renewedAt: number, values: string[] = []): Sent => ({
  position: { cursors: {}, filter: {}, renewedAt },
  deleted: values.map((value, id) => ({ id, value })),
  restored: [],
  repeatedSince: at(-300),
});

onEveryEngine((engine) => {
  let database: Database;
  beforeEach(async () => {
    database = await engine.open();
  });
  afterEach(() => database.close());

  describe('the position of a client', () => {
    it('is that of the first of two responses that began at the same one', async () => {
      const { db } = database;
      await writePosition(db, CLIENT, undefined, sent(1), NOW);
      await writePosition(db, CLIENT, undefined, sent(2, ['192.0.2.2']), NOW);
      const first = await findPosition(db, CLIENT);
      expect(first).toMatchObject({ renewedAt: 1, cursors: {}, filter: {} });
      await writePosition(db, CLIENT, first, sent(3, ['192.0.2.3']), NOW);
      await writePosition(db, CLIENT, first, sent(4, ['192.0.2.4']), NOW);
      const second = await findPosition(db, CLIENT);
      expect(second?.renewedAt).toBe(3);
      expect(await findDeletions(db, second?.id ?? '', at(-300))).toEqual([{ id: 0, value: '192.0.2.3' }]);
    });

    it('takes the place of the one that was used longest ago, if a key has a thousand', async () => {
      const { db } = database;
      await sql`
        insert into crowdsec_position (id, key_id, address, user_agent, state, version, seen_at)
        select gen_random_uuid(), ${CLIENT.keyId}::uuid, ${CLIENT.address}, 'a/' || i, '{}', gen_random_uuid(),
          ${NOW}::timestamptz + make_interval(secs => i)
        from generate_series(0, 999) as i
      `.execute(db);
      await writePosition(db, { ...CLIENT, userAgent: 'another' }, undefined, sent(1), at(1_000));
      expect(await findPosition(db, { ...CLIENT, userAgent: 'a/0' })).toBeUndefined();
      expect(await findPosition(db, { ...CLIENT, userAgent: 'a/1' })).toBeDefined();
    });

    it('is forgotten with the history, with its deletions', async () => {
      const { db } = database;
      await writePosition(db, CLIENT, undefined, sent(1, ['192.0.2.2']), NOW);
      await forgetPositions(db, at(30 * 86_400), 30);
      expect(await findPosition(db, CLIENT)).toBeDefined();
      await forgetPositions(db, at(30 * 86_400 + 1), 30);
      expect(await findPosition(db, CLIENT)).toBeUndefined();
      expect(await db.selectFrom('crowdsec_deletion').selectAll().execute()).toEqual([]);
    });
  });
});
