import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { moveStore } from '../../src/backup/move-store.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openBrowser } from '../app/browser.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { hasPostgres } from '../support/postgres-nodes.ts';
import { changesAfter, type Filled, fill, lastCursor, responses } from './filled.ts';
import { PLACES, type Place, SECRET } from './places.ts';

const BY = { who: 'cli:test', now: NOW };
const harnessOn = (place: Place) => startHarness(place, { sessionSecret: SECRET });
const newPlace = (name: string) => PLACES.find(([engine]) => engine === name)?.[1]() as Promise<Place>;

describe.skipIf(!hasPostgres)('a store that is moved from the embedded database to PostgreSQL', () => {
  let [from, to]: [Place, Place] = [] as never;
  let moved: Harness;
  let filled: Filled;
  let before: Awaited<ReturnType<typeof responses>>;
  let cursor: string;
  let next: string;
  const objects = async (harness: Harness, query: string) =>
    harness.get(`/taxii2/root/collections/all/objects/?${query}`, { key: filled.key });
  const move = () => moveStore({ from: from.at, to: to.at, toName: 'PostgreSQL at test', by: BY });

  beforeAll(async () => {
    [from, to] = [await newPlace('embedded'), await newPlace('postgresql')];
    const source = await harnessOn(from);
    filled = await fill(source);
    before = await responses(source, filled.key, true);
    cursor = await lastCursor(source, filled.key);
    next = (await objects(source, 'limit=7')).json().next;
    await source.close();
  });
  afterAll(() => moved.close());

  it('stays as it was when the database has a store already', async () => {
    await to.withSession(({ db }) => migrate(db));
    await expect(move()).rejects.toThrow('has a store already');
    const { db, close } = await from.open();
    expect(await db.selectFrom('api_key').select('name').execute()).toContainEqual({ name: 'kept' });
    await close();
  });

  it('gives the same responses, ETags and versions', async () => {
    to = await newPlace('postgresql');
    await move();
    moved = await harnessOn(to);
    expect(await responses(moved, filled.key, true)).toEqual(before);
  });

  it('keeps cursors, pages of TAXII and sessions', async () => {
    expect((await changesAfter(moved, filled.key, cursor)).json()).toEqual({
      changes: [],
      cursor,
      hasMore: false,
    });
    await moved.load([indicatorRecord('DOMAIN', 'new.test-feed.net')]);
    expect((await changesAfter(moved, filled.key, cursor)).json().changes).toHaveLength(1);
    expect((await objects(moved, `next=${next}`)).statusCode).toBe(200);
    const browser = openBrowser(moved);
    for (const [name, value] of filled.cookies) browser.cookies.set(name, value);
    expect((await browser.send('GET', '/app/session')).json().account.email).toBe(
      'administrator@example.org',
    );
  });

  it('is not opened any more where it was', async () => {
    await expect(from.open()).rejects.toThrow('was moved to PostgreSQL at test');
    await expect(move()).rejects.toThrow('was moved to PostgreSQL at test');
  });
});
