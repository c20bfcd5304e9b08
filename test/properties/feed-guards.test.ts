import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { recordDayCounts } from '../../src/feeds/feed-guards.ts';
import { createFeed, removeFeed } from '../../src/feeds/feeds.service.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { delistMissing } from '../../src/sources/delist-missing.ts';
import { saveSource } from '../../src/sources/sources.service.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { SECRETS } from '../intake/feeds.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { runs } from './runs.ts';

const HOUR = 3_600_000;
const NAMES = Array.from({ length: 12 }, (_, i) => `n${i}.test-feed.net`);
const LISTS = ['List A', 'List B'] as const;
/** Hours for which the lists keep an entry that they have delisted, and the other source one that it has reported. */
const LIFETIME = 24;

const name = fc.constantFrom(...NAMES);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('run' as const),
      list: fc.constantFrom(...LISTS),
      members: fc.subarray(NAMES),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 40 }) }),
  },
  fc.record({ kind: fc.constant('whitelist' as const), name }),
  fc.record({ kind: fc.constant('raise' as const), name }),
  fc.record({ kind: fc.constant('report' as const), name }),
  fc.record({ kind: fc.constant('expiring' as const), name, hours: fc.integer({ min: 1, max: 60 }) }),
);
const worlds = fc
  .record({
    steps: fc.array(step, { minLength: 3, maxLength: 20, size: 'max' }),
    minEntries: fc.option(fc.integer({ min: 1, max: NAMES.length })),
    minShare: fc.option(fc.integer({ min: 1, max: 100 })),
    limit: fc.option(fc.integer({ min: 1, max: NAMES.length })),
  })
  // A bound above the limit is rejected.
  .filter(({ minEntries, limit }) => minEntries === null || limit === null || minEntries <= limit);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** An entry as the model has it: hours since the beginning. */
interface Entry {
  isHidden: boolean;
  /** When each list delisted it; null: it is listed; absent: it never was. */
  lists: Map<string, number | null>;
  reportedAt: number | null;
  /** The expiry that a source has stated, and when. */
  expiresAt: number | null;
  statedAt: number | null;
}

/** The latest time at which a statement that no list makes expire shows it. */
const sustainedUntil = (entry: Entry, without?: string): number =>
  Math.max(
    ...[...entry.lists].map(([list, at]) => (at === null && list !== without ? Infinity : -Infinity)),
    entry.reportedAt === null ? -Infinity : entry.reportedAt + LIFETIME,
    entry.expiresAt ?? -Infinity,
  );
