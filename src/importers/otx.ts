import { indicatorId, uuidv5 } from '../model/identity.ts';
import type { NormalizeResult } from '../model/normalize-address.ts';
import type { SourceRecord } from '../model/source-record.ts';
import { normalizeAs, normalizeNamed } from './csv-types.ts';
import {
  type Importer,
  type ImportRecord,
  type IndicatorRecord,
  type ReportRecord,
  UnreadableInput,
} from './importer.ts';
import { type RecordResult, readJsonFeed } from './json-feed.ts';
import type { JsonLimits } from './json-pieces.ts';
import { jsonShape } from './json-stream.ts';
import { splitMarkings, tlpOfWord } from './markings.ts';
import { adversaryOf, familiesOf, techniquesOf } from './otx-entities.ts';
import {
  ATTRIBUTE_NAMESPACE,
  attributeValue,
  dateOf,
  type Fields,
  field,
  httpLinks,
  idOf,
  indicatorRecord,
  isObject,
  isTrue,
  listOf,
  longTextOf,
  omitAbsent,
  printable,
  RecordRejected,
  recordTextOf,
  rejectedBy,
  rejectedRecord,
  relationshipRecord,
  requiredName,
  type StatedFields,
  shortTextOf,
  tagsOf,
  textOf,
} from './record-fields.ts';
import { readHead } from './text-input.ts';

/** A pulse is held in memory whole, because values that its indicators inherit may follow them. */
const CAPS = { maxBytes: 64 * 1024 * 1024, maxDepth: 32 };

/**
 * Imports OTX: a response of `pulses/subscribed` and its like (`{"results": […]}`), a list of pulses, or one
 * pulse.
 */
export const otxImporter: Importer = {
  name: 'otx',
  label: 'OTX pulses',

  recognizes(head) {
    const shape = jsonShape(head);
    if (shape === null) return false;
    // Members of the first pulse, with which a page begins.
    const hasPulse =
      /"(author_name|adversary|attack_ids|pulse_source)"\s*:/.test(head) && /"indicators"\s*:/.test(head);
    const isPage =
      shape.keys.has('results') && (shape.keys.has('next') || shape.keys.has('prefetch_pulse_ids'));
    return isPage || (hasPulse && (shape.keys.has('results') || shape.keys.has('indicators')));
  },

  async *read(input) {
    const shape = jsonShape(await readHead(input));
    const isPulse = shape?.root === 'object' && shape.keys.has('indicators') && !shape.keys.has('results');
    const lists = isPulse ? [] : ['results'];
    const limits: JsonLimits = { ...CAPS, lists };
    yield* readJsonFeed(input, {
      limits,
      of: 'report',
      readRecord: readPulse,
      rootIsRecord: isPulse,
      checkRoot,
    });
  },
};

/** A refusal is `{"detail": "Authentication required"}`. */
function checkRoot(root: unknown): void {
  if (isObject(root) && Array.isArray(field(root, 'results'))) return;
  const detail = isObject(root) ? textOf(field(root, 'detail')) : null;
  throw new UnreadableInput(
    detail === null ? 'not OTX: the root object has no list results' : `OTX refused: ${printable(detail)}`,
  );
}

/**
 * Yields a pulse as a report, with the entities that it is about, its indicators, and the links between them.
 */
function* readPulse(pulse: Fields): Generator<RecordResult> {
  const report = readReport(pulse);
  const [reportId = ''] = report.externalIds;
  yield report;
  const families = familiesOf(pulse, report);
  const actors = adversaryOf(pulse, report);
  for (const entity of [...actors, ...families, ...techniquesOf(pulse, report)]) {
    yield entity;
    const [id] = entity.externalIds;
    if (id !== undefined) yield relationshipRecord('refers-to', reportId, id, report.tlp);
  }
  // With several families, it is unknown which one an indicator belongs to.
  const indicated = [...actors, ...(families.length === 1 ? families : [])].flatMap(
    ({ externalIds: [id] }) => id ?? [],
  );
  const indicators = listOf(field(pulse, 'indicators'));
  if (indicators === null) throw new RecordRejected('indicators is not a list');
  for (const [index, indicator] of indicators.entries())
    yield* readIndicator(indicator, report, indicated, `pulse ${reportId}, indicator ${index + 1}`);
}

