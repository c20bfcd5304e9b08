import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { MAX_STALE_MS } from '../../src/db/revision/watch.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { type Browser, openBrowser, signedIn } from '../app/browser.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { until } from '../support/processes.ts';
import { type ServerProcess, startPostgres, startReplica, stop } from '../support/servers.ts';

const LIST = '/api/v1/indicators?pageSize=50';

describe.skipIf(!inject('postgresUrl'))('a node with a replica', () => {
  let primary: ServerProcess;
  let replica: ServerProcess;
  let onReplica: pg.Client;
  /** Reads from the replica; the other writes, and knows of no replica. */
  let reader: Harness;
  let writer: Harness;
  const directory = temporaryDirectory();
  const data = join(directory, 'replica');
  const lost: string[] = [];

  const node = (replicaUrls: string[]) => {
    const options = {
      url: primary.url,
      replicaUrls,
      dataDirectory: '',
      allowRemote: false,
      onIdleError: ({ message }: Error) => void lost.push(message),
    };
    return startHarness({ open: () => openDatabase(options) });
  };
  const startOfReplica = async (port?: number) => {
    replica = (await startReplica(primary.url, data, port)) as ServerProcess;
    onReplica = new pg.Client(replica.url);
    onReplica.on('error', () => {});
    await onReplica.connect();
  };

  beforeAll(async () => {
    primary = (await startPostgres(join(directory, 'primary'))) as ServerProcess;
    writer = await node([]);
    await writer.load([record('one')]);
    await startOfReplica();
    reader = await node([replica.url]);
  });
  afterAll(async () => {
    await onReplica.end().catch(() => {});
    await reader.close();
    await writer.close();
    await stop(replica.process, 'SIGINT');
    await stop(primary.process, 'SIGINT');
  });

  const record = (name: string) => indicatorRecord('DOMAIN', `${name}.test-feed.net`, { statedAt: NOW });
  const total = async (list = LIST) => {
    const answer = await reader.get(list);
    expect(answer.statusCode).toBe(200);
    return answer.json().total as number;
  };
  /** Connections of nodes that have read from it; those that ask for the revision have another name. */
  const readersOnReplica = async () => {
    const { rows } = await onReplica.query(
      `select count(*)::int as n from pg_stat_activity where application_name = 'tipline'`,
    );
    return rows[0].n as number;
  };
  /** Each list is another, so that none is kept. */
  const anotherList = (() => {
    let page = 1;
    return () =>
      `${LIST}&minConfidence=0&page=1&since=${new Date(NOW.getTime() - page++ * 86_400_000).toISOString()}`;
  })();
  const untilReplicaIsRead = async () => {
    for (let i = 0; (await readersOnReplica()) === 0; i++) {
      expect(i).toBeLessThan(200);
      await total(anotherList());
      await delay(10);
    }
  };

  it('reads from it, and still reflects writes within the staleness bound', async () => {
    await untilReplicaIsRead();
    for (const name of ['two', 'three', 'four']) {
      const before = await total();
      await writer.load([record(name)]);
      const committed = performance.now();
      for (;;) {
        const asked = performance.now();
        if ((await total()) === before + 1) break;
        expect(asked - committed).toBeLessThanOrEqual(MAX_STALE_MS);
      }
    }
  });

  it('does not read from it while it lags', async () => {
    await onReplica.query('select pg_wal_replay_pause()');
    const before = await total();
    await writer.load([record('five')]);
    await delay(MAX_STALE_MS);
    expect([await total(), await total(anotherList())]).toEqual([before + 1, before + 1]);
    const { data: items } = (await reader.get(LIST)).json();
    for (const { id } of items) expect((await reader.get(`/api/v1/indicators/${id}`)).statusCode).toBe(200);
    await onReplica.query('select pg_wal_replay_resume()');
  });

  it('fails no request when the replica stops, and reads from it again when it is back', async () => {
    const port = Number(new URL(replica.url).port);
    await untilReplicaIsRead();
    const stopped = stop(replica.process, 'SIGINT');
    for (let i = 0; i < 50; i++) await total(anotherList());
    await stopped;
    for (let i = 0; i < 10; i++) await total(anotherList());
    // The log has them: the primary is well.
    expect(lost.length).toBeGreaterThan(0);
    for (const message of lost) expect(message).toContain(`replica 127.0.0.1:${port}: `);
    await startOfReplica(port);
    await untilReplicaIsRead();
  });

  it('reads from the primary while the processes of the replica are stopped, and closes', {
    tags: ['nightly'],
  }, async () => {
    const before = await readersOnReplica();
    const other = await node([replica.url]);
    await until('the node reads from the replica', async () => {
      await other.get(anotherList());
      return (await readersOnReplica()) > before;
    });
    const { rows } = await onReplica.query<{ pid: number }>('select pid from pg_stat_activity');
    const pids = [replica.process.pid as number, ...rows.map(({ pid }) => pid)];
    const start = performance.now();
    try {
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      const responses = await Promise.all(Array.from({ length: 4 }, () => other.get(anotherList())));
      expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
      await other.close();
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    }
    // Statements on the replica would wait for their time limit of 35 seconds.
    expect(performance.now() - start).toBeLessThan(25_000);
  });

  it('never reads from another replica behind the same address, which lags', {
    tags: ['nightly'],
  }, async () => {
    const lagging = (await startReplica(primary.url, join(directory, 'lagging'))) as ServerProcess;
    const onLagging = new pg.Client(lagging.url);
    await onLagging.connect();
    let turn = 0;
    const balancer = createServer((socket) => {
      // The first connection reads the revision.
      const server = connect(Number(new URL((turn++ % 2 ? lagging : replica).url).port), '127.0.0.1');
      socket.pipe(server).pipe(socket);
      socket.on('error', () => server.destroy());
      server.on('error', () => socket.destroy());
    }).listen(0, '127.0.0.1');
    await once(balancer, 'listening');
    const address = `postgres://tipline@127.0.0.1:${(balancer.address() as AddressInfo).port}/postgres`;
    const before = await total(anotherList());
    await onLagging.query('select pg_wal_replay_pause()');
    await writer.load([record('unknown-to-the-other')]);
    const other = await node([address]);
    const used = await readersOnReplica();
    await until('the node reads from the replica', async () => {
      const responses = await Promise.all(Array.from({ length: 8 }, () => other.get(anotherList())));
      expect(responses.map((response) => response.json().total)).toEqual(Array(8).fill(before + 1));
      return (await readersOnReplica()) > used;
    });
    await other.close();
    balancer.close();
    await onLagging.end();
    await stop(lagging.process, 'SIGINT');
  });

  it('starts without it', async () => {
    const alone = await node(['postgres://tipline@127.0.0.1:1/postgres']);
    expect((await alone.get(LIST)).statusCode).toBe(200);
    await alone.close();
  });
});

