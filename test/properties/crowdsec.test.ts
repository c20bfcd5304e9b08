import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { openChangeFeed } from '../../src/changes/change-feed.ts';
import { rowsOf } from '../../src/crowdsec/feed-rows.queries.ts';
import { type DecisionStream, openDecisionStream, type StreamResponse } from '../../src/crowdsec/stream.ts';
import type { Database } from '../../src/db/database.ts';
import { withRevision } from '../../src/db/revision/revision.ts';
import { openSpool, type Spool } from '../../src/exports/spool.ts';
import type { Feed } from '../../src/feeds/feed.ts';
import { blocksOf, isWithin, rangeOf, withoutParts } from '../../src/model/address-ranges.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { compareTlp } from '../../src/model/statement.ts';
import { TLPS, type Tlp } from '../../src/model/vocabulary.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { onEveryEngine } from '../support/engines.ts';
import { runs } from './runs.ts';

const START = Date.parse('2026-06-01T12:00:00.000Z');
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const SOURCE = '5c1d7a52-0a4e-4c8f-9a53-2b6a0e3f7d10';
const KEY = '8c1d7a52-0a4e-4c8f-9a53-2b6a0e3f7d11';

/** Networks in each other, and addresses that are parts of them. */
const VALUES = ['10.0.0.0/30', '10.0.0.0/31', '10.0.0.0', '10.0.0.1', '10.0.0.2/31', '10.0.0.3', '192.0.2.9'];
/** Whitelisted addresses. */
const PARTS = ['10.0.0.0', '10.0.0.1', '10.0.0.3'];

const FEEDS: Feed[] = [
  feed('all', 'types=IPV4,IPV6,DOMAIN', 'RED'),
  feed('c2', 'tag=c2', 'AMBER'),
  feed('confident', 'minConfidence=50', 'RED'),
  feed('first', 'limit=2', 'RED'),
  feed('newest', 'limit=3&order=newest', 'GREEN'),
];

function feed(slug: string, query: string, tlpCeiling: Tlp): Feed {
  const at = new Date(START);
  const shared = { name: slug, description: '', createdAt: at, createdBy: 'test', changedAt: at };
  return {
    id: randomUUID(),
    slug,
    format: 'txt',
    query,
    tlpCeiling,
    minEntries: null,
    minShare: null,
    ...shared,
  };
}

const state = fc.record({
  tlp: fc.constantFrom(...TLPS),
  whitelisted: fc.boolean(),
  expiresIn: fc.constantFrom(null, null, 1, SECOND, HOUR, 20 * HOUR, 40 * HOUR, 700 * HOUR),
  confidence: fc.constantFrom(40, 60),
  tags: fc.constantFrom<string[]>([], ['c2']),
  forDetection: fc.constantFrom(true, true, false),
  seenAgo: fc.constantFrom(0, 2 * HOUR),
  parts: fc.subarray(PARTS),
});
type State = typeof state extends fc.Arbitrary<infer T> ? T : never;
const index = fc.nat(VALUES.length - 1);
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      rows: fc.uniqueArray(fc.record({ index, state }), {
        minLength: 1,
        maxLength: 4,
        selector: (row) => row.index,
      }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 10 * SECOND, 299 * SECOND, HOUR, 7 * HOUR, 13 * HOUR, 100 * HOUR),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), node: fc.nat(1) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('poll' as const),
      client: fc.nat(2),
      node: fc.nat(1),
      isStartup: fc.constantFrom(false, false, false, true),
      /** Whether it is received completely; of those that are, a bouncer may not have applied one before it was killed. */
      isComplete: fc.constantFrom(true, true, true, false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('rebind' as const),
      client: fc.nat(2),
      feeds: fc.subarray([0, 1, 2, 3, 4], { minLength: 1 }),
      ceiling: fc.constantFrom(...TLPS),
      scopes: fc.constantFrom(undefined, ['Ip']),
    }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

const LISTED: State = {
  tlp: 'CLEAR',
  whitelisted: false,
  expiresIn: null,
  confidence: 40,
  tags: [],
  forDetection: true,
  seenAgo: 0,
  parts: [],
};
/** A firewall has an address with the short duration of one feed, and gets it from another feed, too, with a longer one. */
const LONGER_BY_ANOTHER_FEED: Action[] = [
  // Its renewal is not due within the next hours.
  { do: 'wait', ms: HOUR },
  { do: 'rebind', client: 0, feeds: [0, 4], ceiling: 'RED', scopes: undefined },
  { do: 'poll', client: 0, node: 0, isStartup: false, isComplete: true },
  { do: 'write', rows: [{ index: 6, state: { ...LISTED, tlp: 'RED', expiresIn: SECOND } }] },
  { do: 'poll', client: 0, node: 0, isStartup: false, isComplete: true },
  { do: 'write', rows: [{ index: 6, state: LISTED }] },
];