const shownUntil = (entry: Entry): number =>
  Math.max(sustainedUntil(entry), ...[...entry.lists.values()].map((at) => (at ?? Infinity) + LIFETIME));

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeEach(async () => {
    tipline = await startHarness(engine);
  });
  afterEach(() => tipline.close());

  it('no delisting takes a feed under its bound, and a hidden entry is in no feed', {
    tags: ['nightly'],
  }, async () => {
    let world = 0;
    await fc.assert(
      fc.asyncProperty(worlds, async ({ steps, minEntries, minShare, limit }) => {
        world++;
        // Whitelists and statements of earlier worlds are about other names.
        const named = (text: string) => `w${world}-${text}`;
        tipline.clock.now = NOW;
        const slug = `w${world}`;
        const query = `q=${named('n')}${limit === null ? '' : `&limit=${limit}`}`;
        const definition = { slug, name: slug, description: '', format: 'txt', query } as const;
        const by = () => ({ who: 'test', reason: 'ours', now: tipline.clock.now });
        await createFeed(tipline.db, { ...definition, tlpCeiling: 'GREEN', minEntries, minShare }, by());
        const ids = new Map<string, string>();
        for (const list of LISTS) {
          const settings = { kind: 'text', address: 'https://feed.example/', options: {}, enabled: true };
          const saved = await saveSource(
            tipline.db,
            SECRETS,
            {
              ...settings,
              name: `${list} ${world}`,
              intervalSeconds: null,
              defaults: { tlp: 'CLEAR', confidence: 50, severity: 'LOW' },
              lifetimes: { DOMAIN: (LIFETIME * HOUR) / 1000 },
              isSnapshotList: true,
            },
            by(),
          );
          ids.set(list, saved.id);
        }
        await saveSource(
          tipline.db,
          SECRETS,
          {
            name: `Reports ${world}`,
            kind: 'csv',
            address: 'https://feed.example/',
            options: {},
            enabled: true,
            intervalSeconds: null,
            defaults: { tlp: 'CLEAR', confidence: 50, severity: 'LOW' },
            lifetimes: { DOMAIN: (LIFETIME * HOUR) / 1000 },
            isSnapshotList: false,
          },
          by(),
        );
        const entries = new Map<string, Entry>();
        const days = new Map<number, number>();
        let hour = 0;
        const entryOf = (value: string) => {
          const known = entries.get(value) ?? {
            isHidden: false,
            lists: new Map(),
            reportedAt: null,
            expiresAt: null,
            statedAt: null,
          };
          entries.set(value, known);
          return known;
        };
        const capped = (count: number) => Math.min(count, limit ?? count);
        const sustained = (without?: string) =>
          [...entries].filter(([, entry]) => !entry.isHidden && sustainedUntil(entry, without) > hour);
        const load = (value: string, source: string, fields = {}) =>
          tipline.load([indicatorRecord('DOMAIN', named(value), fields)], `${source} ${world}`);

        const runList = async ({ list, members }: Extract<Step, { kind: 'run' }>) => {
          const id = ids.get(list) ?? '';
          const day = Math.floor((NOW.getTime() / HOUR + hour) / 24);
          const count = capped(sustained().length);
          if (!days.has(day) && count > 0) days.set(day, count);
          const earlier = [...days.keys()].filter((other) => other < day && other > day - 8);
          const reference = days.get(earlier.length > 0 ? Math.max(...earlier) : day) ?? 0;
          const bound = Math.max(minEntries ?? 0, ((minShare ?? 0) * reference) / 100);

          await recordDayCounts(tipline.db, tipline.clock.now);
          if (members.length > 0)
            await tipline.load(
              members.map((value) => indicatorRecord('DOMAIN', named(value))),
              `${list} ${world}`,
            );
          for (const value of members) entryOf(value).lists.set(list, null);
          const before = sustained();
          const missing = [...entries].filter(
            ([value, entry]) => entry.lists.get(list) === null && !members.includes(value),
          );
          const isMissing = (value: string) => missing.some(([other]) => other === value);
          const leaving = before.filter(
            ([value, entry]) => isMissing(value) && !(sustainedUntil(entry, list) > hour),
          );
          const isHeldBack = leaving.length > 0 && capped(before.length - leaving.length) < bound;

          const counts = await delistMissing(tipline.db, {
            sourceId: id,
            present: new Set(members.map((value) => indicatorId('DOMAIN', named(value)))),
            lastCopyAt: null,
            now: tipline.clock.now,
            allowShrink: false,
            assertLease: async () => {},
          });
          const heldBack = isHeldBack ? leaving.length : 0;
          expect(counts).toMatchObject({ left: missing.length - heldBack, heldBack });
          for (const [value, entry] of missing)
            if (!isHeldBack || !leaving.some(([other]) => other === value)) entry.lists.set(list, hour);
          expect(capped(sustained().length)).toBeGreaterThanOrEqual(Math.min(bound, capped(before.length)));
        };

        for (const one of steps) {
          if (one.kind === 'run') await runList(one);
          if (one.kind === 'wait') {
            hour += one.hours;
            tipline.clock.now = new Date(NOW.getTime() + hour * HOUR);
          }
          if (one.kind === 'whitelist' && !entries.get(one.name)?.isHidden) {
            entryOf(one.name).isHidden = true;
            await addEntry(tipline.db, named(one.name), undefined, by(), 'RED').catch(() => {});
          }
          if (one.kind === 'raise') {
            entryOf(one.name).isHidden = true;
            await load(one.name, 'Analysts', { tlp: 'RED' });
          }
          if (one.kind === 'report') {
            entryOf(one.name).reportedAt = hour;
            await load(one.name, 'Reports', { statedAt: tipline.clock.now, lastSeen: tipline.clock.now });
          }
          if (one.kind === 'expiring') {
            const entry = entryOf(one.name);
            // Of two statements of one instant the later expiry applies.
            const until = Math.max(hour + one.hours, (entry.statedAt === hour && entry.expiresAt) || 0);
            Object.assign(entry, { expiresAt: until, statedAt: hour });
            const expiresAt = new Date(NOW.getTime() + until * HOUR);
            await load(one.name, 'Dated', { statedAt: tipline.clock.now, expiresAt });
          }
          const { body } = await tipline.get(`/api/v1/feeds/${slug}`);
          const lines = body.split('\n').filter((line) => line !== '');
          const shown = [...entries].filter(([, entry]) => !entry.isHidden && shownUntil(entry) > hour);
          expect(lines).toHaveLength(capped(shown.length));
          expect(shown.map(([value]) => named(value))).toEqual(expect.arrayContaining(lines));
        }
        await removeFeed(tipline.db, slug, by());
      }),
      runs(60),
    );
  });
});
