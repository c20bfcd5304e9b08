import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { IndicatorRecord } from '../../src/importers/importer.ts';
import { runPendingUndos, startUndo } from '../../src/imports/undo.service.ts';
import { MAX_SAME_FILE } from '../../src/lookup/same-file.queries.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { TLPS } from '../../src/model/vocabulary.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { runs } from '../properties/runs.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

const hex = (n: number, length: number) => n.toString(16).padStart(length, '0');
const md5 = (n: number) => hex(n, 32);
const sha1 = (n: number) => hex(n, 40);
const sha256 = (n: number) => hex(n, 64);
const TYPES = { 32: 'MD5', 40: 'SHA1', 64: 'SHA256' } as const;
const typeOf = (hash: string) => TYPES[hash.length as keyof typeof TYPES];
const idOf = (hash: string) => indicatorId(typeOf(hash), hash);

/** The records of hashes that a source states as those of one file, the strongest first. */
const ofOneFile = (hashes: string[], fields: Partial<IndicatorRecord> = {}) =>
  hashes.map((hash) => indicatorRecord(typeOf(hash), hash, { file: idOf(hashes[0] ?? ''), ...fields }));
const FILE = [sha256(1), sha1(1), md5(1)];

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
  });
  afterEach(() => harness.close());

  const answer = (values: string[], query: string, key?: string) =>
    harness.get(`/api/v1/lookup?value=${values.join('&value=')}${query}`, key === undefined ? {} : { key });
  /** Returns the matches of a hash as `relation value`. */
  async function matches(hash: string, query = '', key?: string): Promise<string[]> {
    const [result] = (await answer([hash], query, key)).json().data;
    return result.matches.map(
      ({ relation, indicator }: { relation: string; indicator: { value: string } }) =>
        `${relation} ${indicator.value}`,
    );
  }
  const revision = async () =>
    (await harness.db.selectFrom('revision').select('value').executeTakeFirstOrThrow()).value;
  const etag = async () => (await harness.get('/api/v1/exports/csv')).headers.etag;
  const undo = async (id: string) => {
    await startUndo(harness.db, id, { who: 'cli:test', now: NOW });
    await runPendingUndos(harness.db, { now: () => NOW });
  };

  describe('a look-up of a hash', () => {
    it('has the other hashes of the file, the strongest first', async () => {
      await harness.load([...ofOneFile(FILE), ...ofOneFile([sha256(2), md5(2)])]);
      expect(await matches(md5(1))).toEqual([
        `exact ${md5(1)}`,
        `same-file ${sha256(1)}`,
        `same-file ${sha1(1)}`,
      ]);
      expect(await matches(sha256(2))).toEqual([`exact ${sha256(2)}`, `same-file ${md5(2)}`]);
    });

    it('has them for each of many values', async () => {
      const files = Array.from({ length: 300 }, (_, n) => [sha256(n), md5(n)]);
      await harness.load(files.flatMap((hashes) => ofOneFile(hashes)));
      const response = await harness.get('/bulk/lookup', {
        method: 'QUERY',
        payload: files.map(([, weak]) => weak).join('\n'),
        headers: { 'content-type': 'text/plain' },
      });
      const found = response
        .json()
        .data.map((result: { matches: { indicator: { value: string } }[] }) =>
          result.matches.map(({ indicator }) => indicator.value),
        );
      expect(found).toEqual(files.map(([strong, weak]) => [weak, strong]));
    });

    it('has no other hashes if no source states its file', async () => {
      await harness.load(FILE.map((hash) => indicatorRecord(typeOf(hash), hash)));
      expect(await matches(md5(1))).toEqual([`exact ${md5(1)}`]);
    });

    it('has the hashes of several sources', async () => {
      await harness.load(ofOneFile([sha256(1), md5(1)]), 'First');
      await harness.load(ofOneFile([sha256(1), sha1(1)]), 'Second');
      expect(await matches(md5(1))).toEqual([
        `exact ${md5(1)}`,
        `same-file ${sha256(1)}`,
        `same-file ${sha1(1)}`,
      ]);
    });

    it('has those of every file that it is said to be of', async () => {
      await harness.load([...ofOneFile([sha256(1), md5(1)]), ...ofOneFile([sha256(2), md5(1)])]);
      expect((await matches(md5(1))).slice(1).sort()).toEqual([
        `same-file ${sha256(1)}`,
        `same-file ${sha256(2)}`,
      ]);
      expect(await matches(sha256(1))).toEqual([`exact ${sha256(1)}`, `same-file ${md5(1)}`]);
    });

    it('has at most 20 others, those with the smallest ids of the strongest algorithm', async () => {
      const weak = Array.from({ length: 40 }, (_, n) => md5(n + 1));
      await harness.load([...ofOneFile([sha256(1), sha1(1), ...weak])]);
      const first = [...weak.slice(1)].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
      expect(await matches(md5(1))).toEqual(
        [sha256(1), sha1(1), ...first]
          .slice(0, MAX_SAME_FILE)
          .map((hash) => `same-file ${hash}`)
          .toSpliced(0, 0, `exact ${md5(1)}`),
      );
    });

    it('is exact only with related=false', async () => {
      await harness.load(ofOneFile(FILE));
      expect(await matches(md5(1), '&related=false')).toEqual([`exact ${md5(1)}`]);
    });

    it('is limited by types, of which its own need not be one', async () => {
      await harness.load(ofOneFile(FILE));
      expect(await matches(md5(1), '&types=SHA256')).toEqual([`same-file ${sha256(1)}`]);
      expect(await matches(md5(1), '&types=MD5')).toEqual([`exact ${md5(1)}`]);
      expect(await matches(md5(1), '&types=URL')).toEqual([]);
    });

    it('is limited by minConfidence, which its own need not have', async () => {
      await harness.load([
        ...ofOneFile(FILE, { confidence: 20 }).slice(1),
        ...ofOneFile(FILE, { confidence: 80 }).slice(0, 1),
      ]);
      expect(await matches(md5(1), '&minConfidence=50')).toEqual([`same-file ${sha256(1)}`]);
      expect(await matches(sha256(1), '&minConfidence=50')).toEqual([`exact ${sha256(1)}`]);
    });
  });

  describe('a hidden hash', () => {
    const [strong, middle, weak] = ofOneFile(FILE) as [IndicatorRecord, IndicatorRecord, IndicatorRecord];
    const trust = (hash: string) =>
      addEntry(harness.db, hash, undefined, { who: 'test', reason: 'ours', now: NOW }, 'RED');
    const hidden: [string, (record: IndicatorRecord) => IndicatorRecord, boolean][] = [
      ['above the ceiling', (record) => ({ ...record, tlp: 'RED' }), false],
      ['expired', (record) => ({ ...record, lastSeen: NOW, expiresAt: NOW }), false],
      ['whitelisted', (record) => record, true],
    ];

    it.each(hidden)('%s is not among the others', async (_, hide, isTrusted) => {
      await harness.load([hide(strong), middle, weak]);
      if (isTrusted) await trust(strong.value);
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      expect(await matches(md5(1), '', key)).toEqual([`exact ${md5(1)}`, `same-file ${sha1(1)}`]);
    });

    it.each(hidden)('%s is as unknown as one that is not listed', async (_, hide, isTrusted) => {
      await harness.load([strong, middle, hide(weak)]);
      if (isTrusted) await trust(weak.value);
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      const missing = await answer([md5(2)], '', key);
      expect((await answer([md5(1)], '', key)).body.replaceAll(md5(1), md5(2))).toBe(missing.body);
    });

    it.each([strong, weak])('by no statement that the caller may not see (%#)', async ({ value }) => {
      await harness.load([strong, middle, weak]);
      await sql`update indicator_source set tlp = 'RED' where indicator_number = (select number from indicator where id = ${idOf(value)})`.execute(
        harness.db,
      );
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      expect(await matches(md5(1), '', key)).not.toContain(`same-file ${sha256(1)}`);
    });

    it('is in no look-up, whatever sources state', async () => {
      const hashes = [...FILE, md5(2)];
      const statement = fc.record({
        source: fc.constantFrom('First', 'Second'),
        hash: fc.constantFrom(...hashes),
        file: fc.constantFrom(idOf(sha256(1)), idOf(sha1(1))),
        tlp: fc.constantFrom(...TLPS),
      });
      const keys = new Map(
        await Promise.all(
          TLPS.map(async (tlpCeiling) => [tlpCeiling, await harness.newKey({ tlpCeiling })] as const),
        ),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(statement, { maxLength: 10 }),
          fc.constantFrom(...TLPS),
          async (statements, ceiling) => {
            await sql`truncate indicator, indicator_source cascade`.execute(harness.db);
            for (const { source, hash, file, tlp } of statements)
              await harness.load([indicatorRecord(typeOf(hash), hash, { file, tlp })], source);
            const filesOf = (hash: string) => statements.filter((one) => one.hash === hash);
            const isSeen = (hash: string) =>
              filesOf(hash).length > 0 &&
              filesOf(hash).every(({ tlp }) => TLPS.indexOf(tlp) <= TLPS.indexOf(ceiling));
            for (const hash of hashes) {
              const files = new Set(filesOf(hash).map(({ file }) => file));
              const isOther = (other: string) =>
                other !== hash && isSeen(other) && filesOf(other).some(({ file }) => files.has(file));
              const others = hashes.filter(isOther).map((other) => `same-file ${other}`);
              const found = await matches(hash, '', keys.get(ceiling));
              expect(found.slice(1).sort()).toEqual(isSeen(hash) ? others.sort() : []);
              expect(found.slice(0, 1)).toEqual(isSeen(hash) ? [`exact ${hash}`] : []);
            }
          },
        ),
        runs(6),
      );
    });
  });

  describe('an import', () => {
    it('that states the same files again writes nothing', async () => {
      await harness.load(ofOneFile(FILE));
      const before = await revision();
      await harness.load(ofOneFile(FILE));
      expect(await revision()).toBe(before);
    });

    it('that states the file of listed hashes takes a revision, and leaves exports as they are', async () => {
      await harness.load(FILE.map((hash) => indicatorRecord(typeOf(hash), hash)));
      const before = { revision: await revision(), etag: await etag() };
      const { kinds } = await harness.load(ofOneFile(FILE));
      expect(kinds.get('indicator')).toMatchObject({ updated: 3 });
      expect({ revision: await revision(), etag: await etag() }).toEqual({
        ...before,
        revision: before.revision + 1,
      });
      expect(await matches(md5(1))).toHaveLength(3);
    });

    it('that is undone takes the files that it stated with it', async () => {
      await harness.load(FILE.map((hash) => indicatorRecord(typeOf(hash), hash)));
      const run = await harness.loadRun(ofOneFile(FILE));
      await undo(run);
      expect(await matches(md5(1))).toEqual([`exact ${md5(1)}`]);
    });

    it('that is undone restores the files that were stated before', async () => {
      await harness.loadRun(ofOneFile(FILE));
      const run = await harness.loadRun(ofOneFile([sha256(2), md5(1)]));
      await undo(run);
      expect(await matches(md5(1))).toEqual([
        `exact ${md5(1)}`,
        `same-file ${sha256(1)}`,
        `same-file ${sha1(1)}`,
      ]);
    });
  });
});
