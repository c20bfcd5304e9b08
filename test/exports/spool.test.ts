import { once as eventOf } from 'node:events';
import { readdirSync } from 'node:fs';
import { buffer, text } from 'node:stream/consumers';
import * as zlib from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ENCODINGS, openSpool as open, type Spool } from '../../src/exports/spool.ts';
import { temporaryDirectory } from '../support/directories.ts';

const MB = 1024 * 1024;
const ignore = () => {};

const spools: Spool[] = [];
afterEach(async () => {
  for (const spool of spools.splice(0)) await spool.close();
});

function openSpool(...options: Parameters<typeof open>): Spool {
  const spool = open(...options);
  spools.push(spool);
  return spool;
}

/** Pieces that come when they are told to. */
function source() {
  const pieces: (string | Error | null)[] = [];
  let wake = ignore;
  const give = (piece: string | Error | null) => {
    pieces.push(piece);
    wake();
  };
  async function* read() {
    for (;;) {
      const piece = pieces.shift();
      if (piece === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else if (piece === null) return;
      else if (piece instanceof Error) throw piece;
      else yield piece;
    }
  }
  return { pieces: read(), give };
}

async function* once(...pieces: string[]) {
  yield* pieces;
}

async function whole(spool: Spool, content: string) {
  const spooled = spool.fill(once(content), ignore);
  expect(await text(spooled.file('identity').read())).toBe(content);
  return spooled;
}

describe('the spool', () => {
  it('can be read while it is written', async () => {
    const spool = openSpool(temporaryDirectory(), MB);
    const { pieces, give } = source();
    const file = spool.fill(pieces, ignore).file('identity');
    give('first ');
    const reader = file.read()[Symbol.asyncIterator]();
    expect(String((await reader.next()).value)).toBe('first ');
    expect(file.state).toBe('filling');
    give('second');
    give(null);
    expect(String((await reader.next()).value)).toBe('second');
    expect((await reader.next()).done).toBe(true);
    expect(file.state).toBe('complete');
  });

  it('is written completely regardless of slow or missing readers', async () => {
    const spool = openSpool(temporaryDirectory(), 64 * MB);
    async function* many() {
      for (let i = 0; i < 100; i++) yield 'x'.repeat(100_000);
    }
    const file = spool.fill(many(), ignore).file('identity');
    const slow = file.read();
    slow.once('readable', ignore);
    await text(file.read());
    expect(file.state).toBe('complete');
    expect(file.size).toBe(10_000_000);
    slow.destroy();
    await new Promise((resolve) => slow.once('close', resolve));
    expect(file.readers).toBe(0);
  });

  it('aborts all readers when writing fails', async () => {
    const spool = openSpool(temporaryDirectory(), MB);
    const { pieces, give } = source();
    const told: Error[] = [];
    const spooled = spool.fill(pieces, (error) => told.push(error));
    const plain = spooled.file('identity').read();
    const compressed = spooled.file('gzip').read();
    give('first');
    give(new Error('the database is gone'));
    await expect(text(plain)).rejects.toThrow('the database is gone');
    await expect(buffer(compressed)).rejects.toThrow('the database is gone');
    expect(spooled.failed).toBe(true);
    expect(told.map(({ message }) => message)).toContain('the database is gone');
  });

  it('compresses once for repeated requests', async () => {
    const spool = openSpool(temporaryDirectory(), MB);
    const spooled = await whole(spool, 'text '.repeat(1000));
    const [first, second] = [spooled.file('gzip'), spooled.file('gzip')];
    expect(second).toBe(first);
    expect(zlib.gunzipSync(await buffer(first.read())).toString()).toBe('text '.repeat(1000));
  });

  it.skipIf(!ENCODINGS.includes('zstd'))('compresses with zstd where the runtime supports it', async () => {
    const spool = openSpool(temporaryDirectory(), MB);
    const spooled = await whole(spool, 'text '.repeat(1000));
    const bytes = await buffer(spooled.file('zstd').read());
    const { zstdDecompressSync } = zlib as unknown as { zstdDecompressSync: (bytes: Buffer) => Buffer };
    expect(zstdDecompressSync(bytes).toString()).toBe('text '.repeat(1000));
  });

  it('leaves no files behind', async () => {
    const directory = temporaryDirectory();
    const spool = openSpool(directory, MB);
    await whole(spool, 'x');
    expect(readdirSync(directory)).toEqual([]);
  });

  it('evicts the least recently used file', async () => {
    const spool = openSpool(temporaryDirectory(), 250_000);
    const [first, second] = [
      await whole(spool, 'a'.repeat(100_000)),
      await whole(spool, 'b'.repeat(100_000)),
    ];
    first.file('identity');
    await whole(spool, 'c'.repeat(100_000));
    expect([first.failed, second.failed]).toEqual([false, true]);
  });

  it('aborts a file larger than its capacity', async () => {
    const spool = openSpool(temporaryDirectory(), 100_000);
    const spooled = spool.fill(once('a'.repeat(300_000)), ignore);
    await expect(text(spooled.file('identity').read())).rejects.toThrow('The spool is full');
  });

  it('stops writing a file that no longer has readers', async () => {
    const spool = openSpool(temporaryDirectory(), 64 * MB, { abandonedMs: 0 });
    // More than is gathered before it is written.
    const LONG = 'x'.repeat(MB);
    const { pieces, give } = source();
    const spooled = spool.fill(pieces, ignore);
    const reader = spooled.file('identity').read();
    spooled.file('gzip');
    give('first');
    await eventOf(reader, 'readable');
    expect(spooled.failed).toBe(false);
    reader.destroy();
    give(LONG);
    await eventOf(reader, 'close');
    give(LONG);
    await vi.waitFor(() => expect(spooled.failed).toBe(true));
  });

  it('reports that it is full of files being sent', async () => {
    const spool = openSpool(temporaryDirectory(), 100_000);
    const reader = (await whole(spool, 'a'.repeat(100_000))).file('identity').read();
    reader.once('readable', ignore);
    expect(spool.isFull()).toBe(true);
    reader.destroy();
    await eventOf(reader, 'close');
    expect(spool.isFull()).toBe(false);
  });

  describe('that has no room for another export', () => {
    const setUp = async () => {
      let now = 0;
      const spool = openSpool(temporaryDirectory(), 1_000_000, { clock: () => now });
      const file = (await whole(spool, 'a'.repeat(700_000))).file('identity');
      const slow = file.read();
      await eventOf(slow, 'readable');
      const fill = () =>
        spool
          .fill(once('b'.repeat(700_000)), ignore)
          .file('identity')
          .read();
      return { spool, file, slow, fill, wait: (ms: number) => (now += ms) };
    };

    it('ends readers that have been too slow for half a minute', async () => {
      const { slow, fill, wait } = await setUp();
      wait(20_000);
      await expect(text(fill())).rejects.toThrow('The spool is full');
      wait(20_000);
      const ended = new Promise((resolve) => slow.once('error', resolve));
      expect(await text(fill())).toHaveLength(700_000);
      expect(String(await ended)).toContain('too slowly');
    });

    it('keeps a slow reader of a file that another one reads fast enough', async () => {
      const { file, slow, fill, wait } = await setUp();
      wait(40_000);
      const fast = file.read();
      await expect(text(fill())).rejects.toThrow('The spool is full');
      expect(await text(fast)).toHaveLength(700_000);
      expect(slow.destroyed).toBe(false);
      slow.destroy();
    });
  });

  it('does not report that it is full of files that only slow readers use', async () => {
    let now = 0;
    const spool = openSpool(temporaryDirectory(), 100_000, { clock: () => now });
    const reader = (await whole(spool, 'a'.repeat(100_000))).file('identity').read();
    expect(spool.isFull()).toBe(true);
    now = 40_000;
    expect(spool.isFull()).toBe(false);
    reader.destroy();
  });

  it('keeps a dropped file for its current reader', async () => {
    const spool = openSpool(temporaryDirectory(), MB);
    const spooled = await whole(spool, 'kept');
    const reader = spooled.file('identity').read();
    spool.drop(spooled);
    expect(await text(reader)).toBe('kept');
  });
});
