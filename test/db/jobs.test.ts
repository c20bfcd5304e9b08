import { openAsBlob } from 'node:fs';
import type { LogEvent } from 'kysely';
import { expect, inject, it, onTestFinished } from 'vitest';
import { hasActiveJob, type JobRunner, openJobs, runJobLoop } from '../../src/db/jobs.ts';
import { openDatabase, openInMemory } from '../../src/db/open.ts';
import { freshPostgresUrl, onEveryEngine } from '../support/engines.ts';

/** A queue of one job, in a database that is away for so many questions after that. */
function queueOf(id: string, away: number) {
  const told: string[] = [];
  let jobs = [{ id, name: 'job', data: {}, expireInSeconds: 1 }];
  return {
    told,
    fetch: async () => jobs.splice(0),
    complete: async (_: string, done: string) => {
      if (away-- > 0) throw new Error('connect ECONNREFUSED');
      told.push(`completed ${done}`);
    },
    fail: async (_: string, done: string) => void told.push(`failed ${done}`),
    add: () => (jobs = [{ id: 'next', name: 'job', data: {}, expireInSeconds: 1 }]),
  };
}

it('a job that completed during a database outage is marked as completed afterwards', async () => {
  const queue = queueOf('one', 3);
  const [ending, errors] = [new AbortController(), [] as unknown[]];
  let done = 0;
  const work = async () => {
    done++;
    if (done === 1) queue.add();
    else ending.abort();
  };
  const doer = runJobLoop(queue as never, 'job', {
    work,
    onError: (error) => errors.push(error),
    signal: ending.signal,
    pollMs: 1,
  });
  await doer.ended;
  expect([done, errors.length, queue.told]).toEqual([2, 3, ['completed one', 'completed next']]);
});

/** One whose job has begun and does not end, when it is told to end. */
async function busy(queue: object, giveUpMs?: number): Promise<JobRunner> {
  const ending = new AbortController();
  let begun = () => {};
  const beginning = new Promise<void>((resolve) => (begun = resolve));
  const doer = runJobLoop(queue as never, 'job', {
    work: () => new Promise(() => begun()),
    onError: () => {},
    signal: ending.signal,
    giveUpMs,
  });
  await beginning;
  ending.abort();
  return doer;
}

it('a job in progress at shutdown is marked as failed', async () => {
  const queue = queueOf('long', 0);
  await (await busy(queue)).giveUp();
  expect(queue.told).toEqual(['failed long']);
});

it('abandoning a job does not wait for an unresponsive database', async () => {
  const queue = { ...queueOf('long', 0), fail: () => new Promise(() => {}) };
  await expect((await busy(queue, 1)).giveUp()).resolves.toBeUndefined();
});

onEveryEngine(({ name: engine }) => {
  async function open(log: (event: LogEvent) => void) {
    if (engine === 'embedded') return openInMemory(await openAsBlob(inject('emptyStore').snapshot), log);
    const { url, drop } = await freshPostgresUrl(inject('postgresUrl') ?? '');
    onTestFinished(drop);
    return openDatabase({ url, dataDirectory: '', allowRemote: false, onIdleError: () => {}, log });
  }

  it('a job that waits for another worker to end the one in progress causes no failing statement', {
    tags: ['nightly'],
  }, async () => {
    const failed: string[] = [];
    const database = await open((event) => {
      if (event.level === 'error') failed.push(String(event.error));
    });
    onTestFinished(database.close);
    const boss = await openJobs(database, [{ name: 'job', policy: 'stately', retryLimit: 0 }], () => {});
    onTestFinished(() => boss.stop({ graceful: false, wait: true, close: false }));
    const ending = new AbortController();
    let [begun, polls, end] = [0, 0, () => {}];
    const ended = new Promise<void>((done) => (end = done));
    // The first job ends after the other worker has polled a few times.
    const poll = () => void (begun === 1 && ++polls === 3 && end());
    const queue = {
      complete: boss.complete.bind(boss),
      fail: boss.fail.bind(boss),
      fetch: (...given: Parameters<typeof boss.fetch>) => boss.fetch(...given).finally(poll),
    };
    const loop = () =>
      runJobLoop(queue as never, 'job', {
        work: async () => {
          if (++begun === 1) await ended;
          else ending.abort();
        },
        isBusy: () => hasActiveJob(database.db, 'job').finally(poll),
        onError: (error) => failed.push(String(error)),
        signal: ending.signal,
        pollMs: 1,
      });
    await boss.send('job', {});
    const first = loop();
    while (begun === 0) await new Promise(setImmediate);
    await boss.send('job', {});
    const second = loop();
    await Promise.all([first.ended, second.ended]);
    expect({ begun, failed }).toEqual({ begun: 2, failed: [] });
  });
});
