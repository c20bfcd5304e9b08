/**
 * A MISP feed: `manifest.json`, `hashes.csv` and one file per event, as MISP's pull (app/Model/Feed.php)
 * reads them. An event is a group of indicators: a fixed range of their numbers, or a source, campaign or report. Groups
 * without a natural bound are divided by ranges of numbers, so that a change affects one small file.
 *
 * - The pull fetches an event when its timestamp in the manifest is later than that of its own copy, and
 *   takes the attributes that are new or whose timestamps have increased. Attributes that left the event stay
 *   in MISP.
 * - `feed` is a UUID of this installation: two installations that one MISP pulls from must not share the
 *   uuids of their events.
 */

import { createHash } from 'node:crypto';
import { uuidv5 } from '../model/identity.ts';
import type { ExportIndicator, GroupHead, MispGroup, RowGroup } from './format.ts';
import { eventSummary, mispValue } from './misp/attribute.ts';
import { eventOf, groupEvent } from './misp/events.ts';
import type { GalaxyTags } from './misp/tags.ts';

/** Indicator numbers per event: usually a megabyte at most. */
export const FEED_RANGE_SIZE = 2000;

export interface FeedEvent {
  /** The id of the group; of a range of numbers its number, from 0. */
  id: string;
  /** It has at least one row. */
  head: GroupHead;
  /** Never decreases; increases with every change in the event, also when an indicator leaves it. */
  changedAt: Date;
}

/** The feed that an event is part of. */
export interface MispFeed {
  /** The UUID of this installation. */
  installation: string;
  group: MispGroup;
  /** Tags of the entities that events are about. */
  galaxies: GalaxyTags;
  /** The address of the application; null: no links to its pages. */
  publicAddress: string | null;
}

export function feedRangeOf(indicatorNumber: number): number {
  return Math.floor(indicatorNumber / FEED_RANGE_SIZE);
}

/** The indicator numbers of a range, both ends included. */
export function feedNumbersOf(range: number): { first: number; last: number } {
  return { first: range * FEED_RANGE_SIZE, last: (range + 1) * FEED_RANGE_SIZE - 1 };
}

/** @param id of the group */
export function feedEventUuid(
  { installation, group }: Pick<MispFeed, 'installation' | 'group'>,
  id: string,
): string {
  return uuidv5(group === 'number' ? `feed:${id}` : `feed:${group}:${id}`, installation);
}

/**
 * Returns `manifest.json`, one event per line. Groups without an indicator have no event: MISP rejects empty
 * ones.
 */
export function feedManifest(feed: MispFeed, events: readonly FeedEvent[]): string {
  const entries = events.map((event) => {
    const written = eventOf(event, optionsOf(feed, event));
    return `\n${JSON.stringify(written.uuid)}:${JSON.stringify(eventSummary(written))}`;
  });
  return `{${entries.join(',')}\n}\n`;
}

/** Returns an event's entry in the manifest without the time of its change: with it the event has changed. */
export function feedEntry(group: RowGroup, galaxies: GalaxyTags): string {
  const options = { galaxies, context: false, changedAt: null, originalIds: false, publicAddress: null };
  const { timestamp: _, ...entry } = eventSummary(eventOf(group, { ...options, uuidOf: () => '' }));
  return JSON.stringify(entry);
}

/** Writes `{uuid}.json`, the event of a group. */
export async function* writeFeedEvent(
  feed: MispFeed,
  event: FeedEvent,
  batches: AsyncIterable<readonly ExportIndicator[]>,
): AsyncGenerator<string> {
  const writer = groupEvent(event, optionsOf(feed, event));
  yield writer.head;
  for await (const batch of batches) yield batch.map(writer.add).join('');
  yield `${writer.end()}\n`;
}

function optionsOf(feed: MispFeed, { changedAt }: FeedEvent) {
  const { galaxies, publicAddress } = feed;
  const uuidOf = ({ id }: { id: string }) => feedEventUuid(feed, id);
  return { galaxies, context: false, changedAt, uuidOf, originalIds: false, publicAddress };
}

/**
 * Returns lines of `hashes.csv`, the MD5 of a value and the uuid of its event: MISP looks up its own
 * attributes in it.
 */
export function feedHashes(
  feed: Pick<MispFeed, 'installation' | 'group'>,
  rows: readonly ExportIndicator[],
): string {
  const groupIdOf = (row: ExportIndicator) => row.group?.id ?? String(feedRangeOf(row.number));
  return rows.map((row) => `${md5(mispValue(row))},${feedEventUuid(feed, groupIdOf(row))}\n`).join('');
}

export function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
