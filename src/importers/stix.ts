import type { Tlp } from '../model/vocabulary.ts';
import {
  type Importer,
  type ImportInput,
  type ImportRecord,
  type RejectedRecord,
  UnreadableInput,
} from './importer.ts';
import { type JsonRecord, jsonShape, readJsonRecords } from './json-stream.ts';
import {
  type Fields,
  field,
  isObject,
  printable,
  rejectedBy,
  rejectedRecord,
  textOf,
} from './record-fields.ts';
import { type StixDefinitions, stixDefinitions } from './stix-definitions.ts';
import { STIX_LIMITS } from './stix-fields.ts';
import { readIndicator, readObservedData, readVulnerability } from './stix-indicator.ts';
import {
  readActor,
  readCampaign,
  readGrouping,
  readNote,
  readRelationship,
  readReport,
  readSoftware,
  readTechnique,
} from './stix-objects.ts';

type RecordResult = (ImportRecord | { rejected: string })[];

interface Reader {
  /** The kind that a broken object is counted as. */
  of: RejectedRecord['of'];
  /** @param authors empty unless `hasAuthors` */
  read(object: Fields, tlp: Tlp | null, authors: string[]): RecordResult;
  hasAuthors?: boolean;
}

/** The reader for each type. */
const READERS = new Map<string, Reader>([
  ['indicator', { of: 'indicator', read: readIndicator }],
  ['observed-data', { of: 'indicator', read: readObservedData }],
  ['vulnerability', { of: 'indicator', read: readVulnerability }],
  ['intrusion-set', { of: 'actor', read: readActor }],
  ['threat-actor', { of: 'actor', read: readActor }],
  ['campaign', { of: 'campaign', read: readCampaign }],
  ['attack-pattern', { of: 'technique', read: readTechnique }],
  ['malware', { of: 'software', read: readSoftware }],
  ['tool', { of: 'software', read: readSoftware }],
  ['report', { of: 'report', read: readReport, hasAuthors: true }],
  ['grouping', { of: 'report', read: readGrouping, hasAuthors: true }],
  ['note', { of: 'attribute', read: readNote }],
  ['relationship', { of: 'relationship', read: readRelationship }],
]);

/** Types that are silently ignored, as is every type that begins with `x-`. Any other type is rejected. */
const IGNORED_TYPES = new Set([
  // They describe other objects and are no records of their own.
  ...['marking-definition', 'extension-definition', 'language-content'],
  // Domain objects that Tipline does not store.
  ...['course-of-action', 'identity', 'incident', 'infrastructure', 'location', 'malware-analysis'],
  ...['opinion', 'sighting'],
  // Observables (SCO): seen somewhere, not stated to be malicious, unlike indicators.
  ...['artifact', 'autonomous-system', 'directory', 'domain-name', 'email-addr', 'email-message', 'file'],
  ...['ipv4-addr', 'ipv6-addr', 'mac-addr', 'mutex', 'network-traffic', 'process', 'software', 'url'],
  ...['user-account', 'windows-registry-key', 'x509-certificate'],
]);

/**
 * STIX 2.0 and 2.1: a bundle, a TAXII 2.1 envelope, an array of objects, or one object.
 * Objects are read one by one; memory does not grow with the file.
 */
export const stixImporter: Importer = {
  name: 'stix',
  label: 'STIX 2.0 or 2.1',

  recognizes(head) {
    const shape = jsonShape(head);
    if (shape === null) return false;
    const { root, keys } = shape;
    const hasStixId = /"id"\s*:\s*"[a-z0-9-]+--[0-9a-f-]{36}"/i.test(head);
    if (root !== 'object' || !keys.has('objects')) return keys.has('type') && hasStixId;
    // Other formats name their lists `objects`, too.
    const isEnvelope = ['type', 'spec_version', 'more', 'next'].some((key) => keys.has(key));
    return hasStixId || isEnvelope || /"objects"\s*:\s*\[\s*\]/.test(head);
  },

  async *read(input: ImportInput) {
    const definitions = stixDefinitions(input);
    for await (const part of readJsonRecords(input, STIX_LIMITS))
      for (const record of part) {
        if (record.number === 0 && isEnvelope(record)) continue;
        yield await readRecord(record, definitions);
      }
  },
};

/**
 * Returns whether this is the root object around a list, once the list is read.
 * @throws {UnreadableInput} if it is no STIX at all
 */
function isEnvelope({ value, rejected }: JsonRecord): boolean {
  if (rejected !== null || !isObject(value)) return false;
  if (Array.isArray(field(value, 'objects')) || field(value, 'type') === 'bundle') return true;
  if (Object.hasOwn(value, 'type')) return false;
  // A TAXII envelope without matches has no list.
  const isEmptyEnvelope = Object.keys(value).every((key) => key === 'more' || key === 'next');
  if (isEmptyEnvelope) return true;
  throw new UnreadableInput('not STIX: the root object has neither objects nor a type');
}

async function readRecord(record: JsonRecord, definitions: StixDefinitions): Promise<ImportRecord[]> {
  const object = record.value;
  const type = isObject(object) ? textOf(field(object, 'type')) : null;
  const reader = READERS.get(type ?? '');
  const reject = (reason: string) => rejectedRecord(reader?.of ?? 'indicator', reason, whereOf(record));
  if (record.rejected !== null) return [reject(record.rejected)];
  if (!isObject(object)) return [reject('not an object')];
  if (type === null) return [reject('no type')];
  definitions.add(object);
  if (reader === undefined) {
    const isIgnored = IGNORED_TYPES.has(type) || type.startsWith('x-');
    return isIgnored ? [] : [reject(`unknown object type: ${printable(type)}`)];
  }
  try {
    const tlp = await definitions.tlpOf(object);
    const authors = reader.hasAuthors ? await definitions.authorsOf(object, tlp) : [];
    const made = reader.read(object, tlp, authors);
    return made.map((item) => ('rejected' in item ? reject(item.rejected) : item));
  } catch (error) {
    return [rejectedBy(error, reader.of, whereOf(record))];
  }
}

function whereOf({ number, value }: JsonRecord): string {
  const id = isObject(value) ? textOf(field(value, 'id')) : null;
  const place = number === 0 ? 'the only object' : `object ${number}`;
  return id === null ? place : `${place} (${printable(id)})`;
}
