import type { LightMyRequestResponse } from 'fastify';
import { saveProvider } from '../../src/enrichment/providers.service.ts';
import type { FeedDefinition } from '../../src/feeds/feed.ts';
import { createFeed } from '../../src/feeds/feeds.service.ts';
import { changePin } from '../../src/indicators/confidence/confidence.service.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { secretBox } from '../../src/secrets/secret-box.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { newUser, openBrowser, PASSWORD } from '../app/browser.ts';
import { type Harness, indicatorRecord, NOW } from '../support/harness.ts';
import {
  actorRecord,
  campaignRecord,
  relationshipRecord,
  reportRecord,
  techniqueRecord,
} from '../support/records.ts';
import { totpAt } from '../support/totp.ts';
import { SECRET } from './places.ts';

/** More than a page of a list and a batch of an import. */
export const DOMAINS = 1_100;
const BY = { who: 'test', address: null, now: NOW };

export interface Filled {
  key: string;
  /** The import that can be undone. */
  run: string;
  /** The cookies of a session of the administrator. */
  cookies: Map<string, string>;
  /** The address of the second factor. */
  totp: string;
}

/** Fills a store with some of everything that it can hold. */
export async function fill(harness: Harness): Promise<Filled> {
  const { db } = harness;
  const domain = (i: number, fields = {}) => indicatorRecord('DOMAIN', `h${i}.test-feed.net`, fields);
  await harness.load(
    Array.from({ length: DOMAINS }, (_, i) =>
      domain(i, { confidence: i % 101, tags: [`t${i % 7}`, 'a\tb\\c\nd'] }),
    ),
  );
  const [actor, campaign] = [actorRecord('Tester'), campaignRecord('Operation Test')];
  await harness.load([
    actor,
    campaign,
    techniqueRecord('T1059'),
    reportRecord('A report'),
    domain(1, { externalIds: ['indicator--1'] }),
    relationshipRecord('indicator--1', 'indicates', 'actor:Tester'),
    relationshipRecord('indicator--1', 'indicates', 'campaign:Operation Test'),
    relationshipRecord('campaign:Operation Test', 'attributed-to', 'actor:Tester'),
    indicatorRecord('IPV4', '203.0.113.0/24', { tlp: 'AMBER' }),
    indicatorRecord('IPV4', '203.0.113.7', { expiresAt: new Date('2026-05-01T00:00:00Z') }),
    indicatorRecord('SHA256', 'a'.repeat(64), { severity: 'CRITICAL' }),
  ]);
  const run = await harness.loadRun([domain(2, { confidence: 3 }), domain(DOMAINS)], 'Another');
  await changePin(
    db,
    indicatorId('DOMAIN', 'h3.test-feed.net'),
    { kind: 'pin', confidence: 99 },
    {
      ...BY,
      reason: 'sure',
    },
  );
  await addEntry(db, 'h4.test-feed.net', undefined, { who: 'test', reason: 'ours', now: NOW }, 'RED');
  const feed: FeedDefinition = {
    slug: 'edge',
    name: 'Edge',
    description: '',
    format: 'txt',
    query: 'type=DOMAIN',
    tlpCeiling: 'RED',
  };
  await createFeed(db, feed, BY);
  const secrets = secretBox(SECRET, 'provider keys');
  await saveProvider(db, secrets, 'virustotal', { keys: ['a key of a provider'] }, BY);
  await newUser(harness, 'administrator');
  const browser = openBrowser(harness);
  await browser.signIn('administrator@example.org');
  const { uri } = (await browser.send('POST', '/app/two-factor/start', { password: PASSWORD })).json();
  await browser.send('POST', '/app/two-factor/confirm', { code: totpAt(NOW, uri) });
  return { key: await harness.newKey({ name: 'kept' }), run, cookies: browser.cookies, totp: uri };
}

const LISTS = [
  '/api/v1/indicators?pageSize=500',
  '/api/v1/indicators?pageSize=500&page=3',
  '/api/v1/indicators?pageSize=20&tag=t3&minConfidence=50',
  '/api/v1/indicators?q=h12',
  `/api/v1/indicators/${indicatorId('DOMAIN', 'h1.test-feed.net')}`,
  `/api/v1/indicators/${indicatorId('DOMAIN', 'h1.test-feed.net')}/context`,
  `/api/v1/indicators/${indicatorId('DOMAIN', 'h3.test-feed.net')}`,
  `/api/v1/indicators/${indicatorId('DOMAIN', 'h4.test-feed.net')}`,
  '/api/v1/actors',
  '/api/v1/campaigns',
  '/api/v1/feeds',
  '/api/v1/feeds/edge',
  '/api/v1/lookup?value=203.0.113.9&value=h2.test-feed.net',
  '/api/v1/exports/csv',
  '/api/v1/exports/stix?include=context',
  '/api/v1/exports/zeek',
];
/** They also state when their content last changed for this caller. */
const VERSIONED = ['/api/v1/exports/suricata', '/api/v1/exports/rpz?type=DOMAIN', '/api/v1/exports/misp'];

/** Returns status, ETag and body of the responses to a key, by path. */
export async function responses(harness: Harness, key: string, withVersions: boolean) {
  const read = async (path: string): Promise<[string, unknown[]]> => {
    const { statusCode, headers, body } = await harness.get(path, { key });
    return [path, [statusCode, headers.etag, body]];
  };
  const all: [string, unknown[]][] = [];
  for (const path of [...LISTS, ...(withVersions ? VERSIONED : [])]) all.push(await read(path));
  return Object.fromEntries(all);
}

/** Returns the sids of all rules. */
export async function sids(harness: Harness, key: string): Promise<string[]> {
  const { body } = await harness.get('/api/v1/exports/suricata', { key });
  return [...body.matchAll(/sid:(\d+)/g)].map(([, sid]) => String(sid));
}

/** Follows the changes after a cursor. */
export const changesAfter = (
  harness: Harness,
  key: string,
  cursor: string,
): Promise<LightMyRequestResponse> => harness.get(`/api/v1/indicators/changes?cursor=${cursor}`, { key });

/** Reads all changes. @returns the cursor at the end */
export async function lastCursor(harness: Harness, key: string): Promise<string> {
  let body = (await harness.get('/api/v1/indicators/changes?limit=10000', { key })).json();
  while (body.hasMore) body = (await changesAfter(harness, key, body.cursor)).json();
  return body.cursor;
}