describe.skipIf(!inject('postgresUrl'))('a standby that lacks the last commits and is promoted', () => {
  const directory = temporaryDirectory();
  const servers: ServerProcess[] = [];
  const started = async (server: Promise<ServerProcess | null>) => {
    const running = (await server) as ServerProcess;
    servers.push(running);
    return running;
  };
  afterAll(async () => {
    for (const server of servers) await stop(server.process, 'SIGINT');
  });

  it('becomes authoritative, although a replica has the lost commits', { tags: ['nightly'] }, async () => {
    const first = await started(startPostgres(join(directory, 'first')));
    const port = Number(new URL(first.url).port);
    const open = (replicaUrls: string[]) => () =>
      openDatabase({
        url: first.url,
        replicaUrls,
        dataDirectory: '',
        allowRemote: false,
        onIdleError: () => {},
      });
    const node = (replicaUrls: string[]) => startHarness({ open: open(replicaUrls) });
    const record = (name: string) => indicatorRecord('DOMAIN', `${name}.test-feed.net`, { statedAt: NOW });
    const writer = await node([]);
    await writer.load([record('one')]);
    const replica = await started(startReplica(first.url, join(directory, 'replica')));
    const reader = await node([replica.url]);
    const standby = await started(startReplica(first.url, join(directory, 'standby')));
    const names = async (query = '') => {
      const answer = await reader.get(`${LIST}${query}`);
      if (answer.statusCode !== 200) return null;
      return (answer.json().data as { value: string }[]).map(({ value }) => value).sort();
    };
    const exported = async () => {
      const { body } = await reader.get('/api/v1/indicators?format=csv');
      return [...body.matchAll(/[a-z]+\.test-feed\.net/g)].map(([value]) => value).sort();
    };
    const one = 'one.test-feed.net';
    /** Each is another, so that none is kept. */
    let days = 1;
    const another = () =>
      names(`&minConfidence=0&since=${new Date(NOW.getTime() - days++ * 86_400_000).toISOString()}`);
    const reads = async () =>
      (await onReplica.query("select 1 from pg_stat_activity where application_name = 'tipline'")).rowCount;

    await stop(standby.process, 'SIGINT');
    await writer.load([record('lost')]);
    const onReplica = new pg.Client(replica.url);
    onReplica.on('error', () => {});
    await onReplica.connect();
    const reached = async () =>
      (await onReplica.query('select 1 from indicator where value = $1', ['lost.test-feed.net'])).rowCount;
    await until('the replica has it', async () => (await reached()) === 1);
    await until('the node reads from the replica', async () => (await another()) && (await reads()) !== 0);
    expect(await names()).toEqual(['lost.test-feed.net', one]);
    expect(await exported()).toEqual(['lost.test-feed.net', one]);

    await stop(first.process, 'SIGINT');
    await started(startReplica(first.url, join(directory, 'standby'), port));
    const promoting = new pg.Client(first.url);
    promoting.on('error', () => {});
    await promoting.connect();
    await promoting.query('select pg_promote()');
    await promoting.end();
    await until('the node answers from it', async () => (await names())?.length === 1);
    // As far as the replica by the count, and then further.
    for (const written of [
      [one],
      [one, 'new.test-feed.net'],
      ['newer.test-feed.net', 'new.test-feed.net', one],
    ]) {
      const wanted = [...written].sort();
      if (written.length > 1) await writer.load([record(written.length === 2 ? 'new' : 'newer')]);
      await delay(MAX_STALE_MS);
      for (let i = 0; i < 20; i++) {
        expect([await another(), await names()]).toEqual([wanted, wanted]);
        // Not before the revision is that of the lost commit.
        if (written.length > 1) expect(await exported()).toEqual(wanted);
        await delay(10);
      }
    }
    await onReplica.end().catch(() => {});
    await reader.close();
    await writer.close();
  });
});

