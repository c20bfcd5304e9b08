import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Db } from '../../src/db/database.ts';
import { linkedTo } from '../../src/db/expressions.ts';
import { findCampaign, listCampaigns } from '../../src/entities/campaigns/campaigns.queries.ts';
import { TLPS } from '../../src/model/vocabulary.ts';
import { runs } from '../properties/runs.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { sumAt } from '../support/sums.ts';

const CAMPAIGNS = ['c0000000-0000-4000-8000-000000000000', 'c0000000-0000-4000-8000-000000000001'];
const SOURCES = ['50000000-0000-4000-8000-000000000000', '50000000-0000-4000-8000-000000000001'];

const tlp = fc.constantFrom(...TLPS);
const links = fc.array(
  fc.record({
    indicator: fc.nat(5),
    campaign: fc.constantFrom(...CAMPAIGNS),
    source: fc.constantFrom(...SOURCES),
    type: fc.constantFrom('indicates', 'refers-to'),
    tlp,
  }),
  { minLength: 1, maxLength: 6 },
);
const some = fc.uniqueArray(fc.nat(5), { minLength: 1 });
const writes = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ what: fc.constant('link' as const), links }) },
    fc.record({
      what: fc.constantFrom('unlink' as const, 'move' as const),
      campaign: fc.constantFrom(...CAMPAIGNS),
      some,
    }),
    {
      weight: 3,
      arbitrary: fc.record({
        what: fc.constant('import' as const),
        some,
        tlp,
        lives: fc.option(fc.constantFrom(3, 10, 30)),
      }),
    },
    fc.record({ what: fc.constantFrom('whitelist' as const, 'list' as const), some }),
    fc.record({ what: fc.constant('delete' as const), some, isFirst: fc.boolean() }),
    // Often now, so that what expires later is summed before it is changed again.
    {
      weight: 3,
      arbitrary: fc.record({ what: fc.constant('sums' as const), seconds: fc.constantFrom(0, 0, 0, 5) }),
    },
  ),
  { minLength: 5, maxLength: 20 },
);
type Write = (typeof writes extends fc.Arbitrary<infer All> ? All : never) extends (infer One)[]
  ? One
  : never;

const nameOf = (n: number) => `d${n}.example`;

