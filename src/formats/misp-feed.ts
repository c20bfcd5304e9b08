/**
 * A MISP feed: `manifest.json`, `hashes.csv` and one file per event, as MISP's pull (app/Model/Feed.php)
 * reads them. The events are fixed ranges of indicator numbers, so that a change affects one small file.
 *
 * - The pull fetches an event when its timestamp in the manifest is later than that of its own copy, and
 *   takes the attributes that are new or whose timestamps have increased. Attributes that left the event stay
 *   in MISP.
 * - `feed` is a UUID of this installation: two installations that one MISP pulls from must not share the
 *   uuids of their events.
 */

import { createHash } from 'node:crypto';
import { uuidv5 } from '../model/identity.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { ExportIndicator } from './format.ts';
import { eventSummary, type MispEvent, mispValue, writeEvent } from './misp/attribute.ts';

/** Indicator numbers per event: usually a megabyte at most. */
export const FEED_RANGE_SIZE = 2000;

export interface FeedRange {
  /** From 0; see `feedRangeOf`. */
  range: number;
  /** The most restrictive TLP of its indicators, of which there is at least one. */
  tlp: Tlp;
  /** Never decreases; increases with every change in the range, also when an indicator leaves it. */
  changedAt: Date;
  /** The latest sighting in it. */
  lastSeen: Date;
}

export function feedRangeOf(indicatorNumber: number): number {
  return Math.floor(indicatorNumber / FEED_RANGE_SIZE);
}

/** The indicator numbers of a range, both ends included. */
export function feedNumbersOf(range: number): { first: number; last: number } {
  return { first: range * FEED_RANGE_SIZE, last: (range + 1) * FEED_RANGE_SIZE - 1 };
}

export function feedEventUuid(feed: string, range: number): string {
  return uuidv5(`feed:${range}`, feed);
}

/** Returns the range whose event has the uuid; null if no range up to that of the last indicator has it. */
export function feedRangeOfUuid(feed: string, uuid: string, lastNumber: number): number | null {
  for (let range = feedRangeOf(lastNumber); range >= 0; range--) {
    if (feedEventUuid(feed, range) === uuid) return range;
  }
  return null;
}

/**
 * Returns `manifest.json`, one event per line. Ranges without an indicator have no event: MISP rejects empty
 * ones.
 */
export function feedManifest(feed: string, ranges: readonly FeedRange[]): string {
  const entries = ranges.map((range) => {
    const event = eventOf(feed, range);
    return `\n${JSON.stringify(event.uuid)}:${JSON.stringify(eventSummary(event))}`;
  });
  return `{${entries.join(',')}\n}\n`;
}

/** Writes `{uuid}.json`, the event of a range. */
export function writeFeedEvent(
  feed: string,
  range: FeedRange,
  batches: AsyncIterable<readonly ExportIndicator[]>,
): AsyncGenerator<string> {
  return writeEvent(eventOf(feed, range), batches, new Map());
}

/**
 * Returns lines of `hashes.csv`, the MD5 of a value and the uuid of its event: MISP looks up its own
 * attributes in it.
 */
export function feedHashes(feed: string, rows: readonly ExportIndicator[]): string {
  return rows
    .map((row) => `${md5(mispValue(row))},${feedEventUuid(feed, feedRangeOf(row.number))}\n`)
    .join('');
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

function eventOf(feed: string, { range, tlp, changedAt, lastSeen }: FeedRange): MispEvent {
  const { first, last } = feedNumbersOf(range);
  return {
    uuid: feedEventUuid(feed, range),
    info: `Tipline: indicators ${first} to ${last}`,
    lastSeen,
    changedAt,
    tlp,
  };
}
