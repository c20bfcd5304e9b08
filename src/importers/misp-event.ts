import { compareTlp } from '../model/statement.ts';
import type { Severity, Tlp } from '../model/vocabulary.ts';
import { parseDate, parseUnixSeconds } from './dates.ts';
import type { AttributeRecord, ImportRecord, RejectedRecord, ReportRecord } from './importer.ts';
import { clusterRecords, indicatedIds, tagsWithoutLink, withReport } from './misp-clusters.ts';
import { type MispTags, mispObject, mispTags, stixId, uuidOf, withdrawalOf } from './misp-fields.ts';
import {
  type EventContext,
  fileOfAttributes,
  NO_OBJECT,
  type ParentObject,
  readAttribute,
} from './misp-indicator.ts';
import {
  attributeValue,
  dateOf,
  type Fields,
  field,
  httpLinks,
  isObject,
  isTrue,
  listOf,
  RecordRejected,
  rejectedBy,
  relationshipRecord,
  requiredName,
  shortTextOf,
  tagsOf,
  textOf,
} from './record-fields.ts';

/** MISP's threat levels; 4 is "undefined". */
const SEVERITY_BY_LEVEL = new Map<string, Severity>([
  ['1', 'HIGH'],
  ['2', 'MEDIUM'],
  ['3', 'LOW'],
]);

/**
 * Yields an event as a report, with the entities that it is about, its indicators, and the links between
 * them.
 */
export function* readEvent(event: Fields, where: string): Generator<ImportRecord> {
  let tags: MispTags;
  try {
    tags = mispTags(event);
  } catch (error) {
    // Without its tags the TLP of the event is unknown: all of it is rejected.
    yield rejectedBy(error, 'report', where);
    return;
  }
  const statedAt = parseUnixSeconds(field(event, 'timestamp'));
  const attributes = [...allAttributes(event, where)];
  const report = readReport(event, tags, attributes, where);
  yield report;
  const reportId = (report.kind === 'report' ? report.externalIds[0] : null) ?? null;
  const clusters = clusterRecords(event, tags.tlp, statedAt);
  yield* withReport(clusters, reportId);
  const context: EventContext = {
    reportId,
    date: parseDate(textOf(field(event, 'date')) ?? ''),
    severity: SEVERITY_BY_LEVEL.get(String(field(event, 'threat_level_id'))) ?? null,
    tlp: tags.tlp,
    tags: [...tags.plain, ...tagsWithoutLink(tags.galaxy)],
    indicated: indicatedIds(clusters),
  };
  for (const { value, place, parent } of attributes) yield* readAttribute(value, context, place, parent);
  for (const [index, text] of (listOf(field(event, 'EventReport')) ?? []).entries())
    yield* readText(text, context, `${where}, report ${index + 1}`);
}

/** Yields a text of the event (MISP's `EventReport`) as a note. */
function* readText(text: unknown, { reportId, tlp }: EventContext, where: string): Generator<ImportRecord> {
  try {
    const id = isObject(text) ? uuidOf(text) : null;
    if (!isObject(text) || id === null) throw new RecordRejected('no uuid');
    const own = mispTags(text).tlp ?? tlp;
    const note: AttributeRecord = {
      kind: 'attribute',
      ...withdrawalOf(text),
      externalIds: [`note--${id}`],
      statedAt: parseUnixSeconds(field(text, 'timestamp')),
      tlp: own,
      confidence: null,
      type: 'note',
      value: attributeValue(field(text, 'content')),
      name: shortTextOf(field(text, 'name')),
      description: null,
      category: null,
      forDetection: false,
      object: null,
      tags: [],
      expiresAt: null,
      killChainPhases: null,
    };
    yield note;
    if (reportId !== null && note.withdrawn === undefined)
      yield relationshipRecord('refers-to', reportId, `note--${id}`, own);
  } catch (error) {
    yield rejectedBy(error, 'attribute', where);
  }
}

function readReport(
  event: Fields,
  tags: MispTags,
  attributes: { value: unknown }[],
  where: string,
): ReportRecord | RejectedRecord {
  try {
    const links = linksOf(attributes, tags.tlp);
    const org = field(event, 'Orgc');
    return {
      kind: 'report',
      externalIds: stixId('report', event),
      statedAt: parseUnixSeconds(field(event, 'timestamp')),
      tlp: tags.tlp,
      confidence: null,
      title: requiredName(event, 'info'),
      description: null,
      publishedAt: dateOf(event, 'date'),
      tags: tags.plain,
      url: links[0] ?? null,
      authors: tagsOf([isObject(org) ? field(org, 'name') : null]),
      links,
    };
  } catch (error) {
    return rejectedBy(error, 'report', where);
  }
}

interface PlacedAttribute {
  value: unknown;
  place: string;
  parent: ParentObject;
}

function* allAttributes(event: Fields, where: string): Generator<PlacedAttribute> {
  yield* placed(field(event, 'Attribute'), `${where}, attribute`, NO_OBJECT);
  const objects = listOf(field(event, 'Object')) ?? ['not a list'];
  for (const [index, object] of objects.entries()) {
    const place = `${where}, object ${index + 1}`;
    if (!isObject(object)) yield { value: object, place, parent: NO_OBJECT };
    else {
      const isDeleted = isTrue(field(object, 'deleted'));
      const list = field(object, 'Attribute');
      const isFile = textOf(field(object, 'name')) === 'file';
      const file = isFile ? fileOfAttributes(listOf(list) ?? []) : null;
      const parts = placed(list, `${place} attribute`, { object: mispObject(object), file });
      for (const { value, ...item } of parts)
        yield {
          ...item,
          value: isDeleted && isObject(value) ? { ...value, deleted: true } : value,
        };
    }
  }
}

function* placed(list: unknown, where: string, parent: ParentObject): Generator<PlacedAttribute> {
  for (const [index, value] of (listOf(list) ?? [list]).entries()) {
    const uuid = isObject(value) ? uuidOf(value) : null;
    yield { value, place: `${where} ${index + 1}${uuid === null ? '' : ` (${uuid})`}`, parent };
  }
}

/** Returns the links of a report: those that its source has not deleted, and that all who may see the report may see. */
function linksOf(attributes: { value: unknown }[], tlp: Tlp | null): string[] {
  return httpLinks(
    attributes.map(({ value }) =>
      isObject(value) && value.type === 'link' && isForAudience(value, tlp) ? value.value : null,
    ),
  );
}

/** An event without a TLP has that of its source, which may be CLEAR. */
function isForAudience(attribute: Fields, tlp: Tlp | null): boolean {
  if (isTrue(field(attribute, 'deleted'))) return false;
  try {
    return compareTlp(mispTags(attribute).tlp ?? 'CLEAR', tlp ?? 'CLEAR') <= 0;
  } catch (error) {
    // Its TLP is unknown; `readAttribute` rejects it.
    if (error instanceof RecordRejected) return false;
    throw error;
  }
}