onEveryEngine((engine) => {
  let harness: Harness;
  /** Ids last: an indicator that comes again has the one it had. */
  let ids: string[];

  beforeEach(async () => {
    harness = await startHarness(engine);
    const { db } = harness;
    await harness.load(Array.from({ length: 6 }, (_, n) => indicatorRecord('DOMAIN', nameOf(n))));
    const { rows } = await sql<{ id: string }>`select id from indicator order by value`.execute(db);
    ids = rows.map(({ id }) => id);
    for (const [n, id] of SOURCES.entries())
      await sql`insert into source (id, name, kind, default_tlp, default_confidence, default_severity, created_at)
        values (${id}, ${`linking ${n}`}, 'csv', 'CLEAR', 50, 'LOW', now())`.execute(db);
    for (const id of CAMPAIGNS)
      await sql`insert into campaign (id, name, aliases, target_sectors, target_countries, confidence, tlp, source_id,
          created_at, revision) values (${id}, ${id}, '{}', '{}', '{}', 50, 'CLEAR', ${SOURCES[0]}, now(), 1)`.execute(
        db,
      );
  });
  afterEach(() => harness.close());

  const after = (seconds: number) => new Date(harness.clock.now.getTime() + seconds * 1000);

  async function write(step: Write) {
    const { db } = harness;
    const chosen = 'some' in step ? step.some.map((n) => ids[n] ?? '') : [];
    if (step.what === 'link') {
      const unique = new Map(
        step.links.map((link) => [`${link.indicator} ${link.campaign} ${link.type} ${link.source}`, link]),
      );
      const values = [...unique.values()].map(
        (link) => sql`(${ids[link.indicator]}::uuid, ${link.campaign}::uuid, ${link.type}::relationship_type,
          'indicator'::entity_kind, 'campaign'::entity_kind, ${link.tlp}::tlp, ${link.source}::uuid, 1)`,
      );
      // Some are new, some are said again under another marking, in one statement.
      // Importers write links of indicators that exist.
      await sql`insert into relationship (from_id, to_id, type, from_kind, to_kind, tlp, source_id, revision)
        select * from (values ${sql.join(values)}) as link (from_id) where exists (select from indicator where id = from_id)
        on conflict (from_id, to_id, type, source_id) do update set tlp = excluded.tlp`.execute(db);
    } else if (step.what === 'unlink') {
      await sql`delete from relationship where to_id = ${step.campaign} and from_id = any (${chosen}::text[]::uuid[])
        and type = 'indicates'`.execute(db);
    } else if (step.what === 'move') {
      await sql`update relationship as r set to_id = ${step.campaign} where from_id = any (${chosen}::text[]::uuid[])
        and not exists (select from relationship as o where (o.from_id, o.to_id, o.type, o.source_id)
          = (r.from_id, ${step.campaign}::uuid, r.type, r.source_id))`.execute(db);
    } else if (step.what === 'import') {
      const expiresAt = step.lives === null ? null : after(step.lives);
      await harness.load(
        step.some.map((n) => indicatorRecord('DOMAIN', nameOf(n), { tlp: step.tlp, expiresAt })),
      );
    } else if (step.what === 'delete') {
      const deleteIndicators = () =>
        sql`delete from indicator where id = any (${chosen}::text[]::uuid[])`.execute(db);
      if (step.isFirst) await deleteIndicators();
      await sql`delete from relationship where from_id = any (${chosen}::text[]::uuid[])`.execute(db);
      if (!step.isFirst) await deleteIndicators();
    } else if (step.what === 'sums') {
      await sumAt(db, after(step.seconds));
    } else {
      await sql`update indicator set whitelisted = ${step.what === 'whitelist'}
        where id = any (${chosen}::text[]::uuid[])`.execute(db);
    }
  }

  it('counts the indicators of campaigns correctly after arbitrary writes, for every TLP ceiling', {
    tags: ['nightly'],
  }, async () => {
    await fc.assert(
      fc.asyncProperty(writes, async (steps) => {
        const { db } = harness;
        await sql`truncate relationship`.execute(db);
        for (const step of steps) {
          harness.clock.now = after(1);
          await write(step);
          for (const tlpCeiling of TLPS) {
            const viewer = { tlpCeiling, now: harness.clock.now };
            const { rows: plain } = await sql<{ id: string; n: number }>`select campaign.id,
              (select count(*) from indicator where ${linkedTo('campaign', 'indicator', viewer)}) as n
              from campaign order by id`.execute(db);
            const { rows } = await listCampaigns(db, viewer, {}, { page: 1, pageSize: 10 });
            const counted = rows.map(({ id, indicator_count }) => ({ id, n: indicator_count }));
            expect(counted).toEqual(plain);
            const one = await findCampaign(db, viewer, CAMPAIGNS[0] ?? '');
            expect(one?.indicator_count).toBe(plain[0]?.n);
          }
        }
        const { rows: kept } =
          await sql`select * from campaign_summary order by campaign_id, tlp, expires_next`.execute(db);
        const { rows: counted } = await sql`
          select c.campaign_id, greatest(c.tlp, i.tlp) as tlp, count(*) as count,
            expires_next(i.expires_at, i.id, last) as expires_next
          from indicator_summary_expiry as last, indicator_campaign as c join indicator as i on i.id = c.indicator_id
          where is_summed(i.whitelisted, i.expires_at, i.id, last)
          group by 1, 2, 4 order by 1, 2, 4`.execute(db);
        expect(kept).toEqual(counted);
      }),
      runs(10),
    );
  });

  /** Returns the milliseconds that a change of so many indicators takes, at the best of three. */
  async function changeTime(session: Db, count: number): Promise<number> {
    const times: number[] = [];
    for (let i = 0; i < 3; i++) {
      const started = performance.now();
      await sql`update indicator set revision = revision where number <= ${count}`.execute(session);
      times.push(performance.now() - started);
    }
    return Math.min(...times);
  }

  // Compared each with each, as the plan that one row leaves behind would, eight times as many take 64 times as long.
  it('updates many indicators in linear time, also after a single update', {
    tags: ['nightly'],
  }, async () => {
    await harness.db.connection().execute(async (session) => {
      await sql`update indicator set revision = revision where id = ${ids[0]}`.execute(session);
      await sql`insert into indicator (id, number, type, value, normalized, search_text, confidence, severity, tlp, tags,
          source_id, first_seen, last_seen, for_detection, whitelisted, created_at, revision)
        select gen_random_uuid(), number + n, type, value, n::text, search_text, confidence, severity, tlp, tags, source_id,
          first_seen, last_seen, for_detection, whitelisted, created_at, revision
        from generate_series(1, 8000) as n, (select * from indicator order by number desc limit 1) as last`.execute(
        session,
      );
      const few = await changeTime(session, 1_000);
      expect((await changeTime(session, 8_000)) / few).toBeLessThan(32);
    });
  });
});
