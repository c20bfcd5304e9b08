import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Db, Read, ReadStats } from '../../src/db/database.ts';
import { createReadRouter, type Replica } from '../../src/db/postgres/replicas.ts';
import type { RevisionsOf } from '../../src/db/revision/watch.ts';

const named = (name: string) => ({ name }) as unknown as Db;
const nameOf = async (db: Db) => (db as unknown as { name: string }).name;

describe('reads', () => {
  let now: number;
  /** Revisions from this one on hold. */
  let holding: number;
  let read: Read;
  let stats: () => ReadStats;
  /** What each replica last said of itself, and whether it has said it just now. */
  let reports: { revision: number | null; isRecent: boolean; follows?: string | null }[];

  /** Returns another object with each report. */
  let lastReportOf: (i: number) => RevisionsOf;

  const replica = (i: number): Replica => ({
    db: named(`replica ${i}`),
    revisions: {
      lastKnown: () => reports[i]?.revision ?? null,
      isFresh: () => reports[i]?.isRecent ?? false,
      lastReport: () => lastReportOf(i),
    },
  });
  const many = async (work = nameOf) => {
    const names = [];
    for (let i = 0; i < 6; i++) names.push(await read(work));
    return [...new Set(names)].sort();
  };

  beforeEach(() => {
    [now, holding] = [1_000, 7];
    reports = [
      { revision: 7, isRecent: true },
      { revision: 8, isRecent: true },
    ];
    lastReportOf = (i) => ({
      access: 0,
      server: `run of ${i}`,
      follows: 'run 1',
      ...reports[i],
      revision: 0,
    });
    const ofPrimary = {
      isFresh: (_: string, revision: number) => revision >= holding,
      lastReport: () => ({ revision: 7, access: 0, server: 'run 1', follows: 'run 1' }),
    };
    ({ read, stats } = createReadRouter(named('primary'), [replica(0), replica(1)], ofPrimary, () => now));
  });

  it('are distributed round-robin to the replicas', async () => {
    expect(await many()).toEqual(['replica 0', 'replica 1']);
  });

  it('skip a replica behind the known revision', async () => {
    holding = 8;
    expect(await many()).toEqual(['replica 1']);
  });

  it('skip a replica without a recent report', async () => {
    reports[0] = { revision: null, isRecent: true };
    expect(await many()).toEqual(['replica 1']);
    reports[1] = { revision: 8, isRecent: false };
    expect(await many()).toEqual(['primary']);
  });

  it("skip a replica that has not confirmed the primary's run, whatever its revision", async () => {
    reports[0] = { revision: 9, isRecent: true, follows: 'run 0' };
    expect(await many()).toEqual(['replica 1']);
    reports[1] = { revision: 9, isRecent: true, follows: null };
    expect(await many()).toEqual(['primary']);
  });

  it('use the primary when no revision is known to be fresh', async () => {
    holding = Number.POSITIVE_INFINITY;
    expect(await many()).toEqual(['primary']);
  });

  it('that fail are repeated on the primary, and the replica is skipped for a second', async () => {
    const failing = async (db: Db) => {
      const name = await nameOf(db);
      if (name === 'replica 0') throw new Error('the connection is gone');
      return name;
    };
    expect(await many(failing)).toEqual(['primary', 'replica 1']);
    expect(stats()).toEqual({ primary: 1, replica: 5, failed: 1, replicas: 2, usable: 1 });
    expect(await many()).toEqual(['replica 1']);
    now += 1_000;
    expect(await many()).toEqual(['replica 0', 'replica 1']);
  });

  describe('on a replica that does not answer', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    /** The primary answers at once, a replica after some seconds. */
    const slow = (db: Db) =>
      new Promise<string>((done) => {
        const { name } = db as unknown as { name: string };
        setTimeout(done, name === 'primary' ? 0 : 30_000, name);
      });

    it('are repeated on the primary once it reports no revision either', async () => {
      const report = { revision: 7, access: 0, follows: 'run 1' };
      lastReportOf = () => report;
      const result = read(slow);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(stats()).toMatchObject({ primary: 1, failed: 1, usable: 1 });
      await expect(result).resolves.toBe('primary');
    });

    it('wait for it while it reports revisions', async () => {
      const result = read(slow);
      await vi.advanceTimersByTimeAsync(30_000);
      await expect(result).resolves.toBe('replica 0');
      expect(vi.getTimerCount()).toBe(0);
    });
  });

  it('that time out are not repeated', async () => {
    const canceled = Object.assign(new Error('canceling statement'), { code: '57014' });
    await expect(read(() => Promise.reject(canceled))).rejects.toBe(canceled);
  });

  it('that also fail on the primary report its error', async () => {
    await expect(read(async (db) => Promise.reject(new Error(await nameOf(db))))).rejects.toThrow('primary');
  });
});
