import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadStore } from '../../src/backup/load-store.ts';
import { openBackup } from '../../src/backup/read-backup.ts';
import { openSecrets, sessionSecret } from '../../src/cli/secret.ts';
import { openDatabase } from '../../src/db/open.ts';
import { openPostgresSession } from '../../src/db/postgres/postgres-session.ts';
import { runPendingUndos, startUndo } from '../../src/imports/undo.service.ts';
import { openBrowser } from '../app/browser.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { freshDatabase, hasPostgres } from '../support/postgres-nodes.ts';
import { factsOf, fileOf, loadDump, releases, unpack } from '../support/releases.ts';

/** The responses of a release on its store; scripts/make-upgrade-fixture.mjs. */
interface Facts {
  key: string;
  /** Of a session. */
  cookies: Record<string, string>;
  total: number;
  /** Id, value and confidence of each indicator. */
  ids: [string, string, number][];
  sids: number[];
  cursor: string;
}

interface Release {
  madeAt: string;
  email: string;
  passphrase: string;
  /** TIPLINE_SECRET of the nodes on PostgreSQL. */
  secret: string;
  embedded: Facts;
  postgresql: Facts;
}

const releaseOf = (release: string) => factsOf(release) as Release;

interface Store {
  harness: Harness;
  secrets: Awaited<ReturnType<typeof openSecrets>>;
}

/** Opens a store as this version does, at the time at which the release wrote it. */
async function openStore(url: string | undefined, dataDirectory: string, secret?: string): Promise<Store> {
  const settings = { secret, databaseUrl: url, dataDirectory };
  const open = () => openDatabase({ url, dataDirectory, allowRemote: false, onIdleError: () => {} });
  const harness = await startHarness({ open }, { sessionSecret: await sessionSecret(settings) });
  return { harness, secrets: await openSecrets(settings) };
}

describe.each(releases)('this version on the store of %s', (release) => {
  const { madeAt, email, secret, passphrase, ...facts } = releaseOf(release);
  const stores: [keyof typeof facts, () => Promise<Store>][] = [
    ['embedded', () => openStore(undefined, unpack(release))],
    ...(hasPostgres
      ? [
          [
            'postgresql',
            async () => openStore((await loadDump(release)).url, temporaryDirectory(), secret),
          ] as never,
        ]
      : []),
  ];

  describe.each(stores)('in a database that is %s', (kind, open) => {
    const { key, cookies, total, ids, sids, cursor } = facts[kind];
    let store: Store;
    const get = async (path: string) => store.harness.get(path, { key });
    const list = async () => (await get('/api/v1/indicators?pageSize=500')).json();
    beforeAll(async () => {
      store = await open();
      store.harness.clock.now = new Date(Date.parse(madeAt) + 60_000);
    });
    afterAll(() => store.harness.close());

    it('keeps keys, totals, ids, pins and the whitelist', async () => {
      const { total: now, data } = await list();
      expect(now).toBe(total);
      expect(data.map((row: Record<string, unknown>) => [row.id, row.value, row.confidence])).toEqual(ids);
      expect(ids).toContainEqual([expect.any(String), 'h1.test-feed.net', 97]);
    });

    it('keeps the sids of rules, and the saved feed', async () => {
      const { body } = await get('/api/v1/exports/suricata');
      expect([...body.matchAll(/sid:(\d+)/g)].map(([, sid]) => Number(sid))).toEqual(sids);
      expect((await get('/api/v1/feeds/edge')).body.trim().split('\n').length).toBeGreaterThan(100);
    });

    it('keeps sessions and stored credentials', async () => {
      const browser = openBrowser(store.harness);
      for (const [name, value] of Object.entries(cookies)) browser.cookies.set(name, value);
      expect((await browser.send('GET', '/app/session')).json().account).toMatchObject({ email });
      const row = await store.harness.db.selectFrom('provider').select('keys').executeTakeFirstOrThrow();
      expect(store.secrets.providers.open(String(row.keys))).toBe('["a key of a provider"]');
    });

    it('goes on from the cursor of a client, and undoes an import of before', async () => {
      const changes = async () => (await get(`/api/v1/indicators/changes?cursor=${cursor}`)).json();
      expect((await changes()).changes).toEqual([]);
      await store.harness.load([indicatorRecord('DOMAIN', 'new.test-feed.net')]);
      expect((await changes()).changes).toMatchObject([
        { op: 'upsert', indicator: { value: 'new.test-feed.net' } },
      ]);
      const { db, clock } = store.harness;
      const { id } = await db
        .selectFrom('import_run')
        .select('id')
        .where('source', '=', 'A list')
        .executeTakeFirstOrThrow();
      await startUndo(db, id, { who: 'test', address: null, now: clock.now });
      await runPendingUndos(db, { now: () => clock.now, stopped: () => false });
      expect((await list()).total).toBeLessThan(total / 2);
    });
  });

  it.skipIf(!hasPostgres)('restores its backup', async () => {
    const { url, drop } = await freshDatabase();
    const backup = await openBackup(fileOf(release, 'backup').pathname, async () => passphrase);
    const session = await openPostgresSession(url, 'tipline test');
    const { verify } = backup;
    await loadStore(session, backup, { now: new Date(), replace: false, beginsHistory: true, verify });
    await session.close();
    const { harness } = await openStore(url, temporaryDirectory(), String(backup.secret));
    const { key, total } = facts.embedded;
    expect((await harness.get('/api/v1/indicators?pageSize=1', { key })).json().total).toBe(total);
    await harness.close();
    await drop();
  });
});
