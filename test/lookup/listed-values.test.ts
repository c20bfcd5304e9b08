import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { filterFile } from '../../src/lookup/filter-file.ts';
import { type Listed, mayBeListed } from '../../src/lookup/listed.ts';
import type { FilterStore } from '../../src/lookup/listed-values.ts';
import { type ListedValues, openListedValues } from '../../src/lookup/listed-values.ts';
import { readQuestions } from '../../src/lookup/questions.ts';
import type { Tlp } from '../../src/model/vocabulary.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

/** More values than pages, changes that are read at once, and the filters of a TLP have room for. */
const COUNT = 600;
const LIMITS = { page: 100, changed: 250, leastBytes: 256 };
const MINUTE = 60_000;

onEveryEngine((engine) => {
  let harness: Harness;
  const opened: ListedValues[] = [];
  const errors: Error[] = [];
  beforeEach(async () => {
    harness = await startHarness(engine);
    await load(0, 1);
  });
  afterEach(async () => {
    for (const listed of opened.splice(0)) await listed.close();
    await harness.close();
    expect(errors.splice(0)).toEqual([]);
  });

  const nameOf = (index: number) => `h${index}.example.com`;
  const load = (from: number, count: number, tlp: Tlp = 'CLEAR') =>
    harness.load(
      Array.from({ length: count }, (_, i) => indicatorRecord('DOMAIN', nameOf(from + i), { tlp })),
    );
  const open = (store: FilterStore = { read: async () => null, write: async () => {} }) => {
    const listed = openListedValues(
      harness,
      () => harness.clock.now,
      store,
      (error) => errors.push(error),
      LIMITS,
    );
    opened.push(listed);
    return listed;
  };
  const upTo = (listed: ListedValues, ceiling: Tlp = 'RED') => listed.upTo(ceiling, harness.clock.now);
  const ready = (listed: ListedValues, ceiling: Tlp = 'RED') =>
    vi.waitFor(async () => (await upTo(listed, ceiling)) ?? Promise.reject(new Error('not yet')), 10_000);
  const mayBe = (listed: Listed | null, index: number) =>
    listed !== null && mayBeListed(listed)('DOMAIN', nameOf(index));
  const has = async (listed: ListedValues, index: number, ceiling: Tlp = 'RED') =>
    mayBeListed(await ready(listed, ceiling))('DOMAIN', nameOf(index));

  describe('the listed values', () => {
    it('have every visible value, and almost no other', async () => {
      await load(1, COUNT);
      const mayHave = mayBeListed(await ready(open()));
      const found = (from: number) =>
        Array.from({ length: COUNT }, (_, i) => nameOf(from + i)).filter((name) => mayHave('DOMAIN', name));
      expect(found(1)).toHaveLength(COUNT);
      expect(found(COUNT + 1).length).toBeLessThan(COUNT / 50);
      expect(mayHave('URL', nameOf(1))).toBe(false);
    });

    it('are known at once when they have been committed', async () => {
      const listed = open();
      await ready(listed);
      for (let i = 1; i < 20; i++) {
        await load(i, 1);
        expect(mayBe(await upTo(listed), i)).toBe(true);
      }
    });

    it('lead to a URL with a dot after its host from one without it', async () => {
      await harness.load([indicatorRecord('URL', 'http://evil.example./a/')]);
      const { filters, prefixLengths } = await ready(open());
      const urls = [
        'http://evil.example/a/',
        'https://user@evil.example/b',
        'http://user@evil.example/a/b?c',
      ];
      const questions = readQuestions({
        values: [...urls, 'http://evil.example./a/', 'http://evil.example./a/b'],
        filters: { related: true },
        listed: filters,
        prefixLengths,
      });
      const found = questions.map(({ candidates }) =>
        candidates.map(({ relation, normalized }) => `${relation} ${normalized}`),
      );
      const folder = 'url-prefix http://evil.example./a/';
      const bare = 'url-prefix http://evil.example/a/';
      expect(found).toEqual([
        ['exact http://evil.example/a/', folder],
        [],
        [bare, folder],
        ['exact http://evil.example./a/', bare],
        [folder, bare],
      ]);
    });

    it('are those up to the ceiling', async () => {
      await load(1, 1, 'GREEN');
      await load(2, 1, 'RED');
      const listed = open();
      const seenBy = (ceiling: Tlp) => Promise.all([0, 1, 2].map((index) => has(listed, index, ceiling)));
      expect(await seenBy('CLEAR')).toEqual([true, false, false]);
      expect(await seenBy('GREEN')).toEqual([true, true, false]);
      expect(await seenBy('RED')).toEqual([true, true, true]);
    });

    it('lack what is whitelisted or has expired', async () => {
      await harness.load([indicatorRecord('DOMAIN', nameOf(1), { expiresAt: NOW })]);
      await load(2, 1);
      await addEntry(harness.db, nameOf(2), undefined, { who: 'test', reason: 'ours', now: NOW }, 'RED');
      harness.clock.now = new Date(NOW.getTime() + MINUTE);
      const listed = open();
      expect([await has(listed, 0), await has(listed, 1), await has(listed, 2)]).toEqual([
        true,
        false,
        false,
      ]);
    });

    it('are not known for an instant before that by which values had expired', async () => {
      const listed = open();
      await ready(listed);
      expect(await listed.upTo('RED', new Date(NOW.getTime() - MINUTE))).not.toBeNull();
      expect(await listed.upTo('RED', new Date(NOW.getTime() - MINUTE - 1))).toBeNull();
    });

    it('have the lengths of prefixes up to the ceiling', async () => {
      await harness.load([
        indicatorRecord('IPV4', '198.51.100.0/24'),
        indicatorRecord('IPV4', '203.0.112.0/22', { tlp: 'RED' }),
        indicatorRecord('IPV6', '2001:db8::/32'),
      ]);
      const listed = open();
      expect((await ready(listed, 'GREEN')).prefixLengths).toEqual(
        new Map([
          ['IPV4', [24]],
          ['IPV6', [32]],
        ]),
      );
      expect((await ready(listed, 'RED')).prefixLengths.get('IPV4')).toEqual([24, 22]);
    });

    it.each([100, COUNT])(
      'are not known while more has changed than a request waits for, %d a revision',
      async (each) => {
        const listed = open();
        await ready(listed);
        for (let i = 1; i < COUNT; i += each) await load(i, each);
        expect(await upTo(listed)).toBeNull();
        const mayHave = mayBeListed(await ready(listed));
        for (let i = 1; i <= COUNT; i++) expect(mayHave('DOMAIN', nameOf(i))).toBe(true);
      },
    );

    it('are made anew when there are half as many more, with two bytes for each', async () => {
      const listed = open();
      await ready(listed);
      for (let i = 1; i < COUNT; i += 100) {
        await load(i, 100);
        await ready(listed);
      }
      let next = COUNT + 1;
      await vi.waitFor(async () => {
        // The size is checked when something changes.
        await load(next++, 1);
        await upTo(listed);
        const { bytes = 0, values = 0 } = listed.size() ?? {};
        // Four levels are empty.
        expect(bytes - 4 * LIMITS.leastBytes).toBeGreaterThan((values * 2) / 1.6);
        expect(bytes - 4 * LIMITS.leastBytes).toBeLessThanOrEqual(values * 2.01);
      }, 30_000);
      const mayHave = mayBeListed(await ready(listed));
      for (let i = 1; i < COUNT; i++) expect(mayHave('DOMAIN', nameOf(i))).toBe(true);
    });
  });

  describe('the file of the filters', () => {
    const path = () => join(temporaryDirectory(), 'filters');
    const stored = async (at: string) => {
      const first = open(filterFile(at));
      await load(1, COUNT);
      await ready(first);
      await first.close();
    };
    /** Whether the filters were made from all values, and not from the file. */
    const readsAll = async (at: string): Promise<boolean> => {
      const file = filterFile(at);
      let writes = 0;
      const listed = open({
        read: file.read,
        write(filters) {
          writes++;
          return file.write(filters);
        },
      });
      await ready(listed);
      expect([await has(listed, 0), await has(listed, COUNT)]).toEqual([true, true]);
      const isMade = writes > 0;
      // A write in progress would replace what the test writes next.
      await listed.close();
      return isMade;
    };

    it('is used after a restart, with what has changed since', async () => {
      const at = path();
      await stored(at);
      for (let i = 1; i <= 300; i += 100) await load(COUNT + i, 100);
      expect(await readsAll(at)).toBe(false);
      expect(await has(open(filterFile(at)), COUNT + 300)).toBe(true);
    });

    it('is not used when it is damaged, incomplete or of other code', async () => {
      const at = path();
      await stored(at);
      const content = readFileSync(at);
      const damaged = Buffer.from(content);
      damaged.writeUInt8((damaged.at(-1) ?? 0) ^ 1, damaged.length - 1);
      const other = content.toString('latin1').replace(/"code":"./, '"code":"-');
      for (const wrong of [damaged, content.subarray(0, -4), content.subarray(0, 20), Buffer.of()]) {
        writeFileSync(at, wrong);
        expect(await readsAll(at)).toBe(true);
      }
      writeFileSync(at, other, 'latin1');
      expect(await readsAll(at)).toBe(true);
    });

    it('is not used for another database', { tags: ['nightly'] }, async () => {
      const at = path();
      await stored(at);
      const [ours, theirs] = [harness, await startHarness({ open: engine.openNew })];
      try {
        harness = theirs;
        for (let i = 0; i < COUNT + 2; i += 300) await load(i, 300);
        expect(await readsAll(at)).toBe(true);
        for (const listed of opened.splice(1)) await listed.close();
      } finally {
        harness = ours;
        await theirs.close();
      }
    });
  });
});