function readReport(pulse: Fields): ReportRecord {
  const id = idOf(pulse, 'id');
  if (id === null || id.length > 64) throw new RecordRejected('no id');
  const tlp = textOf(field(pulse, 'tlp')) ?? textOf(field(pulse, 'TLP'));
  const links = httpLinks(listOf(field(pulse, 'references')) ?? []);
  return {
    kind: 'report',
    externalIds: [`otx-pulse--${id}`],
    statedAt: dateOf(pulse, 'modified') ?? dateOf(pulse, 'created'),
    confidence: null,
    title: requiredName(pulse, 'name'),
    description: textOf(field(pulse, 'description')),
    publishedAt: dateOf(pulse, 'created'),
    url: links[0] ?? `https://otx.alienvault.com/pulse/${encodeURIComponent(id)}`,
    authors: tagsOf([field(pulse, 'author_name')]),
    links,
    ...splitMarkings(tlp === null ? null : tlpOfWord(tlp), tagsOf(field(pulse, 'tags'))),
  };
}

function* readIndicator(
  value: unknown,
  report: ReportRecord,
  indicated: string[],
  where: string,
): Generator<ImportRecord> {
  try {
    if (!isObject(value)) throw new RecordRejected('not an object');
    const made = indicatorRecord(observableOf(value), statedOf(value, report));
    if (!('rejected' in made)) yield* withLinks(made, value, report, indicated);
    else if (made.rejected.startsWith('unknown type')) yield* otherIndicator(value, report);
    else yield rejectedRecord('indicator', made.rejected, where);
  } catch (error) {
    yield rejectedBy(error, 'indicator', where);
  }
}

/**
 * Returns the fields of an indicator. One that OTX has deactivated is imported as not for detection, so that
 * its expiry takes effect and its history is kept. OTX gives indicators no dates of sighting except that of
 * their creation.
 */
function statedOf(indicator: Fields, report: ReportRecord): StatedFields {
  return {
    statedAt: report.statedAt,
    tlp: report.tlp,
    tags: report.tags,
    firstSeen: dateOf(indicator, 'created') ?? report.publishedAt,
    expiresAt: dateOf(indicator, 'expiration'),
    forDetection: isActive(indicator),
  };
}

function isActive(indicator: Fields): boolean {
  const stated = field(indicator, 'is_active');
  return stated === undefined || stated === null || isTrue(stated);
}

function recordsOf(
  indicator: Fields,
  { externalIds: [reportId], statedAt }: ReportRecord,
  id: string,
): SourceRecord[] {
  const name = shortTextOf(field(indicator, 'title'));
  const description = recordTextOf(field(indicator, 'description'));
  return [omitAbsent({ id, statedAt: statedAt?.toISOString(), reportId, name, description })];
}

/** Yields what OTX lists as an indicator and Tipline has no type for (`YARA`, `JA3`, …). */
function* otherIndicator(indicator: Fields, report: ReportRecord): Generator<ImportRecord> {
  const type = printable(textOf(field(indicator, 'type')) ?? '').toLowerCase();
  // OTX names a YARA rule by its hash, and has its text in `content`.
  const value = attributeValue(textOf(field(indicator, 'content')) ?? field(indicator, 'indicator'));
  const [reportId = ''] = report.externalIds;
  const id = `${reportId}--${uuidv5(`${type} ${value}`, ATTRIBUTE_NAMESPACE)}`;
  yield {
    kind: 'attribute',
    externalIds: [id],
    statedAt: report.statedAt,
    tlp: report.tlp,
    confidence: null,
    type,
    value,
    name: shortTextOf(field(indicator, 'title')),
    description: longTextOf(field(indicator, 'description')),
    category: null,
    forDetection: isActive(indicator),
    object: null,
    tags: [],
    expiresAt: dateOf(indicator, 'expiration'),
    killChainPhases: null,
  };
  yield relationshipRecord('refers-to', reportId, id, report.tlp);
}

/**
 * The external id is built from the pulse and the observable, because several pulses share OTX's own numbers.
 */
function* withLinks(
  indicator: IndicatorRecord,
  value: Fields,
  report: ReportRecord,
  indicated: string[],
): Generator<ImportRecord> {
  const {
    externalIds: [reportId = ''],
    tlp,
  } = report;
  const id = `${reportId}--${indicatorId(indicator.type, indicator.normalized)}`;
  yield { ...indicator, externalIds: [id], records: recordsOf(value, report, id) };
  yield relationshipRecord('refers-to', reportId, id, tlp);
  for (const to of indicated) yield relationshipRecord('indicates', id, to, tlp);
}

/**
 * Returns the observable of a pulse's indicator; a type that no indicator has (`YARA`, `JA3`, …) is rejected by its
 * name.
 */
function observableOf(indicator: Fields): NormalizeResult {
  const type = textOf(field(indicator, 'type'));
  const value = textOf(field(indicator, 'indicator'));
  if (type === null) throw new RecordRejected('no type');
  if (value === null) throw new RecordRejected('no value');
  // A network of either family.
  return type.toUpperCase() === 'CIDR' ? normalizeAs('address', value) : normalizeNamed(type, value);
}
