import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { listenToStatements } from '../support/executed-statements.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { actorRecord, relationshipRecord } from '../support/records.ts';

/** The statement that compares the relationships of a range of changes: of all, if it begins at 0. */
const SEARCH = /^\s*select pair\.from_id as "fromId"/;

const URL_OF = (id: string) => `/taxii2/root/collections/all/objects/${id}/`;
const unknown = (n: number) => `relationship--00000000-0000-5000-8000-00000000000${n}`;

const day = (n: number) => new Date(NOW.getTime() + n * 86_400_000);
const hosts = (lifetime: number, statedAt = NOW) =>
  [0, 1, 2].map((i) =>
    indicatorRecord('DOMAIN', `d${i}.example`, {
      externalIds: [`i${i}`],
      expiresAt: new Date(statedAt.getTime() + day(lifetime).getTime() - NOW.getTime()),
      statedAt,
    }),
  );

onEveryEngine((engine) => {
  let harness: Harness;
  let searches = 0;
  let stopListening = () => {};
  beforeEach(async () => {
    harness = await startHarness(engine);
    await harness.load([
      actorRecord('Bear'),
      ...hosts(1),
      ...[0, 1, 2].map((i) => relationshipRecord(`i${i}`, 'indicates', 'actor:Bear')),
    ]);
    // Before the first report of the revision nothing is remembered.
    harness.revisions.isFresh('revision', 0);
    await vi.waitFor(() => expect(harness.revisions.lastReport()).not.toBeNull());
    searches = 0;
    stopListening = listenToStatements(({ sql, parameters }) => {
      if (SEARCH.test(sql) && parameters.includes(0)) searches++;
    });
  });
  afterEach(() => {
    stopListening();
    return harness.close();
  });

  const get = async (id: string) => (await harness.get(URL_OF(id))).statusCode;

  describe('an unknown id of a relationship', () => {
    it('is searched once among all', async () => {
      expect(await get(unknown(1))).toBe(404);
      expect(await get(unknown(1))).toBe(404);
      expect(searches).toBe(1);
      const { objects } = (await harness.get('/taxii2/root/collections/all/objects/')).json();
      const { id } = objects.find(({ type }: { type: string }) => type === 'relationship');
      // The second request is for an id that is found among the first changes.
      expect(await get(id)).toBe(200);
    });

    it('is found when it is visible again', async () => {
      const { objects } = (await harness.get('/taxii2/root/collections/all/objects/')).json();
      const { id } = objects.find(({ type }: { type: string }) => type === 'relationship');
      harness.clock.now = day(2);
      expect(await get(id)).toBe(404);
      expect(await get(id)).toBe(404);
      await harness.load(hosts(9, day(2)));
      expect(await get(id)).toBe(200);
    });
  });
});
