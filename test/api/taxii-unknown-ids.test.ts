import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type * as Queries from '../../src/taxii/relationships.queries.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { actorRecord, relationshipRecord } from '../support/records.ts';

const searches = vi.hoisted(() => ({ from: [] as number[], goOn: () => {}, isSlow: false }));
vi.mock('../../src/taxii/relationships.queries.ts', async (original) => {
  const queries = await original<typeof Queries>();
  const findPairChanges: typeof queries.findPairChanges = async (...asked) => {
    if (asked[2] === null) searches.from.push(asked[3].from);
    if (searches.isSlow) await new Promise<void>((resolve) => (searches.goOn = resolve));
    return queries.findPairChanges(...asked);
  };
  return { ...queries, findPairChanges };
});

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
  beforeEach(async () => {
    harness = await startHarness(engine);
    await harness.load([
      actorRecord('Bear'),
      ...hosts(1),
      ...[0, 1, 2].map((i) => relationshipRecord(`i${i}`, 'indicates', 'actor:Bear')),
    ]);
    // Before the first report of the revision nothing is remembered.
    harness.revisions.isFresh('answers', 0);
    await vi.waitFor(() => expect(harness.revisions.lastReport()).not.toBeNull());
    searches.from = [];
  });
  afterEach(() => harness.close());

  const get = async (id: string) => (await harness.get(URL_OF(id))).statusCode;

  describe('an unknown id of a relationship', () => {
    it('is searched once, and after changes only among these', async () => {
      expect(await get(unknown(1))).toBe(404);
      expect(searches.from).toEqual([0]);
      expect(await get(unknown(1))).toBe(404);
      expect(searches.from.filter((from) => from === 0)).toHaveLength(1);
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

    it('is not searched for clients that have disconnected', async () => {
      const address = new URL(await harness.app.listen({ port: 0, host: '127.0.0.1' }));
      const key = await harness.newKey();
      const request = (n: number) => {
        const socket = connect(Number(address.port), address.hostname);
        socket.write(
          `GET ${URL_OF(unknown(n))} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`,
        );
        return socket;
      };
      searches.isSlow = true;
      const aborted = [1, 2, 3, 4, 5].map(request);
      await vi.waitFor(() => expect(searches.from).toHaveLength(1), { timeout: 10_000 });
      await new Promise((resolve) => setTimeout(resolve, 300));
      for (const socket of aborted) socket.destroy();
      const connections = () =>
        new Promise<number>((resolve) => harness.app.server.getConnections((_, count) => resolve(count)));
      await vi.waitFor(async () => expect(await connections()).toBe(0));
      searches.isSlow = false;
      const alive = request(6);
      searches.goOn();
      const [status] = await new Promise<string[]>((resolve) =>
        alive.once('data', (data) => resolve(String(data).split('\r\n'))),
      );
      expect(status).toContain('404');
      // One had begun; the other is that of the client that waits.
      expect(searches.from).toHaveLength(2);
      alive.destroy();
    });
  });
});
