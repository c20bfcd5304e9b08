import { once } from 'node:events';
import { request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeDecisions } from '../../src/crowdsec/everything.ts';
import { rowsOf } from '../../src/crowdsec/feed-rows.queries.ts';
import { fill } from '../../src/crowdsec/stream.ts';
import { withRevision } from '../../src/db/revision/revision.ts';
import type { Spool } from '../../src/exports/spool.ts';
import { findFeed } from '../../src/feeds/feeds.queries.ts';
import { changeFeed, createFeed } from '../../src/feeds/feeds.service.ts';
import { addEntry, removeEntry } from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

const BY = { who: 'test', now: NOW, reason: 'ours' };
const FEED = {
  slug: 'edge',
  name: 'Edge',
  description: '',
  format: 'txt' as const,
  query: 'minConfidence=10',
  tlpCeiling: 'AMBER' as const,
};
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** More than a page of the change feed and a batch of an export. */
const MANY = 10_050;

interface Decision {
  id: number;
  value: string;
  scope: string;
  duration: string;
  scenario: string;
  type: string;
  origin: string;
}
interface Body {
  new: Decision[];
  deleted: Decision[];
}

const address = (i: number) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
const ip = (value: string, fields = {}) =>
  indicatorRecord(value.includes(':') ? 'IPV6' : 'IPV4', value, fields);

