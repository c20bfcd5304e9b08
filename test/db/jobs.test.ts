import { expect, it } from 'vitest';
import { type JobRunner, runJobLoop } from '../../src/db/jobs.ts';

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
