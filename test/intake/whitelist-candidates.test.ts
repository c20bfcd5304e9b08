import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { candidateStatement, findCandidates } from '../../src/whitelist/candidates.queries.ts';
import { currentMatcher } from '../../src/whitelist/current-matcher.ts';
import { type OperatorEntryRule, parseOperatorEntry } from '../../src/whitelist/matching/entry.ts';
import { candidatesOf } from '../../src/whitelist/matching/matcher.ts';
import { parseWarninglist } from '../../src/whitelist/matching/warninglist.ts';
import { findEntries, findLists, readEdition } from '../../src/whitelist/whitelist.queries.ts';
import {
  addEntry,
  loadList,
  removeEntry,
  removeList,
  setListEnabled,
} from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { address, email, name, network, url, value } from '../whitelist/arbitraries.ts';
import { listOf, parsed } from '../whitelist/lists.ts';
import { naiveMatch } from '../whitelist/naive.ts';

const why = { who: 'test', reason: 'ours', now: NOW };
/** Fixed, and more than a page. */
const WORLD = fc.sample(value, { numRuns: 2_500, seed: 25 });
const LIST = {
  name: 'Parts',
  description: 'Of hosts',
  version: 1,
  type: 'substring',
  matching_attributes: ['domain', 'url'],
  list: ['a-b.'],
};
const entry = fc
  .oneof(
    name,
    name.map((text) => `=${text}`),
    name.map((text) => `*.${text}`),
    address,
    network,
    url,
    email,
  )
  .filter((text) => !('rejected' in parseOperatorEntry(text)));

function ruleOf(text: string): OperatorEntryRule {
  const rule = parseOperatorEntry(text);
  if ('rejected' in rule) throw new Error(`${text}: ${rule.rejected}`);
  return rule;
}

function rulesOf(text: string) {
  const { kind, entry, types } = ruleOf(text);
  return candidatesOf(kind, entry, types) ?? [];
}