onEveryEngine((engine) => {
  let harness: Harness;
  let key: string;
  beforeEach(async () => {
    harness = await startHarness(engine);
    await createFeed(harness.db, FEED, BY);
    key = await harness.newKey({ feeds: ['edge'] });
  });
  afterEach(() => harness.close());

  const ask = (path: string, { headers = {}, ...options }: Parameters<Harness['get']>[1] = {}) =>
    harness.get(`/v1/${path}`, {
      key: null,
      headers: { 'x-api-key': key, 'user-agent': 'crowdsec-custom-bouncer/v0.0.15', ...headers },
      ...options,
    });
  async function poll(query = '', options: Parameters<typeof ask>[1] = {}): Promise<Body> {
    const response = await ask(`decisions/stream?${query}`, options);
    expect(response.statusCode, response.body).toBe(200);
    return response.json();
  }
  const startup = (options = {}) => poll('startup=true', options);
  const values = (decisions: Decision[]) => decisions.map(({ value }) => value).sort();
  const named = (body: Body) => ({ new: values(body.new), deleted: values(body.deleted) });
  const NOTHING = { new: [], deleted: [] };
  const later = (ms: number) => {
    harness.clock.now = new Date(harness.clock.now.getTime() + ms);
  };
  const whitelist = (entry: string) =>
    addEntry(harness.db, entry, undefined, { ...BY, now: harness.clock.now }, 'RED');
  const unlist = (entry: string) =>
    removeEntry(harness.db, entry, undefined, { ...BY, now: harness.clock.now });

  describe('the stream of decisions', () => {
    it('begins with all addresses and networks of the feed that are for detection', async () => {
      await harness.load([
        ip('192.0.2.1', { tags: ['c2', 'botnet'] }),
        ip('2001:db8::/48', { expiresAt: new Date(NOW.getTime() + 90 * 60 * SECOND + 500) }),
        ip('192.0.2.2', { forDetection: false }),
        ip('192.0.2.3', { tlp: 'RED' }),
        ip('192.0.2.4', { confidence: 5 }),
        indicatorRecord('DOMAIN', 'evil.example'),
      ]);
      const body = await startup();
      const byValue = (a: Decision, b: Decision) => (a.value < b.value ? -1 : 1);
      expect({ ...body, new: body.new.sort(byValue) }).toEqual({
        new: [
          {
            id: expect.any(Number),
            origin: 'tipline',
            type: 'ban',
            scope: 'Ip',
            value: '192.0.2.1',
            duration: '24h0m0s',
            scenario: 'botnet,c2',
          },
          {
            id: expect.any(Number),
            origin: 'tipline',
            type: 'ban',
            scope: 'Range',
            value: '2001:db8::/48',
            duration: '1h30m0s',
            scenario: 'tipline',
          },
        ],
        deleted: [],
      });
      expect(await poll()).toEqual(NOTHING);
      expect((await startup()).new.sort(byValue)).toEqual(body.new);
    });

    it('has more than a page, and goes on with what has been added and removed', {
      tags: ['nightly'],
    }, async () => {
      await harness.load(Array.from({ length: MANY }, (_, i) => ip(address(i))));
      expect(values((await startup()).new)).toEqual(
        Array.from({ length: MANY }, (_, i) => address(i)).sort(),
      );
      await harness.load([ip('192.0.2.1')]);
      await whitelist('10.0.0.7');
      expect(named(await poll())).toEqual({ new: ['192.0.2.1'], deleted: ['10.0.0.7'] });
      await harness.load(Array.from({ length: MANY }, (_, i) => ip(address(100_000 + i))));
      const { new: added } = await poll();
      expect(added.length).toBe(MANY);
    });

    it('repeats deletions for five minutes, unless the value is listed again', async () => {
      await harness.load([ip('192.0.2.1'), ip('192.0.2.2')]);
      const [first] = (await startup()).new;
      await whitelist('192.0.2.1');
      await whitelist('192.0.2.2');
      const { deleted } = await poll();
      expect(values(deleted)).toEqual(['192.0.2.1', '192.0.2.2']);
      expect(deleted[0]).toMatchObject({ id: first?.id, type: 'ban', scope: 'Ip', value: first?.value });
      later(299 * SECOND);
      expect(named(await poll())).toEqual({ new: [], deleted: ['192.0.2.1', '192.0.2.2'] });
      await unlist('192.0.2.1');
      expect(named(await poll())).toEqual({ new: ['192.0.2.1'], deleted: ['192.0.2.2'] });
      expect(named(await startup())).toEqual({ new: ['192.0.2.1'], deleted: ['192.0.2.2'] });
      later(SECOND);
      expect(await poll()).toEqual(NOTHING);
    });

    it('deletes what has expired', async () => {
      await harness.load([ip('192.0.2.1', { expiresAt: new Date(NOW.getTime() + 10 * SECOND) })]);
      expect((await startup()).new[0]?.duration).toBe('10s');
      later(10 * SECOND);
      expect(named(await poll())).toEqual({ new: [], deleted: ['192.0.2.1'] });
    });

    it('never has a duration of 0, which firewalls take for no timeout', async () => {
      await harness.load([ip('192.0.2.1', { expiresAt: new Date(NOW.getTime() + 1) })]);
      expect((await startup()).new[0]?.duration).toBe('1s');
    });

    it('has no duration that ipset does not take, and sends it again before it ends', async () => {
      await harness.load([ip('192.0.2.1', { expiresAt: new Date(NOW.getTime() + 30 * 24 * HOUR) })]);
      expect((await startup()).new[0]?.duration).toBe('596h31m23s');
      later(12 * HOUR);
      expect((await poll()).new[0]?.duration).toBe('596h31m23s');
      later(28 * 24 * HOUR);
      expect((await poll()).new[0]?.duration).toBe('36h0m0s');
    });

    it('sends every decision again within twelve hours', { tags: ['nightly'] }, async () => {
      await harness.load(Array.from({ length: 200 }, (_, i) => ip(address(i))));
      await startup();
      const sent: string[] = [];
      for (let minutes = 0; minutes < 12 * 60; minutes += 5) {
        later(5 * 60 * SECOND);
        const { new: again, deleted } = await poll();
        expect(deleted).toEqual([]);
        expect(again.length).toBeLessThan(30);
        sent.push(...values(again));
      }
      expect(sent.sort()).toEqual(Array.from({ length: 200 }, (_, i) => address(i)).sort());
    });

    it('sends an expiry that has been moved: at once if it is earlier or was near, else with the next renewal', async () => {
      const within = (hours: number) => new Date(NOW.getTime() + hours * HOUR);
      await harness.load([
        ip('192.0.2.1', { expiresAt: within(2) }),
        ip('192.0.2.2', { expiresAt: within(40) }),
        ip('192.0.2.3', { expiresAt: within(40) }),
      ]);
      await startup();
      await harness.load([
        ip('192.0.2.1', { expiresAt: within(60), statedAt: NOW }),
        ip('192.0.2.2', { expiresAt: within(60), statedAt: NOW }),
        ip('192.0.2.3', { expiresAt: within(20), statedAt: NOW }),
      ]);
      const durations = (body: Body) => body.new.map(({ value, duration }) => `${value} ${duration}`).sort();
      expect(durations(await poll())).toEqual(['192.0.2.1 60h0m0s', '192.0.2.3 20h0m0s']);
      later(12 * HOUR);
      expect(durations(await poll())).toContain('192.0.2.2 48h0m0s');
    });
  });

  describe('networks with whitelisted addresses', () => {
    it('are sent without these, and with their earlier parts deleted when these change', async () => {
      await harness.load([ip('198.51.100.0/30')]);
      expect(named(await startup())).toEqual({ new: ['198.51.100.0/30'], deleted: [] });
      await whitelist('198.51.100.1');
      expect(named(await poll())).toEqual({
        new: ['198.51.100.0', '198.51.100.2/31'],
        deleted: ['198.51.100.0/30'],
      });
      await whitelist('198.51.100.2');
      later(300 * SECOND);
      expect(named(await poll())).toEqual({ new: ['198.51.100.3'], deleted: ['198.51.100.2/31'] });
      await unlist('198.51.100.1');
      await unlist('198.51.100.2');
      later(300 * SECOND);
      expect(named(await poll())).toEqual({
        new: ['198.51.100.0/30'],
        deleted: ['198.51.100.0', '198.51.100.3'],
      });
    });

    it('whose part is listed for another reason keep it', async () => {
      await harness.load([ip('198.51.100.0/31'), ip('198.51.100.0')]);
      await whitelist('198.51.100.1');
      const body = await startup();
      expect(values(body.new)).toEqual(['198.51.100.0', '198.51.100.0']);
      expect(new Set(body.new.map(({ id }) => id)).size).toBe(2);
      await unlist('198.51.100.1');
      // The network is whole again; its former part is listed itself.
      expect(named(await poll())).toEqual({ new: ['198.51.100.0', '198.51.100.0/31'], deleted: [] });
    });
  });

  describe('a client', () => {
    it('that did not receive a response completely gets its content again', {
      tags: ['nightly'],
    }, async () => {
      await harness.load(Array.from({ length: MANY }, (_, i) => ip(address(i))));
      await harness.app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = harness.app.server.address() as AddressInfo;
      const open = (query: string) =>
        send({ port, path: `/v1/decisions/stream?${query}`, headers: { 'x-api-key': key } }).end();
      await new Promise<void>((resolve) => {
        const request = open('startup=true');
        request.once('response', (response) => response.once('data', () => request.destroy()));
        request.once('close', () => resolve());
      });
      const read = async (query: string): Promise<Body> => {
        const [response] = await once(open(query), 'response');
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        return JSON.parse(Buffer.concat(chunks).toString());
      };
      // Nothing has been recorded, so that everything is sent again.
      expect((await read('')).new.length).toBe(MANY);
      expect(await read('')).toEqual(NOTHING);
    });

    it('whose response is not written to its end leaves no transaction open', {
      tags: ['nightly'],
    }, async () => {
      await harness.load(Array.from({ length: MANY }, (_, i) => ip(address(i))));
      const feed = await findFeed(harness.db, 'edge');
      if (!feed) throw new Error('there is no feed');
      const feeds = [rowsOf(feed, { tlpCeiling: 'RED', now: NOW })];
      const deps = { database: harness, changes: null as never };
      /** Every reader of the table has to end before. */
      const lock = () =>
        harness.db.transaction().execute(async (trx) => {
          await sql`set local lock_timeout = '5s'`.execute(trx);
          await sql`lock table indicator in access exclusive mode`.execute(trx);
        });
      const begin = () => writeDecisions(deps, { feeds, filter: {}, now: NOW, maxMs: HOUR });
      for await (const _ of begin()) break;
      await lock();
      const writeOne = async (pieces: AsyncIterable<unknown>) => {
        for await (const _ of pieces) break;
      };
      let written: Promise<void> | undefined;
      const spool = {
        isFull: () => false,
        fill(pieces: AsyncIterable<unknown>) {
          written = writeOne(pieces);
        },
      };
      await fill(spool as unknown as Spool, begin(), 2, () => {});
      await written;
      await lock();
    });

    it('is a key at an address with a User-Agent', async () => {
      await harness.load([ip('192.0.2.1')]);
      await startup();
      expect(values((await poll('', { headers: { 'user-agent': 'other/1' } })).new)).toEqual(['192.0.2.1']);
      expect(values((await poll('', { remoteAddress: '192.0.2.99' })).new)).toEqual(['192.0.2.1']);
      expect(await poll()).toEqual(NOTHING);
    });

    it('that starts again is sent deletions of what it had', async () => {
      await harness.load([ip('192.0.2.1'), ip('192.0.2.2')]);
      await startup();
      await whitelist('192.0.2.1');
      expect(named(await startup())).toEqual({ new: ['192.0.2.2'], deleted: ['192.0.2.1'] });
    });

    it('is served by another node, and after a restart, from where it was', async () => {
      await harness.load([ip('192.0.2.1'), ip('192.0.2.2')]);
      await startup();
      // This node waits until its record of the response is written; another one cannot.
      expect(await poll()).toEqual(NOTHING);
      const other = await startHarness({ open: async () => ({ ...harness, close: async () => {} }) });
      await whitelist('192.0.2.1');
      const response = await other.app.inject({
        url: '/v1/decisions/stream',
        headers: { 'x-api-key': key, 'user-agent': 'crowdsec-custom-bouncer/v0.0.15' },
      });
      expect(named(response.json())).toEqual({ new: [], deleted: ['192.0.2.1'] });
      await other.app.close();
      later(300 * SECOND);
      expect(await poll()).toEqual(NOTHING);
    });

    it('takes no revision', async () => {
      await harness.load([ip('192.0.2.1')]);
      const revision = () => harness.db.selectFrom('revision').select('value').executeTakeFirstOrThrow();
      const before = await revision();
      await startup();
      later(12 * HOUR);
      await poll();
      expect(await revision()).toEqual(before);
    });

    it('whose feed is changed has what has left it deleted, and nothing else', async () => {
      await harness.load([
        ip('192.0.2.1', { confidence: 90 }),
        ip('192.0.2.2', { confidence: 20 }),
        ip('192.0.2.5', { confidence: 5 }),
      ]);
      await startup();
      await harness.load([ip('192.0.2.3', { confidence: 20 }), ip('192.0.2.4', { confidence: 90 })]);
      await changeFeed(harness.db, 'edge', { query: 'minConfidence=50' }, BY);
      expect(named(await poll())).toEqual({ new: ['192.0.2.1', '192.0.2.4'], deleted: ['192.0.2.2'] });
      later(300 * SECOND);
      expect(await poll()).toEqual(NOTHING);
    });

    it('whose feed gets a lower TLP ceiling has what is above it deleted', async () => {
      await harness.load([ip('192.0.2.1', { tlp: 'AMBER' }), ip('192.0.2.2', { tlp: 'GREEN' })]);
      await startup();
      await changeFeed(harness.db, 'edge', { tlpCeiling: 'GREEN' }, BY);
      expect(named(await poll())).toEqual({ new: ['192.0.2.2'], deleted: ['192.0.2.1'] });
    });

    it('whose position the history does not go back to gets everything', async () => {
      await harness.load([ip('192.0.2.1')]);
      await startup();
      await harness.load([ip('192.0.2.2')]);
      await harness.db.deleteFrom('revision_log').where('revision', '<', 1_000_000).execute();
      await harness.load([ip('192.0.2.3')]);
      expect(named(await poll())).toEqual({ new: ['192.0.2.1', '192.0.2.2', '192.0.2.3'], deleted: [] });
    });
  });

  describe('the firewall bouncer', () => {
    const options = { headers: { 'user-agent': 'crowdsec-firewall-bouncer/v0.0.25' } };
    it('is sent a deletion before a decision that it has, because it does not change a timeout', async () => {
      await harness.load([ip('192.0.2.1')]);
      expect(named(await startup(options))).toEqual({ new: ['192.0.2.1'], deleted: [] });
      later(12 * HOUR);
      expect(named(await poll('', options))).toEqual({ new: ['192.0.2.1'], deleted: ['192.0.2.1'] });
      expect(await poll('', options)).toEqual(NOTHING);
    });
  });

  describe('several feeds of a key', () => {
    beforeEach(async () => {
      await createFeed(harness.db, { ...FEED, slug: 'c2', query: 'tag=c2' }, BY);
      await createFeed(harness.db, { ...FEED, slug: 'first', query: 'limit=2' }, BY);
    });

    it('are one list, in which a value stays as long as one of them has it', async () => {
      key = await harness.newKey({ feeds: ['edge', 'c2'] });
      const set = (value: string, state: { tags: string[]; confidence: number }) =>
        withRevision(harness.db, async (trx, revision) => {
          const written = { ...state, revision: revision.next };
          await trx.updateTable('indicator').set(written).where('value', '=', value).execute();
          revision.advance();
        });
      await harness.load([ip('192.0.2.1', { tags: ['c2'] }), ip('192.0.2.2', { tags: ['c2'] })]);
      expect(named(await startup())).toEqual({ new: ['192.0.2.1', '192.0.2.2'], deleted: [] });
      // One leaves the one feed, one the other.
      await set('192.0.2.1', { tags: [], confidence: 20 });
      await set('192.0.2.2', { tags: ['c2'], confidence: 5 });
      expect((await poll()).deleted).toEqual([]);
      await set('192.0.2.1', { tags: [], confidence: 5 });
      await set('192.0.2.2', { tags: [], confidence: 5 });
      expect(named(await poll())).toEqual({ new: [], deleted: ['192.0.2.1', '192.0.2.2'] });
    });

    it('with a limit have what comes in instead of what leaves', async () => {
      key = await harness.newKey({ feeds: ['first'] });
      await harness.load([
        ip('192.0.2.1', { confidence: 90 }),
        indicatorRecord('DOMAIN', 'evil.example', { confidence: 80 }),
        ip('192.0.2.3', { confidence: 70 }),
      ]);
      // The domain is one of the first two.
      expect(named(await startup())).toEqual({ new: ['192.0.2.1'], deleted: [] });
      await whitelist('evil.example');
      expect(named(await poll())).toEqual({ new: ['192.0.2.3'], deleted: [] });
      await harness.load([ip('192.0.2.4', { confidence: 99 })]);
      expect(named(await poll())).toEqual({ new: ['192.0.2.4'], deleted: ['192.0.2.3'] });
    });
  });

  describe('filters', () => {
    beforeEach(() =>
      harness.load([
        ip('192.0.2.1', { tags: ['C2'] }),
        ip('192.0.2.0/24', { tags: ['scanner'] }),
        ip('192.0.2.3'),
      ]),
    );
    it.each([
      ['scopes=Ip', ['192.0.2.1', '192.0.2.3']],
      ['scopes=range', ['192.0.2.0/24']],
      ['scopes=ip,range&origins=tipline,crowdsec', ['192.0.2.0/24', '192.0.2.1', '192.0.2.3']],
      ['origins=crowdsec', []],
      ['scenarios_containing=c2,x', ['192.0.2.1']],
      ['scenarios_not_containing=c2', ['192.0.2.0/24', '192.0.2.3']],
      ['community_pull=false&additional_pull=false&dedup=false', ['192.0.2.0/24', '192.0.2.1', '192.0.2.3']],
    ])('%s', async (query, expected) => {
      expect(values((await poll(`startup=true&${query}`)).new)).toEqual(expected);
      expect(await poll(query)).toEqual(NOTHING);
    });

    it('that are changed have what they leave out deleted', async () => {
      await poll('scopes=Ip');
      expect(named(await poll('scopes=Range'))).toEqual({
        new: ['192.0.2.0/24'],
        deleted: ['192.0.2.1', '192.0.2.3'],
      });
    });
  });

  it('is compressed for clients that accept it', async () => {
    await harness.load([ip('192.0.2.1')]);
    const response = await ask('decisions/stream?startup=true', { headers: { 'accept-encoding': 'gzip' } });
    expect(response.headers['content-encoding']).toBe('gzip');
    expect(JSON.parse(gunzipSync(response.rawPayload).toString()).new).toHaveLength(1);
  });
});
