import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ExportIndicator } from '../../src/formats/format.ts';
import { mispFormat } from '../../src/formats/misp.ts';
import {
  type FeedEvent,
  feedEventUuid,
  feedHashes,
  feedManifest,
  feedNumbersOf,
  feedRangeOf,
  type MispFeed,
  writeFeedEvent,
} from '../../src/formats/misp-feed.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';
import { problemsOf, readEvent } from './misp-checks.ts';

const FEED: MispFeed = {
  installation: '00000000-0000-4000-8000-000000000001',
  group: 'number',
  galaxies: new Map(),
  publicAddress: null,
};
const OTHER_FEED: MispFeed = { ...FEED, installation: '00000000-0000-4000-8000-000000000002' };

const range = (number: number, fields: Partial<FeedEvent['head']> = {}): FeedEvent => {
  const { first, last } = feedNumbersOf(number);
  return {
    id: String(number),
    head: {
      title: `Tipline: indicators ${first} to ${last}`,
      tlp: 'AMBER_STRICT',
      lastSeen: new Date('2026-05-20T10:30:00.000Z'),
      report: null,
      entities: [],
      ...fields,
    },
    changedAt: new Date('2026-05-26T09:30:00.500Z'),
  };
};

async function eventText(rows: readonly ExportIndicator[], feed = FEED): Promise<string> {
  async function* batches() {
    yield rows;
  }
  let text = '';
  for await (const piece of writeFeedEvent(feed, range(0), batches())) text += piece;
  return text;
}

describe('MISP feed', () => {
  const rows = GOLDEN.slice(0, 4);

  it('matches the golden manifest', async () => {
    await expectGolden(feedManifest(FEED, [range(0), range(7, { tlp: 'CLEAR' })]), 'misp-feed.manifest.json');
  });

  it('matches the golden event', async () => {
    await expectGolden(await eventText(rows), 'misp-feed.event.json');
  });

  it('matches the golden hashes', async () => {
    await expectGolden(feedHashes(FEED, rows), 'misp-feed.hashes.csv');
  });

  it('has an empty manifest without indicators', () => {
    expect(JSON.parse(feedManifest(FEED, []))).toEqual({});
  });

  it('contains nothing that MISP would reject or drop', async () => {
    expect(problemsOf(readEvent(await eventText([...GOLDEN, ...HOSTILE])))).toEqual([]);
  });

  it('has a manifest consistent with the events', async () => {
    const event = readEvent(await eventText(rows));
    const manifest = JSON.parse(feedManifest(FEED, [range(0)])) as Record<string, object>;
    expect(Object.keys(manifest)).toEqual([event.uuid]);
    expect(event).toMatchObject(manifest[event.uuid] ?? {});
  });

  it('updates the event timestamp when an attribute was removed', async () => {
    const event = readEvent(await eventText(rows.slice(1)));
    expect(Number(event.timestamp)).toBe(Math.floor(Number(range(0).changedAt) / 1000));
    expect(event.Attribute.every(({ timestamp }) => timestamp < event.timestamp)).toBe(true);
  });

  it('hashes every value exactly as its event contains it', async () => {
    const all = [...GOLDEN, ...HOSTILE];
    const { uuid, Attribute } = readEvent(await eventText(all));
    const lines = Attribute.map(({ value }) => `${createHash('md5').update(value).digest('hex')},${uuid}`);
    expect(feedHashes(FEED, all).trimEnd().split('\n')).toEqual(lines);
  });

  it('references the event of each range in the hashes', () => {
    const numbers = [1, 1999, 2000];
    const text = feedHashes(
      FEED,
      numbers.map((number) => exportIndicator(number, 'DOMAIN', 'a.example')),
    );
    const uuids = ['0', '0', '1'].map((one) => feedEventUuid(FEED, one));
    expect(text.match(/[0-9a-f-]{36}/g)).toEqual(uuids);
  });

  it('shares no uuid with an export or the feed of another installation', async () => {
    const uuidsOf = (text: string) =>
      [readEvent(text)].flatMap((e) => [e.uuid, ...e.Attribute.map((a) => a.uuid)]);
    const texts = [
      await eventText(rows),
      await eventText(rows, OTHER_FEED),
      await written(mispFormat({ context: false }), rows),
    ];
    const uuids = texts.flatMap(uuidsOf);
    expect(new Set(uuids).size).toBe(uuids.length);
  });
});

describe('ranges of a MISP feed', () => {
  it('contain every number exactly once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (number) => {
        const { first, last } = feedNumbersOf(feedRangeOf(number));
        expect(first <= number && number <= last).toBe(true);
        expect([feedRangeOf(first), feedRangeOf(last)]).toEqual([feedRangeOf(number), feedRangeOf(number)]);
      }),
    );
  });
});
