import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Manifest } from '../../src/backup/manifest.ts';
import { BackupError, openBackup } from '../../src/backup/read-backup.ts';
import { readTar, writeTar } from '../../src/backup/tar.ts';
import { writeBackup } from '../../src/backup/write-backup.ts';
import type { Db } from '../../src/db/database.ts';
import { migrationNames } from '../../src/db/migrate.ts';
import { file, PLACES, type Place, SECRET } from './places.ts';

const PASSPHRASE = 'a passphrase of the tests';

/** Text that cannot be compressed to a fraction, so that each byte of a backup matters. */
const noise = (seed: number) =>
  createHash('shake256', { outputLength: 7_500 }).update(String(seed)).digest('base64');

/** Rows of two tables, those of the first one in two entries. */
const manifest: Manifest = {
  format: 1,
  product: '0.1.0',
  schema: '0040_store_epoch',
  takenAt: '2026-06-01T12:00:00.000Z',
  revision: 1,
  indicators: 2,
  secretFingerprint: null,
  tables: [
    { name: 'meta', columns: ['name', 'value'] },
    { name: 'network_prefix', columns: ['type', 'length'] },
  ],
  sequences: [],
};
const ROWS: Record<string, string[]> = {
  meta: Array.from({ length: 600 }, (_, i) => `name ${i}\t${noise(i)}\n`),
  network_prefix: ['IPV4\t24\n', 'IPV4\t16\n'],
};
const snapshot = {
  manifest,
  async *rows(table: string) {
    for (const row of ROWS[table] ?? []) yield Buffer.from(row);
  },
};