interface Node {
  stream: DecisionStream;
  spool: Spool;
}

interface SentDecision {
  value: string;
  duration: string;
}

/** What a bouncer has: it applies deletions, then decisions, whose durations run out. */
interface Bouncer {
  address: string;
  feeds: number[];
  ceiling: Tlp;
  scopes: string[] | undefined;
  isFirewall: boolean;
  held: Map<string, number>;
  /** Values that it was ever sent. */
  sent: Set<string>;
}

function msOf(duration: string): number {
  const [, h = 0, m = 0, s = 0] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)$/.exec(duration) ?? [];
  return ((Number(h) * 60 + Number(m)) * 60 + Number(s)) * SECOND;
}

onEveryEngine((engine) => {
  let database: Database;
  let now: number;
  const model = new Map<number, State & { expiresAt: number | null }>();
  beforeEach(async () => {
    database = await engine.open();
  });
  afterAll(() => database.close());

  const open = (): Node => {
    const changes = openChangeFeed(database, 'a secret of the tests', () => new Date(now));
    const spool = openSpool(temporaryDirectory(), 1 << 26);
    const onError = (error: Error) => {
      throw error;
    };
    return { spool, stream: openDecisionStream({ database, changes, spool, onError }) };
  };

  async function reset() {
    now = START;
    model.clear();
    const { db } = database;
    await sql`truncate indicator, indicator_history, link_history, entity_history, revision_log, indicator_source,
      crowdsec_position, crowdsec_deletion, network_prefix cascade`.execute(db);
    await sql`update revision set value = 0, last_number = 0`.execute(db);
    await sql`insert into network_prefix (type, length) values ('IPV4', 30), ('IPV4', 31)`.execute(db);
    await sql`insert into source (id, name, kind, default_tlp, default_confidence, default_severity, created_at)
      values (${SOURCE}::uuid, 'Decisions', 'import', 'CLEAR', 50, 'MEDIUM', ${new Date(START)}::timestamptz)
      on conflict do nothing`.execute(db);
    database.revisions.invalidate();
  }

  /** The whitelisted parts of a network. Not all of it may be whitelisted: it would be hidden as a whole. */
  const partsIn = (value: string, parts: string[]) =>
    parts.filter((part) => value.includes('/') && isWithin(rangeOf(part), rangeOf(value))).sort();

  async function write(rows: { index: number; state: State }[]) {
    await withRevision(database.db, async (trx, revision) => {
      for (const { index: at, state: to } of rows) {
        const value = VALUES[at] ?? '';
        const expiresAt = to.expiresIn === null ? null : now + to.expiresIn;
        model.set(at, { ...to, expiresAt });
        const parts = partsIn(value, to.parts);
        const expiry = expiresAt === null ? null : new Date(expiresAt);
        await sql`
          insert into indicator (id, number, type, value, normalized, confidence, severity, tlp, tags, source_id, first_seen,
            last_seen, expires_at, for_detection, of_certificate, has_records, whitelisted, whitelisted_parts,
            created_at, revision)
          values (${indicatorId('IPV4', value)}::uuid, ${at + 1}, 'IPV4', ${value}, ${value}, ${to.confidence}, 'LOW', ${to.tlp},
            ${to.tags}::text[], ${SOURCE}::uuid, ${new Date(START - 3 * HOUR)}::timestamptz,
            ${new Date(START - to.seenAgo)}::timestamptz, ${expiry}::timestamptz, ${to.forDetection}, false, false,
            ${to.whitelisted}, ${parts.length ? parts : null}::text[], ${new Date(now)}::timestamptz, ${revision.next}::bigint)
          on conflict (id) do update set confidence = excluded.confidence, tlp = excluded.tlp, tags = excluded.tags,
            last_seen = excluded.last_seen, expires_at = excluded.expires_at, for_detection = excluded.for_detection,
            whitelisted = excluded.whitelisted, whitelisted_parts = excluded.whitelisted_parts,
            revision = excluded.revision
        `.execute(trx);
      }
      revision.advance();
    });
  }

  /** The blocks that are listed for a client, by a model that is independent of the database. */
  function listed({ feeds, ceiling, scopes }: Bouncer): Set<string> {
    const found = new Set<string>();
    for (const at of feeds) {
      const { tlpCeiling, query } = FEEDS[at] as Feed;
      const lower = compareTlp(tlpCeiling, ceiling) < 0 ? tlpCeiling : ceiling;
      const parameters = new URLSearchParams(query);
      const rows = [...model]
        .filter(
          ([, row]) =>
            !row.whitelisted &&
            row.forDetection &&
            compareTlp(row.tlp, lower) <= 0 &&
            (row.expiresAt === null || row.expiresAt > now) &&
            (!parameters.has('tag') || row.tags.includes('c2')) &&
            row.confidence >= Number(parameters.get('minConfidence') ?? 0),
        )
        .map(([number, row]) => ({ ...row, number, id: indicatorId('IPV4', VALUES[number] ?? '') }))
        .sort(
          (a, b) =>
            (parameters.get('order') === 'newest' ? 0 : b.confidence - a.confidence) ||
            a.seenAgo - b.seenAgo ||
            (a.id < b.id ? -1 : 1),
        )
        .slice(0, Number(parameters.get('limit') ?? VALUES.length));
      for (const { number, parts } of rows) {
        const value = VALUES[number] ?? '';
        const rest = withoutParts(rangeOf(value), partsIn(value, parts).map(rangeOf));
        for (const block of rest.flatMap((range) => blocksOf(range)))
          if (!scopes || !block.includes('/')) found.add(block);
      }
    }
    return found;
  }

  async function textOf({ body }: StreamResponse, { spool }: Node): Promise<string> {
    if ('text' in body) return body.text;
    const chunks: Buffer[] = [];
    for await (const chunk of body.spooled.file('identity').read()) chunks.push(chunk as Buffer);
    spool.drop(body.spooled);
    return Buffer.concat(chunks).toString();
  }

  const drop = (bouncer: Bouncer) => {
    for (const [value, until] of bouncer.held) if (until <= now) bouncer.held.delete(value);
  };

  async function poll(bouncer: Bouncer, node: Node, isStartup: boolean, isComplete: boolean) {
    const { address, feeds, ceiling, scopes, isFirewall } = bouncer;
    const reader = { tlpCeiling: ceiling, now: new Date(now) };
    const request = {
      now: new Date(now),
      maxMs: 2_147_483 * SECOND,
      feeds: feeds.map((at) => rowsOf(FEEDS[at] as Feed, reader)),
      filter: scopes ? { scopes } : {},
      deletesBeforeRenewal: isFirewall,
    };
    const client = { keyId: KEY, address, userAgent: 'test' };
    const response = await node.stream.next(client, request, isStartup);
    const { new: added, deleted } = JSON.parse(await textOf(response, node)) as Record<
      'new' | 'deleted',
      SentDecision[]
    >;
    const expected = listed(bouncer);
    // Nothing that is hidden is named, except deletions of what the client was sent.
    for (const { value } of added) expect(expected).toContain(value);
    const values = new Set(added.map(({ value }) => value));
    for (const { value } of deleted) if (!values.has(value)) expect(bouncer.sent).toContain(value);
    if (!isFirewall) expect(deleted.filter(({ value }) => values.has(value))).toEqual([]);
    if (!isComplete) return;
    await response.record();
    drop(bouncer);
    for (const { value } of deleted) bouncer.held.delete(value);
    for (const { value, duration } of added) {
      bouncer.sent.add(value);
      // In its nftables set, the timeout of an element that is there stays.
      if (isFirewall && bouncer.held.has(value)) continue;
      bouncer.held.set(value, now + msOf(duration));
    }
    expect([...bouncer.held.keys()].sort()).toEqual([...expected].sort());
  }

  it('keeps bouncers equal to the feeds of their keys', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 40, size: 'max' }), async (actions) => {
        await reset();
        const bouncers = [0, 1, 2].map(
          (at): Bouncer => ({
            address: `192.0.2.${at}`,
            feeds: [[0], [1, 2], [3, 4]][at] ?? [],
            ceiling: 'RED',
            scopes: undefined,
            isFirewall: at === 0,
            held: new Map(),
            sent: new Set(),
          }),
        );
        const nodes = [open(), open()];
        const run = async (act: Action) => {
          if (act.do === 'write') await write(act.rows);
          else if (act.do === 'wait') now += act.ms;
          else if (act.do === 'kill') nodes[act.node] = open();
          else if (act.do === 'rebind') {
            const { feeds, ceiling, scopes } = act;
            Object.assign(bouncers[act.client] as Bouncer, { feeds, ceiling, scopes });
          } else
            await poll(
              bouncers[act.client] as Bouncer,
              nodes[act.node] as Node,
              act.isStartup,
              act.isComplete,
            );
        };
        for (const act of actions) await run(act);
        for (const bouncer of bouncers) {
          await poll(bouncer, open(), false, true);
          // As long as it polls, it has everything that is listed at each poll, and so does not depend on changes.
          for (let hours = 0; hours < 15; hours += 5) {
            now += 5 * HOUR;
            await poll(bouncer, open(), false, true);
          }
        }
      }),
      {
        ...runs(12),
        ...(process.env.SEED ? {} : { examples: [[LONGER_BY_ANOTHER_FEED]] }),
        ...(process.env.SEED ? { seed: Number(process.env.SEED), path: process.env.FCPATH ?? '' } : {}),
      },
    );
  });
});
