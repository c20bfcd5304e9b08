import { afterEach, beforeEach, expect, it } from 'vitest';
import { findExpiringKeys, findKey } from '../../src/api-keys/api-keys.queries.ts';
import { revoke, rotate, undoRotation, warnOfExpiringKeys } from '../../src/api-keys/api-keys.service.ts';
import { findAudit } from '../../src/audit/audit.queries.ts';
import { judgeKeys } from '../../src/doctor/database.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const DAY_MS = 86_400_000;

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeEach(async () => {
    tipline = await startHarness(engine);
  });
  afterEach(() => tipline.close());

  const inDays = (days: number) => new Date(tipline.clock.now.getTime() + days * DAY_MS);

  async function warnings() {
    const lines: object[] = [];
    await warnOfExpiringKeys(tipline.db, { warn: (details) => void lines.push(details) }, tipline.clock.now);
    return lines;
  }

  it('warns of keys that expire within two weeks, soonest first, without the key itself', async () => {
    await tipline.newKey({ name: 'later', expiresAt: inDays(13) });
    await tipline.newKey({ name: 'soon', expiresAt: inDays(2) });
    await tipline.newKey({ name: 'far', expiresAt: inDays(15) });
    await tipline.newKey({ name: 'expired', expiresAt: inDays(-1) });
    const id = expect.any(String);
    expect(await warnings()).toEqual([
      { key: 'soon', id, expiresAt: inDays(2) },
      { key: 'later', id, expiresAt: inDays(13) },
    ]);
  });

  it('warns once a day, across all workers', async () => {
    await tipline.newKey({ name: 'soon', expiresAt: inDays(2) });
    const first = [await warnings(), await warnings()].map(({ length }) => length);
    tipline.clock.now = inDays(1);
    expect([...first, (await warnings()).length]).toEqual([1, 0, 1]);
  });

  it('redacts a key that was used as a name', async () => {
    const key = await tipline.newKey();
    await tipline.newKey({ name: key, expiresAt: inDays(2) });
    expect(await warnings()).toEqual([expect.objectContaining({ key: '[key]' })]);
  });

  it('warns of no key that is being replaced, unless its successor is revoked', async () => {
    await tipline.newKey({ name: 'siem' });
    const by = { who: 'cli:test', now: tipline.clock.now };
    const { old, record } = await rotate(tipline.db, 'siem', 2 * 86_400, by);
    expect(await warnings()).toEqual([]);
    await revoke(tipline.db, record.id, by);
    tipline.clock.now = inDays(1);
    expect(await warnings()).toEqual([{ key: 'siem', id: old.id, expiresAt: inDays(1) }]);
  });

  it.each([null, 90])(
    'ends a key when it would have ended before a rotation that is undone (in %s days)',
    async (days) => {
      const expiresAt = days === null ? null : inDays(days);
      await tipline.newKey({ name: 'siem', expiresAt });
      const by = { who: 'cli:test', now: tipline.clock.now };
      const rotation = await rotate(tipline.db, 'siem', 0, by);
      expect(await undoRotation(tipline.db, rotation, by)).toBe(true);
      expect(await findKey(tipline.db, rotation.old.id)).toEqual(rotation.old);
      expect(await findKey(tipline.db, rotation.record.id)).toMatchObject({ revokedAt: by.now });
      const [entry] = await findAudit(tipline.db, { action: 'key.revoke' }, { limit: 1 });
      expect(entry).toMatchObject({
        objectId: rotation.record.id,
        after: { oldId: rotation.old.id, oldValidUntil: expiresAt?.toISOString() ?? null },
      });
    },
  );

  it.each([null, 90])(
    'gives each new key the lifetime of the first, also when one is rotated again (%s days)',
    async (days) => {
      await tipline.newKey({ name: 'siem', expiresAt: days === null ? null : inDays(days) });
      const by = () => ({ who: 'cli:test', now: tipline.clock.now });
      const { old } = await rotate(tipline.db, 'siem', 86_400, by());
      tipline.clock.now = new Date(tipline.clock.now.getTime() + 3_600_000);
      for (const id of [old.id, (await rotate(tipline.db, old.id, 60, by())).record.id]) {
        const { record } = await rotate(tipline.db, id, 60, by());
        expect(record.expiresAt).toEqual(days === null ? null : inDays(days));
      }
    },
  );

  it('keeps a key revoked whose rotation is undone', async () => {
    await tipline.newKey({ name: 'siem' });
    const by = { who: 'cli:test', now: tipline.clock.now };
    const rotation = await rotate(tipline.db, 'siem', 60, by);
    await revoke(tipline.db, rotation.old.id, by);
    expect(await undoRotation(tipline.db, rotation, by)).toBe(false);
    for (const { id } of [rotation.old, rotation.record])
      expect(await findKey(tipline.db, id)).toMatchObject({ revokedAt: by.now });
  });

  it('warns of a key that shares its name with another, and the remedy has its id', async () => {
    for (const days of [20, 2]) await tipline.newKey({ name: 'shared', expiresAt: inDays(days) });
    await tipline.newKey({ name: 'own', expiresAt: inDays(3) });
    const found = await findExpiringKeys(tipline.db, tipline.clock.now);
    expect(found.map(({ name }) => name)).toEqual(['shared', 'own']);
    const { message, remedy } = judgeKeys(found);
    const date = (days: number) => inDays(days).toISOString().slice(0, 10);
    expect(message).toBe(
      `API keys that expire soon: shared (${date(2)}, id ${found[0]?.id}), own (${date(3)})`,
    );
    expect(remedy).toMatch(/^Run tipline keys rotate NAME .* the id where one is given\.$/);
  });
});