const listOfEntry = ({ kind, entry, types }: OperatorEntryRule) => listOf(kind, [entry], types);

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    await tipline.load(WORLD.map(({ type, normalized }) => indicatorRecord(type, normalized)));
  });
  afterEach(() => tipline.close());

  const rows = () =>
    tipline.db
      .selectFrom('indicator')
      .leftJoin('whitelist_hit as hit', 'hit.indicator_id', 'indicator.id')
      .select([
        'type',
        'normalized',
        'whitelisted',
        'whitelisted_parts as parts',
        'list_id as listId',
        'entry',
      ])
      .execute();

  /** Every row that something hides, and what; by the database, and by comparing each value with each entry. */
  async function compare(loaded: { id: string; list: typeof LIST }[]): Promise<void> {
    const lists = [
      ...(await findEntries(tipline.db)).map((one) => ({ id: one.id, list: listOfEntry(one) })),
      ...loaded.map(({ id, list }) => ({ id, list: parsed(list) })),
    ];
    const stored: unknown[] = [];
    const expected: unknown[] = [];
    for (const { type, normalized, whitelisted, listId, entry } of await rows()) {
      const hit = naiveMatch(lists, type, normalized);
      if (whitelisted || listId !== null) stored.push({ type, normalized, listId, entry });
      if (hit) expected.push({ type, normalized, ...hit });
    }
    expect(stored).toEqual(expected);
    const { match } = await currentMatcher(tipline.db);
    const all = await rows();
    expect(all.map(({ normalized, parts }) => [normalized, parts ?? []])).toEqual(
      all.map(({ type, normalized }) => [normalized, match(type, normalized).parts]),
    );
  }

  describe('adding and removing a whitelist entry', () => {
    it('hides exactly the matches of all entries and lists, for arbitrary entries', async () => {
      await loadList(tipline.db, LIST, why);
      const { id } = await tipline.db.selectFrom('whitelist').select('id').executeTakeFirstOrThrow();
      const loaded = [{ id, list: LIST }];
      await fc.assert(
        fc.asyncProperty(fc.uniqueArray(entry, { minLength: 1, maxLength: 3 }), async (entries) => {
          const added: string[] = [];
          for (const text of entries) {
            const made = await addEntry(tipline.db, text, undefined, why, 'RED').catch(() => null);
            if (made) added.push(made.entry.id);
          }
          await compare(loaded);
          for (const made of added) {
            await removeEntry(tipline.db, made, undefined, why);
            await compare(loaded);
          }
        }),
        { numRuns: 6 },
      );
    });
  });

  const lists = fc.array(
    fc.oneof(
      fc.record({
        type: fc.constant('hostname'),
        list: fc.uniqueArray(fc.oneof(name, address), { minLength: 1, maxLength: 4 }),
      }),
      fc.record({ type: fc.constant('cidr'), list: fc.uniqueArray(network, { minLength: 1, maxLength: 4 }) }),
      fc.record({
        type: fc.constant('string'),
        list: fc.uniqueArray(fc.oneof(name, url, email, address), { minLength: 1, maxLength: 4 }),
      }),
      fc.record({ type: fc.constant('substring'), list: fc.constantFrom<string[]>(['b.'], ['a', 'c']) }),
    ),
    { minLength: 2, maxLength: 3 },
  );

  describe('loading, replacing, disabling, enabling and removing a list', () => {
    it('hides exactly the matches of all lists, for arbitrary entries', { tags: ['nightly'] }, async () => {
      await loadList(tipline.db, { ...LIST, name: 'ZZZ last by name' }, why);
      const [{ id: other } = { id: '' }] = await findLists(tipline.db);
      const loaded = [{ id: other, list: LIST }];
      await fc.assert(
        fc.asyncProperty(lists, async (contents) => {
          let named = { id: '', list: LIST };
          for (const content of contents) {
            const list = {
              ...LIST,
              matching_attributes: ['domain', 'url', 'ip-dst', 'email-src'],
              ...content,
            };
            if ('rejected' in parseWarninglist(list)) continue;
            await loadList(tipline.db, list, why);
            const { id = '' } = (await findLists(tipline.db)).find((one) => one.name === list.name) ?? {};
            named = { id, list };
            await compare([named, ...loaded]);
          }
          if (named.id === '') return;
          await setListEnabled(tipline.db, named.id, false, why);
          await compare(loaded);
          await setListEnabled(tipline.db, named.id, true, why);
          await compare([named, ...loaded]);
          await removeList(tipline.db, named.id, why);
          await compare(loaded);
          const { edition, applied } = await readEdition(tipline.db);
          expect(applied).toBe(edition);
        }),
        { numRuns: 5 },
      );
    });

    it('leaves its entries out of the networks around them, and returns them', async () => {
      await tipline.load([indicatorRecord('IPV4', '198.51.100.0/24')]);
      const list = { ...LIST, type: 'cidr', matching_attributes: ['ip-dst'] };
      const parts = async () =>
        (
          await tipline.db
            .selectFrom('indicator')
            .select('whitelisted_parts')
            .where('value', '=', '198.51.100.0/24')
            .executeTakeFirstOrThrow()
        ).whitelisted_parts;
      await loadList(tipline.db, { ...list, list: ['198.51.100.8/32'] }, why);
      expect(await parts()).toEqual(['198.51.100.8']);
      await loadList(tipline.db, { ...list, list: ['198.51.100.9/32'] }, why);
      expect(await parts()).toEqual(['198.51.100.9']);
      await setListEnabled(tipline.db, list.name, false, why);
      expect(await parts()).toBeNull();
    });

    it('evaluates only the indicators that it concerns', async () => {
      await tipline.load([
        indicatorRecord('DOMAIN', 'img.cdn.example'),
        indicatorRecord('DOMAIN', 'others.example'),
      ]);
      // A state that every evaluation would correct.
      await tipline.db
        .updateTable('indicator')
        .set({ whitelisted: true })
        .where('value', '=', 'others.example')
        .execute();
      await sql`insert into whitelist_hit select id, gen_random_uuid(), 'wrong' from indicator where value = 'others.example'`.execute(
        tipline.db,
      );
      await loadList(tipline.db, { ...LIST, type: 'hostname', list: ['cdn.example'] }, why);
      const hidden = (await rows()).filter(({ whitelisted }) => whitelisted);
      const entries = Object.fromEntries(hidden.map(({ normalized, entry }) => [normalized, entry]));
      expect(entries).toMatchObject({ 'img.cdn.example': 'cdn.example', 'others.example': 'wrong' });
    });
  });

  describe('the candidate indexes', () => {
    it('find every value that an entry matches', async () => {
      const all = await tipline.db.selectFrom('indicator').select(['id', 'type', 'normalized']).execute();
      await fc.assert(
        fc.asyncProperty(entry, async (text) => {
          const found = new Set(await findCandidates(tipline.db, rulesOf(text), all.length));
          const lists = [{ id: 'one', list: listOfEntry(ruleOf(text)) }];
          const missed = all.filter(
            ({ id, type, normalized }) => naiveMatch(lists, type, normalized) && !found.has(id),
          );
          expect(missed).toEqual([]);
        }),
        { numRuns: 100 },
      );
    });

    it('find hosts with port, user name, brackets and integer notation, and no look-alike paths', async () => {
      const hits = [
        'http://user:secret@198.51.100.7:8080/a',
        'http://[::ffff:198.51.100.7]:81/',
        'ftps://198.51.100.7/x',
        'http://3325256711/',
      ];
      const others = [
        'http://b.example/198.51.100.7/',
        'http://198.51.100.7.b.example/',
        'http://b.example/@198.51.100.7/',
      ];
      const records = [...hits, ...others].map((text) => indicatorRecord('URL', text));
      await tipline.load(records);
      const ids = await findCandidates(tipline.db, rulesOf('198.51.100.7'), 100);
      const found = await tipline.db
        .selectFrom('indicator')
        .select('normalized')
        .where(sql<boolean>`id = any(${ids}::uuid[])`)
        .execute();
      const wanted = records.slice(0, hits.length).map(({ normalized }) => normalized);
      expect(found.map(({ normalized }) => normalized).sort()).toEqual(wanted.sort());
    });

    it.each([
      ['198.51.100.0/24', ['indicator_address', 'indicator_url_address']],
      ['2001:db8::/32', ['indicator_address', 'indicator_url_address']],
      ['cdn.example', ['indicator_host']],
      ['*.cdn.example', ['indicator_host']],
      ['d41d8cd98f00b204e9800998ecf8427e', ['indicator_pkey']],
    ])('are used by the query for %s', async (text, indexes) => {
      const plan = await tipline.db.transaction().execute(async (trx) => {
        // A table of few rows would be read through.
        await sql`set local enable_seqscan = off`.execute(trx);
        const { rows } = await sql<
          Record<string, string>
        >`explain ${candidateStatement(rulesOf(text), [], 10)}`.execute(trx);
        return rows.map((row) => row['QUERY PLAN']).join('\n');
      });
      expect(plan).not.toContain('Seq Scan');
      for (const index of indexes) expect(plan).toMatch(new RegExp(`${index}\\b`));
    });

    it('return null beyond the memory limit', async () => {
      expect(await findCandidates(tipline.db, rulesOf('a.example'), 2)).toBeNull();
    });
  });
});
