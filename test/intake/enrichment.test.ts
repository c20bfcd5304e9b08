import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAccessTracker } from '../../src/enrichment/access-tracker.ts';
import { drainRequests, runEnrichmentQueue } from '../../src/enrichment/drain.ts';
import { openProviderClient, type ProviderClient } from '../../src/enrichment/providers/provider-client.ts';
import { findProviders } from '../../src/enrichment/providers.queries.ts';
import {
  type ProviderSettingsChange,
  queueCriteria,
  readyProviders,
  removeProvider,
  saveProvider,
} from '../../src/enrichment/providers.service.ts';
import {
  addRequests,
  claimRequests,
  countRequests,
  deleteObsolete,
  PRIORITY,
  type Priority,
} from '../../src/enrichment/requests.queries.ts';
import { changePin } from '../../src/indicators/confidence/confidence.service.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { type Outbound, openOutbound } from '../../src/outbound/outbound.ts';
import { memoryStore } from '../../src/rate-limit/memory.ts';
import { secretBox } from '../../src/secrets/secret-box.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type FeedServer, startFeedServer } from '../support/feed-server.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { SECRETS } from './feeds.ts';

const who = { who: 'test', now: NOW };
/** AbuseIPDB's documented answer, as far as it is read. */
const says = (score: number) => ({
  body: JSON.stringify({
    data: {
      ipAddress: '198.51.100.1',
      isPublic: true,
      isWhitelisted: false,
      abuseConfidenceScore: score,
      totalReports: 3,
    },
  }),
});
const CLAIMING = { provider: 'abuseipdb', tlpCeiling: 'RED' } as const;
const address = (n: number) => `198.51.100.${n}`;
const idOf = (n: number) => indicatorId('IPV4', address(n));

