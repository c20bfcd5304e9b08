import { uuidv5 } from '../../model/identity.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import type { ExportIndicator } from '../format.ts';
import { unixSeconds, writeAttribute } from './attribute.ts';
import { type GalaxyTags, tlpTag } from './tags.ts';

/** Must never change: by it MISP identifies the organisation that created an event and may change it. */
const ORGC = { name: 'Tipline', uuid: 'b481c7f0-7328-4f19-bb9e-cfdbe994d43d' };

/** 4 is "undefined": one level cannot represent many sources. */
const THREAT_LEVEL = '4';
const ANALYSIS_COMPLETED = '2';
/** The importing organisation decides the distribution; the TLP states how far it may go. */
const OWN_ORGANISATION_ONLY = '0';

export interface MispEvent {
  uuid: string;
  info: string;
  /** null: the event is empty. */
  lastSeen: Date | null;
  changedAt: Date | null;
  /** The most restrictive marking in it; null when it is empty. */
  tlp: Tlp | null;
}

/** Returns the members that an event and its entry in a feed's manifest share. */
export function eventSummary({ info, lastSeen, changedAt, tlp }: MispEvent) {
  return {
    info,
    date: (lastSeen ?? new Date(0)).toISOString().slice(0, 'YYYY-MM-DD'.length),
    timestamp: String(unixSeconds(changedAt ?? new Date(0))),
    threat_level_id: THREAT_LEVEL,
    analysis: ANALYSIS_COMPLETED,
    Orgc: ORGC,
    Tag: tlp === null ? [] : [tlpTag(tlp)],
  };
}

/**
 * Writes `{"Event": {…}}`, one attribute per line. An attribute's uuid is specific to its event: MISP drops
 * an attribute that it has from another event.
 */
export async function* writeEvent(
  event: MispEvent,
  batches: AsyncIterable<readonly ExportIndicator[]>,
  galaxies: GalaxyTags,
): AsyncGenerator<string> {
  const newest = unixSeconds(event.changedAt ?? new Date(0));
  yield eventHead(event);
  let separator = '\n';
  for await (const batch of batches) {
    let text = '';
    for (const row of batch) {
      text += separator + writeAttribute(row, uuidv5(row.id, event.uuid), newest, galaxies);
      separator = ',\n';
    }
    yield text;
  }
  yield '\n]}}\n';
}

/** Returns the event up to the bracket that opens the attributes. */
function eventHead(event: MispEvent): string {
  const summary = eventSummary(event);
  // MISP rejects an empty event that is marked as published.
  const published = event.tlp !== null;
  const head = {
    uuid: event.uuid,
    ...summary,
    published,
    publish_timestamp: published ? summary.timestamp : '0',
    distribution: OWN_ORGANISATION_ONLY,
  };
  return `{"Event":${JSON.stringify(head).slice(0, -1)},"Attribute":[`;
}
