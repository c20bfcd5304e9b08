import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withRevision } from '../../src/db/revision/revision.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, NOW, startHarness } from '../support/harness.ts';
import { actorRecord, campaignRecord } from '../support/records.ts';

const DAY = 86_400_000;

interface Body {
  changes: {
    op: string;
    name?: string;
    actor?: { name: string; active: boolean };
    campaign?: { name: string; status: string };
  }[];
  cursor: string;
  hasMore: boolean;
}

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
  });
  afterEach(() => harness.close());

  const ask = (kind: string, query: string, options = {}) =>
    harness.get(`/api/v1/${kind}/changes?${query}`, options);
  const follow = async (kind: string, query: string, options = {}): Promise<Body> =>
    (await ask(kind, query, options)).json();
  const told = ({ changes }: Body) =>
    changes.map(({ op, name, actor, campaign }) => `${op} ${name ?? actor?.name ?? campaign?.name}`);

  describe('the changes of actors', () => {
    it('begin with all, and go on with what is new, changed or hidden', async () => {
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      await harness.load([actorRecord('One'), actorRecord('Two'), actorRecord('Secret', { tlp: 'RED' })]);
      const first = await follow('actors', '', { key });
      expect(told(first).sort()).toEqual(['upsert One', 'upsert Two']);
      expect(await follow('actors', `cursor=${first.cursor}`, { key })).toEqual({ ...first, changes: [] });
      await harness.load([actorRecord('Three'), actorRecord('One', { country: 'FR', statedAt: NOW })]);
      await withRevision(harness.db, async (trx, revision) => {
        await sql`update actor set tlp = 'RED', revision = ${revision.next}::bigint where name = 'Two'`.execute(
          trx,
        );
        revision.advance();
      });
      const second = await follow('actors', `cursor=${first.cursor}`, { key });
      expect(told(second).sort()).toEqual(['remove Two', 'upsert One', 'upsert Three']);
      expect(told(await follow('actors', `cursor=${second.cursor}`, { key }))).toEqual([]);
      expect((await ask('actors', `cursor=${second.cursor}`)).statusCode).toBe(409);
    });

    it('tell when time makes an actor inactive, with a filter and without', async () => {
      await harness.load([
        actorRecord('Old', { lastSeen: new Date(NOW.getTime() - 729 * DAY) }),
        actorRecord('New'),
      ]);
      const all = await follow('actors', '');
      const active = await follow('actors', 'active=true');
      expect(told(active).sort()).toEqual(['upsert New', 'upsert Old']);
      harness.clock.now = new Date(NOW.getTime() + 2 * DAY);
      const changed = await follow('actors', `cursor=${all.cursor}`);
      expect(changed.changes).toMatchObject([{ op: 'upsert', actor: { name: 'Old', active: false } }]);
      const removed = await follow('actors', `cursor=${active.cursor}`);
      expect(told(removed)).toEqual(['remove Old']);
      expect(await follow('actors', `cursor=${removed.cursor}`)).toEqual({ ...removed, changes: [] });
      expect(told(await follow('actors', `cursor=${changed.cursor}`))).toEqual([]);
    });

    it('wait for a change', async () => {
      await harness.load([actorRecord('One')]);
      const { cursor } = await follow('actors', '');
      const waiting = follow('actors', `cursor=${cursor}&wait=20`);
      await harness.load([actorRecord('Two')]);
      expect(told(await waiting)).toEqual(['upsert Two']);
    });

    it('have cursors of their own', async () => {
      await harness.load([actorRecord('One'), campaignRecord('One')]);
      const { cursor } = await follow('actors', '');
      expect((await ask('campaigns', `cursor=${cursor}`)).statusCode).toBe(400);
      expect((await ask('actors', `cursor=${cursor}&active=true`)).statusCode).toBe(400);
    });
  });

  describe('the changes of campaigns', () => {
    it('remove nothing that the client never had', async () => {
      await harness.load([campaignRecord('One', { startDate: NOW })]);
      const first = await follow('campaigns', 'status=ACTIVE');
      harness.clock.now = new Date(NOW.getTime() + 10 * DAY);
      // Its last day as an active campaign is past, but was not when the client asked last.
      await harness.load([campaignRecord('Old', { startDate: new Date(NOW.getTime() - 85 * DAY) })]);
      const second = await follow('campaigns', `cursor=${first.cursor}`);
      const third = await follow('campaigns', `cursor=${second.cursor}`);
      expect([told(first), told(second), told(third)]).toEqual([['upsert One'], [], []]);
      expect(third.cursor).toBe(second.cursor);
    });

    it('begin with all, and go on with their status', async () => {
      await harness.load([
        campaignRecord('One', { startDate: new Date(NOW.getTime() - 89 * DAY) }),
        campaignRecord('Two'),
      ]);
      const first = await follow('campaigns', '');
      const concluded = await follow('campaigns', 'status=DORMANT');
      expect(told(first).sort()).toEqual(['upsert One', 'upsert Two']);
      expect(told(concluded)).toEqual([]);
      harness.clock.now = new Date(NOW.getTime() + 2 * DAY);
      expect(told(await follow('campaigns', `cursor=${first.cursor}`))).toEqual(['upsert One']);
      expect(told(await follow('campaigns', `cursor=${concluded.cursor}`))).toEqual(['upsert One']);
    });
  });
});
