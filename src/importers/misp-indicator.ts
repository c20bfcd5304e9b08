import type { Severity, Tlp } from '../model/vocabulary.ts';
import { parseUnixSeconds } from './dates.ts';
import type { ImportRecord, IndicatorRecord } from './importer.ts';
import { attributeObservables } from './misp-attributes.ts';
import { clusterRecords } from './misp-clusters.ts';
import { stixId } from './misp-ids.ts';
import { indicatedIds, tagsWithoutLink, withReport } from './misp-links.ts';
import { type MispTags, mispTags } from './misp-tags.ts';
import {
  dateOf,
  type Fields,
  field,
  isObject,
  isTrue,
  notBefore,
  RecordRejected,
  tagsOf,
  textOf,
} from './record-fields.ts';
import { rejectedBy, rejectedRecord } from './rejected-record.ts';
import { relationshipRecord } from './relationship-record.ts';

/** The values that the attributes of an event inherit from it. */
export interface EventContext {
  reportId: string | null;
  date: Date | null;
  severity: Severity | null;
  tlp: Tlp | null;
  /** The tags that every indicator of the event gets. */
  tags: string[];
  /** External ids of the entities that every indicator of the event indicates. */
  indicated: string[];
}

/**
 * Yields the indicators of an attribute, or the reason for its rejection, and the links of their external id.
 */
export function* readAttribute(
  attribute: unknown,
  event: EventContext,
  where: string,
): Generator<ImportRecord> {
  try {
    if (!isObject(attribute)) throw new RecordRejected('not an object');
    const type = textOf(field(attribute, 'type'));
    const value = field(attribute, 'value');
    if (type === null) throw new RecordRejected('no type');
    // An ignored type is ignored, whatever else is wrong with the attribute.
    const observables = attributeObservables(type, typeof value === 'string' ? value : '');
    if (observables.length === 0) return;
    if (isTrue(field(attribute, 'deleted'))) throw new RecordRejected('deleted in its source');
    const tags = mispTags(attribute);
    const shared = sharedFields(attribute, tags, event);
    const accepted = observables.filter((observable) => !('rejected' in observable));
    for (const observable of observables) {
      if ('rejected' in observable) yield rejectedRecord('indicator', observable.rejected, where);
      else yield { ...shared, ...observable };
    }
    if (accepted.length > 0) yield* links(attribute, shared, event);
  } catch (error) {
    yield rejectedBy(error, 'indicator', where);
  }
}

function sharedFields(attribute: Fields, tags: MispTags, event: EventContext) {
  const statedAt = parseUnixSeconds(field(attribute, 'timestamp'));
  const firstSeen = dateOf(attribute, 'first_seen') ?? event.date ?? statedAt;
  const lastSeen = dateOf(attribute, 'last_seen') ?? statedAt ?? firstSeen;
  const toIds = field(attribute, 'to_ids');
  return {
    kind: 'indicator' as const,
    externalIds: stixId('indicator', attribute),
    statedAt,
    tlp: tags.tlp ?? event.tlp,
    confidence: null,
    severity: event.severity,
    tags: tagsOf(tags.plain, tagsWithoutLink(tags.galaxy), event.tags),
    firstSeen,
    lastSeen: notBefore(firstSeen, lastSeen),
    expiresAt: null,
    forDetection: toIds === undefined || isTrue(toIds),
  };
}

/**
 * Yields the links from the report to the indicator, and from the indicator to what the event, or the
 * attribute alone, indicates.
 */
function* links(
  attribute: Fields,
  shared: Pick<IndicatorRecord, 'externalIds' | 'tlp' | 'statedAt'>,
  event: EventContext,
): Generator<ImportRecord> {
  const [id] = shared.externalIds;
  if (id === undefined) return;
  const own = clusterRecords(attribute, shared.tlp, shared.statedAt);
  yield* withReport(own, event.reportId);
  if (event.reportId !== null) yield relationshipRecord('refers-to', event.reportId, id, shared.tlp);
  for (const to of new Set([...event.indicated, ...indicatedIds(own)]))
    yield relationshipRecord('indicates', id, to, shared.tlp);
}