onEveryEngine((engine) => {
  let tipline: Harness;
  let server: FeedServer;
  let outbound: Outbound;
  let asker: ProviderClient;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    server = await startFeedServer();
    server.answer(says(90));
    outbound = openOutbound({ allowedNetworks: ['127.0.0.0/8'], userAgent: 'test' });
    asker = openProviderClient({ outbound, rateLimits: memoryStore(), clock: () => tipline.clock.now });
  });
  afterEach(async () => {
    await outbound.close();
    await server.close();
    await tipline.close();
  });

  const setUp = (change: ProviderSettingsChange = {}) =>
    saveProvider(
      tipline.db,
      SECRETS,
      'abuseipdb',
      { keys: ['key-of-test'], baseUrl: server.address, ...change },
      who,
    );
  const load = (count: number, fields = {}) =>
    tipline.load(Array.from({ length: count }, (_, i) => indicatorRecord('IPV4', address(i + 1), fields)));
  const deps = () => ({
    db: tipline.db,
    client: asker,
    secrets: SECRETS,
    clock: () => tipline.clock.now,
    stopped: () => false,
  });
  const drain = () => drainRequests(deps());
  async function request(ids: string[], priority: Priority = PRIORITY.person, force = false) {
    const [ready] = await readyProviders(tipline.db);
    return ready ? addRequests(tipline.db, ids, queueCriteria(ready), priority, tipline.clock.now, force) : 0;
  }
  const waiting = async () => (await countRequests(tipline.db)).get('abuseipdb') ?? 0;
  const context = async (n: number) => (await tipline.get(`/api/v1/indicators/${idOf(n)}/context`)).json();
  const askedFor = () =>
    server.asked.map(({ url }) => new URL(url, 'http://x').searchParams.get('ipAddress'));

  describe('the enrichment queue', () => {
    it('stops at once while it waits for requests', async () => {
      const ending = new AbortController();
      let looks = 0;
      // Asked before each look: by the second time it has waited.
      const stopped = () => {
        if (looks++ === 0) setTimeout(() => ending.abort(), 50);
        return ending.signal.aborted;
      };
      const ended = runEnrichmentQueue({ ...deps(), stopped }, ending.signal);
      const late = delay(2_000, 'late', { ref: false });
      expect(await Promise.race([ended, late])).toBeUndefined();
    });

    it('of one provider does not wait for that of another', async () => {
      await load(1);
      await setUp();
      // The first provider answers nothing; the second is asked nevertheless.
      const stuck = new Promise<never>(() => {});
      const asked: string[] = [];
      const client: ProviderClient = {
        ...asker,
        ask: ({ name }) => {
          asked.push(name);
          return stuck;
        },
      };
      const ending = new AbortController();
      void runEnrichmentQueue({ ...deps(), client, stopped: () => ending.signal.aborted }, ending.signal);
      await request([idOf(1)]);
      await expect.poll(() => asked, { timeout: 10_000 }).toEqual(['abuseipdb']);
      await saveProvider(tipline.db, SECRETS, 'virustotal', { keys: ['k'] }, who);
      const virustotal = (await readyProviders(tipline.db)).find(
        ({ provider }) => provider.name === 'virustotal',
      );
      if (!virustotal) throw new Error('virustotal is not ready');
      const criteria = queueCriteria(virustotal);
      await addRequests(tipline.db, [idOf(1)], criteria, PRIORITY.person, tipline.clock.now, false);
      await expect.poll(() => asked, { timeout: 10_000 }).toEqual(['abuseipdb', 'virustotal']);
      ending.abort();
    });

    it('of a provider whose keys cannot be decrypted is reported and paused, until they are set again', async () => {
      await load(1);
      await setUp();
      await request([idOf(1)]);
      const others = secretBox('another secret of more than thirty-two characters', 'test');
      await drainRequests({ ...deps(), secrets: others });
      const [provider] = await findProviders(tipline.db);
      expect(provider).toMatchObject({
        lastError: 'the stored credentials cannot be decrypted: TIPLINE_SECRET has changed',
        pausedUntil: new Date(tipline.clock.now.getTime() + 60_000),
      });
      expect([await waiting(), server.asked]).toEqual([1, []]);
      await setUp();
      await drain();
      expect([await waiting(), server.asked.length]).toEqual([0, 1]);
    });

    it('loses requests that may not be sent page by page, however many there are', async () => {
      await load(5, { tlp: 'AMBER' });
      await setUp();
      await request([1, 2, 3, 4, 5].map(idOf));
      const below = { ...CLAIMING, tlpCeiling: 'CLEAR' } as const;
      let pages = 0;
      await deleteObsolete(tipline.db, below, tipline.clock.now, () => ++pages === 2, 1);
      expect(await waiting()).toBe(3);
      await deleteObsolete(tipline.db, below, tipline.clock.now, () => false, 1);
      expect(await waiting()).toBe(0);
    });

    it('has no hash that is the fingerprint of a certificate', async () => {
      await setUp();
      const [file, certificate] = ['a', 'b'].map((digit) => digit.repeat(40)) as [string, string];
      await tipline.load([
        indicatorRecord('SHA1', file),
        indicatorRecord('SHA1', certificate, { ofCertificate: true }),
      ]);
      const criteria = { provider: 'virustotal', accepts: ['SHA1'], tlpCeiling: 'RED' } as const;
      const ids = [file, certificate].map((hash) => indicatorId('SHA1', hash));
      expect(await addRequests(tipline.db, ids, criteria, PRIORITY.person, tipline.clock.now)).toBe(1);
    });

    it('stores the result, raises the confidence, and removes the request', async () => {
      await load(1);
      await setUp();
      await request([idOf(1)]);
      await drain();
      expect(await context(1)).toMatchObject({
        confidence: 90,
        enrichmentSummary: { verdict: 'MALICIOUS', maxScore: 90, providerCount: 1, fresh: true },
        enrichments: [{ provider: 'abuseipdb', score: 90, error: null, raw: JSON.parse(says(90).body) }],
      });
      expect(server.asked[0]?.headers.key).toBe('key-of-test');
      expect(await waiting()).toBe(0);
    });

    it('queries no provider by default, whatever is imported or accessed', async () => {
      await load(3);
      const interest = createAccessTracker(tipline.db, () => {});
      interest.record(idOf(1), NOW);
      await interest.stop();
      await drain();
      expect(await waiting()).toBe(0);
      expect(server.asked).toEqual([]);
    });

    it('queries new indicators automatically only where that is enabled', async () => {
      await setUp();
      await load(1);
      expect(await waiting()).toBe(0);
      await setUp({ automatic: true });
      await load(3);
      expect(await waiting()).toBe(2);
      await load(3, { tags: ['known'] });
      expect(await waiting()).toBe(2);
    });

    it('prioritizes user requests, then API access, then policy, newest first', async () => {
      await setUp({ automatic: true });
      await load(4);
      const interest = createAccessTracker(tipline.db, () => {});
      interest.record(idOf(3), NOW);
      await interest.stop();
      await request([idOf(2)]);
      const claimed = await claimRequests(tipline.db, CLAIMING, 2, NOW, new Date(NOW.getTime() + 1000));
      expect(claimed.map(({ normalized }) => normalized)).toEqual([address(2), address(3)]);
    });

    it('does not repeat a fresh query unless forced', async () => {
      await load(1);
      await setUp();
      await request([idOf(1)]);
      await drain();
      expect(await request([idOf(1)], PRIORITY.playbook)).toBe(0);
      expect(await request([idOf(1)], PRIORITY.person, true)).toBe(1);
      tipline.clock.now = new Date(NOW.getTime() + 40 * 86_400_000);
      await drain();
      expect(await request([idOf(1)], PRIORITY.playbook)).toBe(0);
      expect(server.asked).toHaveLength(2);
    });

    it('goes on after the clock was set back, and replaces what was stored before', async () => {
      const ahead = new Date(NOW.getTime() + 400 * 86_400_000);
      await load(4);
      await setUp();
      tipline.clock.now = ahead;
      await request([idOf(1)]);
      await drain();
      server.answer({ status: 500 });
      await request([idOf(2)]);
      await drain();
      server.answer({ status: 429, headers: { 'retry-after': '3600' } });
      await request([idOf(3)]);
      await drain();
      await claimRequests(tipline.db, CLAIMING, 1, ahead, new Date(ahead.getTime() + 120_000));
      const [paused] = await findProviders(tipline.db);
      expect(paused?.pausedUntil).toEqual(new Date(ahead.getTime() + 3_600_000));

      tipline.clock.now = NOW;
      // A new process, which has seen no response of the provider.
      asker = openProviderClient({ outbound, rateLimits: memoryStore(), clock: () => tipline.clock.now });
      server.answer(says(70));
      server.asked.length = 0;
      expect(await request([idOf(1)], PRIORITY.playbook)).toBe(1);
      await drain();
      expect(askedFor().sort()).toEqual([address(1), address(2), address(3)]);
      expect(await waiting()).toBe(0);
      expect((await context(1)).enrichments).toMatchObject([{ score: 70, fetchedAt: NOW.toISOString() }]);
    });

    it('has the reason that a provider refused the key, and uses the key at once when it is set again', async () => {
      await load(9);
      await setUp();
      await request(Array.from({ length: 9 }, (_, i) => idOf(i + 1)));
      server.answer({ status: 401 });
      await drain();
      await drain();
      const [provider] = await findProviders(tipline.db);
      expect(provider).toMatchObject({
        lastError: 'key refused',
        pausedUntil: new Date(NOW.getTime() + 3_600_000),
      });
      server.answer(says(70));
      server.asked.length = 0;
      await setUp();
      await drain();
      // Those that were refused wait for their next attempt.
      expect([await waiting(), server.asked.length]).toEqual([4, 5]);
    });

    it("never sends indicators that are whitelisted, expired or above the provider's TLP ceiling", async () => {
      await setUp({ automatic: true });
      await tipline.load([
        indicatorRecord('IPV4', address(1), { tlp: 'RED' }),
        indicatorRecord('IPV4', address(2), { tlp: 'AMBER_STRICT' }),
        indicatorRecord('IPV4', address(3), { expiresAt: NOW }),
        indicatorRecord('IPV4', address(4)),
        indicatorRecord('IPV4', address(5), { tlp: 'AMBER' }),
      ]);
      await addEntry(tipline.db, address(4), undefined, { ...who, reason: 'ours' }, 'RED');
      await drain();
      expect(askedFor()).toEqual([address(5)]);
      expect(await waiting()).toBe(0);
    });

    it('stops sending at once when indicators are whitelisted or restricted, or the provider is removed', async () => {
      const count = 40;
      for (const [round, change] of [
        () => addEntry(tipline.db, '198.51.100.0/24', undefined, { ...who, reason: 'ours' }, 'RED'),
        () => saveProvider(tipline.db, SECRETS, 'abuseipdb', { tlpCeiling: 'CLEAR' }, who),
        () => removeProvider(tipline.db, 'abuseipdb', who),
      ].entries()) {
        server.asked.length = 0;
        await setUp({ tlpCeiling: 'AMBER' });
        const network = `45.61.${round}`;
        const ids = Array.from({ length: count }, (_, i) =>
          indicatorId('IPV4', `${round === 0 ? '198.51.100' : network}.${i + 1}`),
        );
        await tipline.load(
          Array.from({ length: count }, (_, i) =>
            indicatorRecord('IPV4', `${round === 0 ? '198.51.100' : network}.${i + 1}`, { tlp: 'GREEN' }),
          ),
        );
        await request(ids);
        let changed: Promise<unknown> | null = null;
        server.answer(() => {
          changed ??= change();
          return says(50);
        });
        await drain();
        await changed;
        // What was under way when it changed, a handful or two.
        expect(server.asked.length).toBeLessThan(count / 2);
      }
    });

    it('drops automatic requests when automatic queries are disabled', async () => {
      await setUp({ automatic: true });
      await load(3);
      await request([idOf(1)]);
      await setUp({ automatic: false });
      expect(await waiting()).toBe(1);
    });

    it('leaves a leased request alone, and retries a failed one on user request', async () => {
      await setUp({ automatic: true });
      await load(1);
      await claimRequests(tipline.db, CLAIMING, 1, NOW, new Date(NOW.getTime() + 60_000));
      await request([idOf(1)]);
      await drain();
      expect(server.asked).toEqual([]);
      tipline.clock.now = new Date(NOW.getTime() + 60_001);
      server.answer({ status: 500 });
      await drain();
      expect(await request([idOf(1)])).toBe(1);
      server.answer(says(70));
      tipline.clock.now = new Date(NOW.getTime() + 60_002);
      await drain();
      expect(await context(1)).toMatchObject({ confidence: 70 });
    });

    it('leases each request to a single worker', async () => {
      await setUp();
      await load(20);
      await request(Array.from({ length: 20 }, (_, i) => idOf(i + 1)));
      await Promise.all([drain(), drain(), drain()]);
      expect(askedFor().sort()).toEqual(Array.from({ length: 20 }, (_, i) => address(i + 1)).sort());
      expect(await waiting()).toBe(0);
    });

    it('takes over the requests of a killed worker when the lease expires', async () => {
      await setUp();
      await load(1);
      await request([idOf(1)]);
      await claimRequests(tipline.db, CLAIMING, 1, NOW, new Date(NOW.getTime() + 120_000));
      await drain();
      expect(server.asked).toHaveLength(0);
      tipline.clock.now = new Date(NOW.getTime() + 120_001);
      await drain();
      expect((await context(1)).enrichments).toHaveLength(1);
      expect(await waiting()).toBe(0);
    });
  });

  describe('a failing provider', () => {
    it('yields an error, not a clean verdict; the request retries with back-off, five times', async () => {
      server.answer({ status: 200, body: '<html>Sign in</html>' });
      await load(1);
      await setUp();
      await request([idOf(1)]);
      await drain();
      expect(await context(1)).toMatchObject({
        confidence: 50,
        enrichmentSummary: { verdict: 'UNKNOWN', maxScore: null },
        enrichments: [{ provider: 'abuseipdb', verdict: 'UNKNOWN', score: null, error: expect.any(String) }],
      });
      expect(await waiting()).toBe(1);
      await drain();
      expect(server.asked).toHaveLength(1);
      for (let day = 1; day < 9; day++) {
        tipline.clock.now = new Date(NOW.getTime() + day * 86_400_000);
        await drain();
      }
      expect(server.asked).toHaveLength(5);
      expect(await waiting()).toBe(0);
    });

    it('does not overwrite earlier results', async () => {
      await load(1);
      await setUp();
      await request([idOf(1)]);
      await drain();
      server.answer({ status: 500 });
      await request([idOf(1)], PRIORITY.person, true);
      tipline.clock.now = new Date(NOW.getTime() + 1000);
      await drain();
      expect(await context(1)).toMatchObject({ confidence: 90, enrichments: [{ score: 90, error: null }] });
      const stored = await tipline.db.selectFrom('enrichment').select(['failure']).executeTakeFirst();
      expect(stored?.failure).toMatch(/500/);
    });

    it('is paused until Retry-After, then queried again', async () => {
      server.answer({ status: 429, headers: { 'retry-after': '600' } });
      await load(3);
      await setUp();
      await request([idOf(1), idOf(2), idOf(3)]);
      await drain();
      const asked = server.asked.length;
      expect(await waiting()).toBe(3);
      server.answer(says(10));
      await drain();
      expect(server.asked).toHaveLength(asked);
      tipline.clock.now = new Date(NOW.getTime() + 601_000);
      await drain();
      expect(await waiting()).toBe(0);
      expect((await context(3)).enrichmentSummary.maxScore).toBe(10);
    });

    it('is queried no more than its quota allows', async () => {
      await load(10);
      await setUp({ perMinute: 3 });
      await request(Array.from({ length: 10 }, (_, i) => idOf(i + 1)));
      await drain();
      await drain();
      expect(server.asked).toHaveLength(3);
      expect(await waiting()).toBe(7);
    });

    it('does not change a confidence that was pinned during the query', async () => {
      await load(1);
      await setUp();
      await request([idOf(1)]);
      let pinned: Promise<unknown> = Promise.resolve();
      server.answer(() => {
        pinned = changePin(
          tipline.db,
          idOf(1),
          { kind: 'pin', confidence: 5 },
          { who: 'test', reason: null, now: NOW },
        );
        return says(95);
      });
      await drain();
      await pinned;
      expect(await context(1)).toMatchObject({
        confidence: 5,
        confidenceLocked: true,
        enrichmentSummary: { maxScore: 95 },
      });
    });
  });

  describe('provider settings', () => {
    it('are audited without the keys, which are stored encrypted', async () => {
      await setUp();
      const stored = JSON.stringify([
        await tipline.db.selectFrom('provider').selectAll().execute(),
        await tipline.db.selectFrom('audit').selectAll().execute(),
      ]);
      expect(stored).toContain('provider.change');
      expect(stored).not.toContain('key-of-test');
    });

    it('keep omitted values, and are deleted with the provider', async () => {
      await setUp({ perDay: 5 });
      await saveProvider(tipline.db, SECRETS, 'abuseipdb', { automatic: true }, who);
      expect(await findProviders(tipline.db)).toMatchObject([
        { perDay: 5, automatic: true, baseUrl: server.address },
      ]);
      await load(1);
      expect(await waiting()).toBe(1);
      await removeProvider(tipline.db, 'abuseipdb', who);
      expect(await waiting()).toBe(0);
    });

    it.each([
      ['nosuch', { keys: ['k'] }, /there are: virustotal/],
      [
        'shodan',
        { keys: ['k'], baseUrl: 'https://user:password@proxy.example/' },
        /must not have a user name/,
      ],
      ['shodan', {}, /needs a key/],
      ['shodan', { keys: ['k'], baseUrl: 'file:///etc' }, /http:/],
    ])('are rejected with the reason: %s %j', async (name, change, message) => {
      await expect(saveProvider(tipline.db, SECRETS, name, change, who)).rejects.toThrow(message);
      expect(await findProviders(tipline.db)).toEqual([]);
    });
  });
});