async function all(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Reads a backup as a restore does. @returns the number of bytes of rows */
async function readAll(path: string, passphrase = PASSPHRASE): Promise<number> {
  const backup = await openBackup(path, async () => passphrase);
  try {
    let bytes = 0;
    for (const { name } of backup.manifest.tables)
      for await (const piece of backup.rows(name)) bytes += piece.length;
    await backup.verify();
    return bytes;
  } finally {
    await backup.close();
  }
}

const written = (content: Buffer): string => {
  const path = file('backup');
  writeFileSync(path, content);
  return path;
};

type Entry = { name: string; content: Buffer };

/** Makes a backup with other entries of the archive, and correct checks of gzip. */
async function withEntries(backup: Buffer, change: (entries: Entry[]) => Entry[]): Promise<string> {
  const entries: Entry[] = [];
  const archive = gunzipSync(backup);
  for await (const entry of readTar(one(archive))) entries.push(entry);
  return written(gzipSync(await all(writeTar(each(change(entries)), new Date()))));
}

async function* one(bytes: Buffer) {
  yield bytes;
}
async function* each(entries: Entry[]) {
  yield* entries;
}

describe('a backup', () => {
  let plain: Buffer;
  let encrypted: Buffer;
  beforeAll(async () => {
    plain = await all(writeBackup(snapshot, { secret: SECRET }));
    encrypted = await all(writeBackup(snapshot, { secret: SECRET, passphrase: PASSPHRASE }));
  });

  it('is read to its end', async () => {
    const bytes = Object.values(ROWS).flat().join('').length;
    expect([await readAll(written(plain)), await readAll(written(encrypted))]).toEqual([bytes, bytes]);
  });

  it('has no secret where that of an earlier version is empty', async () => {
    const empty = await all(writeBackup(snapshot, { secret: '', passphrase: PASSPHRASE }));
    const backup = await openBackup(written(empty), async () => PASSPHRASE);
    await backup.close();
    expect(backup.secret).toBe(null);
  });

  it('is rejected when it is cut off', async () => {
    const rejected = async (content: Buffer, parts: number[]) => {
      for (const part of parts) {
        const path = written(content.subarray(0, Math.floor(content.length * part)));
        await expect(readAll(path), String(part)).rejects.toThrow(BackupError);
      }
      await expect(readAll(written(content.subarray(0, -1)))).rejects.toThrow(BackupError);
    };
    await rejected(plain, [0, 0.01, 0.5, 0.99]);
    await rejected(encrypted, [0.01, 0.9]);
  });

  it('is rejected when a byte is changed', async () => {
    for (const part of [0.1, 0.5, 0.9]) {
      const changed = Buffer.from(plain);
      const at = Math.floor(changed.length * part);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(readAll(written(changed)), String(part)).rejects.toThrow(/is damaged/);
    }
  });

  it.each<[string, (entries: Entry[]) => Entry[], string]>([
    [
      'two entries of rows are exchanged',
      ([a, b, c, ...rest]) => [a, c, b, ...rest] as Entry[],
      'meta/000002 is not where it belongs',
    ],
    [
      'rows are exchanged',
      (entries) => {
        const [b, c] = [entries[1], entries[2]] as [Entry, Entry];
        return entries.with(1, { ...b, content: c.content }).with(2, { ...c, content: b.content });
      },
      'the rows of meta',
    ],
    [
      'an entry of rows is missing',
      (entries) => entries.filter(({ name }) => !name.startsWith('rows/network_prefix')),
      'the rows of network_prefix',
    ],
    ['the end is missing', (entries) => entries.slice(0, -1), 'the end is not where it belongs'],
    [
      'the manifest is changed',
      (entries) => {
        const head = entries[0] as Entry;
        return entries.with(0, {
          ...head,
          content: Buffer.from(head.content.toString().replace('"revision": 1', '"revision": 2')),
        });
      },
      'backup.json',
    ],
  ])('is rejected when %s', async (_, change, message) => {
    await expect(readAll(await withEntries(plain, change))).rejects.toThrow(message);
  });

  it('is rejected with another passphrase', async () => {
    await expect(readAll(written(encrypted), 'another passphrase')).rejects.toThrow(
      /cannot be decrypted: the passphrase is wrong/,
    );
  });

  it('is rejected if a newer version made it', async () => {
    const path = await withEntries(plain, ([head, ...rest]) =>
      [
        {
          name: 'backup.json',
          content: Buffer.from(JSON.stringify({ ...manifest, product: '9.0.0', schema: '9999_later' })),
        },
        ...rest,
      ].filter((entry) => entry !== head),
    );
    await expect(readAll(path)).rejects.toThrow(/by Tipline 9\.0\.0, which is newer than this version/);
  });

  it.each([
    ['empty', Buffer.alloc(0)],
    ['a text', Buffer.from('no backup')],
    [
      'another compressed file',
      gzipSync('no archive, but a text that is longer than a block of an archive'.repeat(20)),
    ],
  ])('is not a file that is %s', async (_, content) => {
    await expect(readAll(written(content))).rejects.toThrow(BackupError);
  });

  it('names migrations of this version', async () => {
    expect(await migrationNames()).toContain(manifest.schema);
  });

  describe.each(PLACES)('that is damaged, restored on %s', (name, newPlace) => {
    let place: Place;
    const restore = async (path: string, replace: boolean) => {
      const backup = await openBackup(path, async () => PASSPHRASE);
      const { verify } = backup;
      await place
        .load(backup, { now: new Date(), replace, beginsHistory: true, verify })
        .finally(backup.close);
    };
    const broken = () => withEntries(plain, (entries) => entries.slice(0, -1));
    beforeAll(async () => {
      place = await newPlace();
    });

    // On the embedded database both are the same: a directory beside is filled.
    it.skipIf(name === 'embedded')('leaves nothing in an empty place', async () => {
      await expect(restore(await broken(), false)).rejects.toThrow(BackupError);
      expect(await place.isEmpty()).toBe(true);
    });

    it('leaves a store that it was to replace as it was', async () => {
      const { db, close } = await place.open();
      await db.updateTable('revision').set({ value: 7 }).execute();
      await close();
      await expect(restore(await broken(), true)).rejects.toThrow(BackupError);
      expect(await place.leftovers()).toEqual([]);
      await place.withSession(async ({ db: kept }) => {
        expect(await kept.selectFrom('revision').select('value').execute()).toEqual([{ value: 7 }]);
      });
    });

    it('that cannot be recorded leaves a store that it was to replace as it was', async () => {
      const { db, close } = await place.open();
      await db.updateTable('revision').set({ value: 8 }).execute();
      await close();
      const backup = await openBackup(written(plain), async () => PASSPHRASE);
      const beforeCommit = async (restored: Db) => {
        await restored.updateTable('revision').set({ value: 9 }).execute();
        throw new Error('not recorded');
      };
      const load = place.load(backup, { now: new Date(), replace: true, beginsHistory: true, beforeCommit });
      await expect(load.finally(backup.close)).rejects.toThrow('not recorded');
      expect(await place.leftovers()).toEqual([]);
      await place.withSession(async ({ db: kept }) => {
        expect(await kept.selectFrom('revision').select('value').execute()).toEqual([{ value: 8 }]);
      });
    });

    it.runIf(name === 'embedded')(
      'is not restored over a store that a killed restore was replacing',
      async () => {
        renameSync(join(place.at, 'pgdata'), join(place.at, 'pgdata.replaced-1'));
        mkdirSync(join(place.at, 'pgdata.restore-1'));
        await expect(restore(written(plain), false)).rejects.toThrow('has a store already');
        expect(await place.leftovers()).toEqual([]);
      },
    );

    it.runIf(name === 'embedded')(
      'gets its secret when the restore was killed before that was in place',
      async () => {
        mkdirSync(join(place.at, 'pgdata.replaced-1'));
        writeFileSync(join(place.at, 'secret.restore-1'), 'the secret of the backup');
        await place.withSession(async () => {});
        expect(readFileSync(join(place.at, 'secret'), 'utf8')).toBe('the secret of the backup');
        expect(await place.leftovers()).toEqual([]);
      },
    );

    it('is not restored into a store without being asked to replace it', async () => {
      await expect(restore(written(plain), false)).rejects.toThrow('has a store already');
    });
  });
});
