import { mostRestrictive } from '../../model/statement.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import type { ExportIndicator, GroupReport, RowGroup } from '../format.ts';
import {
  attributeText,
  eventHead,
  linkText,
  type MispEvent,
  noteText,
  objectHead,
  otherAttributeText,
  type RecordChoice,
  unixSeconds,
} from './attribute.ts';
import { type GalaxyTags, galaxyTagsOf } from './tags.ts';

/** The common options of the events of an export. */
export interface EventOptions {
  /** Tags of the entities that events are about. */
  galaxies: GalaxyTags;
  /** Whether attributes have tags of the entities that they indicate. */
  context: boolean;
  /** When the export last changed; no attribute is newer than its event. */
  changedAt: Date | null;
  /** Returns the uuid of the event of a group. */
  uuidOf(group: RowGroup): string;
  /** Whether records keep their own uuids. */
  originalIds: boolean;
  /** The address of the application; null: no links to its pages. */
  publicAddress: string | null;
}

/**
 * Writes `{"response": […]}`, one event for each group, as MISP exports several events.
 * @param batches ordered by group; the first row of each has its head
 */
export async function* writeEvents(
  batches: AsyncIterable<readonly ExportIndicator[]>,
  options: EventOptions,
): AsyncGenerator<string> {
  yield '{"response":[';
  let event: GroupEvent | null = null;
  for await (const batch of batches) {
    let text = '';
    for (const row of batch) {
      if (row.group?.head) {
        text += event === null ? '\n' : `${event.end()},\n`;
        event = groupEvent(row.group, options);
        text += event.head;
      }
      text += event?.add(row) ?? '';
    }
    yield text;
  }
  yield `${event?.end() ?? ''}\n]}\n`;
}

interface GroupEvent {
  head: string;
  /** Returns the text of an attribute, or '' for one that is written with its object. */
  add(row: ExportIndicator): string;
  end(): string;
}

/** Returns the writer of an event. Only the attributes of objects are in memory: an object is written whole. */
export function groupEvent(group: RowGroup, options: EventOptions): GroupEvent {
  const { head } = group;
  const report = head?.report ?? null;
  const event = eventOf(group, options);
  const newest = unixSeconds(options.changedAt ?? new Date(0));
  const objects = new Map<string, { head: string; attributes: string[] }>();
  const galaxies: GalaxyTags = options.context ? options.galaxies : new Map();
  const place = { eventUuid: event.uuid, newest, galaxies, originalIds: options.originalIds };
  let separator = '\n';
  const placed = (text: string, object: RecordChoice['object']): string => {
    if (object === null) {
      const line = separator + text;
      separator = ',\n';
      return line;
    }
    const known = objects.get(object.id) ?? { head: objectHead(object, place), attributes: [] };
    known.attributes.push(text);
    objects.set(object.id, known);
    return '';
  };
  let text = '';
  for (const attribute of report?.parts ?? [])
    if (attribute.type !== 'note') text += placed(otherAttributeText(attribute, place), attribute.object);
  for (const url of linksOf(report, options.publicAddress)) text += placed(linkText(url, place), null);
  return {
    head: eventHead(event) + text,
    add: (row) =>
      choicesOf(row, group, options.originalIds)
        .map((choice) => placed(attributeText(row, choice, place), choice.object))
        .join(''),
    end() {
      const written = [...objects.values()].map(
        (object) => `\n${object.head}${object.attributes.join(',\n')}\n]}`,
      );
      const notes = (report?.parts ?? [])
        .filter(({ type }) => type === 'note')
        .map((note) => `\n${noteText(note, place)}`);
      const list = (name: string, texts: string[]) =>
        texts.length === 0 ? '' : `,"${name}":[${texts.join(',')}\n]`;
      return `\n]${list('Object', written)}${list('EventReport', notes)}}}`;
    },
  };
}

export function eventOf(
  group: RowGroup,
  { galaxies, changedAt, uuidOf, originalIds }: EventOptions,
): MispEvent {
  const { head } = group;
  const report = head?.report ?? null;
  const tlps = [head?.tlp, head?.ownTlp, report?.tlp, report?.partsTlp].filter((tlp) => tlp != null);
  const tlp: Tlp = mostRestrictive(tlps);
  const uuid = uuidOf(group);
  const original = originalUuid(report);
  return {
    uuid,
    info: head?.title ?? '',
    date: report?.publishedAt ?? head?.lastSeen ?? null,
    changedAt,
    tlp,
    tags: [...(report?.tags ?? []), ...galaxyTagsOf(report?.entities ?? head?.entities ?? [], tlp, galaxies)],
    // The original event, which MISP then shows beside this one.
    extendsUuid: originalIds || original === uuid ? null : original,
  };
}

const REPORT_ID = /^report--([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Returns the uuid of the MISP event, or of the STIX report, that the report was imported from. */
export function originalUuid(report: GroupReport | null): string | null {
  const ids = report?.externalIds.map((id) => REPORT_ID.exec(id)?.[1] ?? null) ?? [];
  return ids.find((id) => id !== null) ?? null;
}

/**
 * Returns the records that become attributes of the event: of a report, one in each of its objects, and one besides; of a
 * source, its latest one; else the first one. Where attributes stand for records, those with other values, such as ports,
 * become others.
 */
function choicesOf(
  { records }: ExportIndicator,
  { id, head }: RowGroup,
  originalIds: boolean,
): RecordChoice[] {
  const report = head?.report ?? null;
  if (head?.source) {
    const record = records.find(({ source }) => source === head.source) ?? null;
    const isShared = records.some(({ id, source }) => source !== head.source && id === record?.id);
    return [{ record, object: null, isOwn: !isShared }];
  }
  const own = records.filter(
    ({ reportId }) => reportId !== undefined && report?.externalIds.includes(reportId),
  );
  if (own.length === 0) return [{ record: records[0] ?? null, object: null, isOwn: id === '' }];
  const choices = new Map<string, RecordChoice>();
  for (const record of own) {
    const object = record.object ?? null;
    const key = JSON.stringify([object?.id, originalIds && record.original]);
    if (!choices.has(key)) choices.set(key, { record, object, isOwn: true });
  }
  return [...choices.values()];
}

/** The links of a report that are no attributes of it, and its page here. */
function linksOf(report: GroupReport | null, publicAddress: string | null): string[] {
  if (report === null) return [];
  const known = new Set(report.parts.map(({ value }) => value));
  const page = publicAddress === null ? [] : [`${publicAddress}/reports/${report.id}`];
  return [...report.links, ...page].filter((url) => !known.has(url));
}