describe.skipIf(!inject('postgresUrl'))('a primary that comes back as a standby', () => {
  const directory = temporaryDirectory();
  const servers: ServerProcess[] = [];
  const started = async (server: Promise<ServerProcess | null>) => {
    const running = (await server) as ServerProcess;
    servers.push(running);
    return running;
  };
  let tipline: Harness;
  let analyst: Browser;

  beforeAll(async () => {
    const primary = await started(startPostgres(join(directory, 'primary')));
    const options = { dataDirectory: '', allowRemote: false, onIdleError: () => {} };
    tipline = await startHarness({ open: () => openDatabase({ url: primary.url, ...options }) });
    await tipline.load([indicatorRecord('IPV4', '203.0.113.9', { statedAt: NOW })]);
    analyst = await signedIn(tipline, 'analyst');
    const standby = await started(startReplica(primary.url, join(directory, 'standby')));
    await stop(standby.process, 'SIGINT');
    await stop(primary.process, 'SIGINT');
    await started(startReplica(primary.url, join(directory, 'standby'), Number(new URL(primary.url).port)));
    await until('it answers', async () => (await tipline.get('/api/health/ready')).statusCode === 200);
  });
  afterAll(async () => {
    await tipline.close();
    for (const server of servers) await stop(server.process, 'SIGINT');
  });

  it.each(['json', 'csv', 'ndjson'])('still serves %s', async (format) => {
    const { statusCode, body } = await tipline.get(`/api/v1/indicators?format=${format}`);
    expect({ statusCode, body }).toEqual({ statusCode: 200, body: expect.stringContaining('203.0.113.9') });
  });

  it('responds 503 with Retry-After to what writes', async () => {
    const path = `/app/indicators/${indicatorId('IPV4', '203.0.113.9')}/pin`;
    const responses = [
      await tipline.get('/api/v1/indicators?format=snort'),
      await analyst.send('POST', path, { confidence: 5, reason: 'known' }),
      await openBrowser(tipline).signIn('analyst@example.org'),
    ];
    expect(responses.map(({ statusCode, headers }) => [statusCode, headers['retry-after']])).toEqual(
      responses.map(() => [503, '5']),
    );
  });

  it('is named in the health check, and ready', async () => {
    const health = await tipline.get('/api/health?deep=1');
    expect({ statusCode: health.statusCode, ...health.json() }).toMatchObject({
      statusCode: 503,
      checks: { database: { status: 'degraded', message: expect.stringContaining('standby') } },
    });
    expect((await tipline.get('/api/health/ready')).statusCode).toBe(200);
  });
});
