import type { Severity } from '../model/vocabulary.ts';
import { parseDate, parseUnixSeconds } from './dates.ts';
import type { ImportRecord, RejectedRecord, ReportRecord } from './importer.ts';
import { clusterRecords, indicatedIds, tagsWithoutLink, withReport } from './misp-clusters.ts';
import { type MispTags, mispTags, stixId, uuidOf } from './misp-fields.ts';
import { type EventContext, readAttribute } from './misp-indicator.ts';
import {
  dateOf,
  type Fields,
  field,
  isObject,
  isTrue,
  listOf,
  rejectedBy,
  requiredName,
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
  for (const { value, place } of attributes) yield* readAttribute(value, context, place);
}

function readReport(
  event: Fields,
  tags: MispTags,
  attributes: { value: unknown }[],
  where: string,
): ReportRecord | RejectedRecord {
  try {
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
      url: linkOf(attributes),
    };
  } catch (error) {
    return rejectedBy(error, 'report', where);
  }
}

function* allAttributes(event: Fields, where: string): Generator<{ value: unknown; place: string }> {
  yield* placed(field(event, 'Attribute'), `${where}, attribute`);
  const objects = listOf(field(event, 'Object')) ?? ['not a list'];
  for (const [index, object] of objects.entries()) {
    const place = `${where}, object ${index + 1}`;
    if (!isObject(object)) yield { value: object, place };
    else {
      const isDeleted = isTrue(field(object, 'deleted'));
      for (const item of placed(field(object, 'Attribute'), `${place} attribute`))
        yield isDeleted && isObject(item.value) ? { ...item, value: { ...item.value, deleted: true } } : item;
    }
  }
}

function* placed(list: unknown, where: string): Generator<{ value: unknown; place: string }> {
  for (const [index, value] of (listOf(list) ?? [list]).entries()) {
    const uuid = isObject(value) ? uuidOf(value) : null;
    yield { value, place: `${where} ${index + 1}${uuid === null ? '' : ` (${uuid})`}` };
  }
}

function linkOf(attributes: { value: unknown }[]): string | null {
  for (const { value } of attributes) {
    const url = isObject(value) && value.type === 'link' ? textOf(value.value) : null;
    if (url !== null && /^https?:\/\//i.test(url) && url.length <= 8192) return url;
  }
  return null;
}
