import { normalize } from '../model/normalize.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { csvImporter } from './csv.ts';
import { normalizeNamed } from './csv-types.ts';
import { type Importer, type ImportInput, type RecordParts, UnreadableInput } from './importer.ts';
import { type JsonFeed, type RecordResult, readJsonFeed } from './json-feed.ts';
import type { JsonLimits } from './json-pieces.ts';
import { jsonShape } from './json-stream.ts';
import { splitMarkings } from './markings.ts';
import { fileOf, inFile } from './one-file.ts';
import {
  addressType,
  type Fields,
  field,
  firstDateOf,
  indicatorRecord,
  isObject,
  printable,
  RecordRejected,
  tagsOf,
  textOf,
} from './record-fields.ts';
import { readHead } from './text-input.ts';

const CAPS = { maxBytes: 4 * 1024 * 1024, maxDepth: 32 };
/** The statuses with which abuse.ch reports an empty result. */
const EMPTY_ANSWERS = new Set(['no_result', 'no_results']);
/** Placeholders for an unknown family: no tags. */
const NO_FAMILY = new Set(['unknown', 'unknown malware', 'n/a', 'none']);

interface AbuseChFeed {
  name: string;
  label: string;
  /** The member of the API's response that holds the records. */
  list: string;
  /** Distinguishes its JSON from that of the other abuse.ch feeds. */
  recognizes(head: string): boolean;
  readRecord: JsonFeed['readRecord'];
}

/**
 * Returns the importer of a feed of abuse.ch: a response of its API (`{"query_status", LIST: […]}`), its
 * export (`{"ID": [{…}]}`, or a list), or its CSV, which is recognized by its column names like any other.
 */
function abuseChImporter({ name, label, list, recognizes, readRecord }: AbuseChFeed): Importer {
  return {
    name,
    label,
    recognizes: (head) => jsonShape(head) !== null && recognizes(head),
    async *read(input: ImportInput): RecordParts {
      const head = await readHead(input);
      const shape = jsonShape(head);
      if (shape === null) return yield* csvImporter().read(input);
      const isAnswer = shape.root === 'object' && (shape.keys.has('query_status') || shape.keys.has(list));
      if (!isAnswer && shape.root === 'object' && shape.keys.size > 0 && !recognizes(head))
        throw new UnreadableInput(`not ${name}: the root object is neither an answer nor an export of it`);
      const limits: JsonLimits = { ...CAPS, ...(isAnswer ? { lists: [list] } : { lists: [], path: [] }) };
      const checkRoot = (root: unknown) => checkAnswer(root, list);
      yield* readJsonFeed(input, { limits, of: 'indicator', readRecord, checkRoot });
    },
  };
}

/** Rejects a refusal: it is not an empty list, and existing members must not count as removed. */
function checkAnswer(root: unknown, list: string): void {
  const status = isObject(root) ? textOf(field(root, 'query_status')) : null;
  if (status !== null && EMPTY_ANSWERS.has(status)) return;
  if (status !== null && status !== 'ok')
    throw new UnreadableInput(`abuse.ch did not answer the query: ${printable(status)}`);
  if (!isObject(root) || !Array.isArray(field(root, list)))
    throw new UnreadableInput(`not an answer of abuse.ch: it has no list ${list}`);
}

/** Returns tags, which are a list or separated by commas, with a family or a threat as one more, and the TLP that they state. */
function abuseChTags(record: Fields, ...names: string[]): { tlp: Tlp | null; tags: string[] } {
  const stated = field(record, 'tags');
  const tags = typeof stated === 'string' ? stated.split(',') : stated;
  const words = names.map((name) => textOf(field(record, name)));
  const all = tagsOf(
    tags,
    words.filter((word) => word !== null),
  );
  return splitMarkings(
    null,
    all.filter((tag) => !NO_FAMILY.has(tag.toLowerCase())),
  );
}

/** Imports Feodo Tracker: the list `ipblocklist.json`, or its CSV. */
export const feodoImporter = abuseChImporter({
  name: 'feodo',
  label: 'abuse.ch Feodo Tracker',
  list: 'data',
  recognizes: (head) => /"ip_address"\s*:/.test(head) && /"last_online"\s*:/.test(head),
  readRecord: readFeodoRecord,
});

/** Ignores the host name: it is the provider's reverse DNS entry, not an indicator. */
function readFeodoRecord(record: Fields): RecordResult[] {
  const address = textOf(field(record, 'ip_address'));
  if (address === null) throw new RecordRejected('no value');
  const stated = {
    firstSeen: firstDateOf(record, 'first_seen'),
    lastSeen: firstDateOf(record, 'last_online'),
    ...abuseChTags(record, 'malware'),
  };
  return [indicatorRecord(normalize(addressType(address), address), stated)];
}

const HASHES = [
  ['sha256_hash', 'SHA256'],
  ['sha1_hash', 'SHA1'],
  ['md5_hash', 'MD5'],
] as const;

/** Imports MalwareBazaar: a response of its API (`get_recent`), or its CSV. */
export const malwareBazaarImporter = abuseChImporter({
  name: 'malwarebazaar',
  label: 'abuse.ch MalwareBazaar',
  list: 'data',
  recognizes: (head) => /"sha256_hash"\s*:/.test(head) && /"(sha3_384_hash|file_type_mime)"\s*:/.test(head),
  readRecord: readMalwareBazaarRecord,
});

/**
 * Returns an indicator for each hash of a sample. The name under which a sample was submitted does not identify it: many
 * are `file.exe`.
 */
function readMalwareBazaarRecord(record: Fields): RecordResult[] {
  const stated = {
    firstSeen: firstDateOf(record, 'first_seen'),
    lastSeen: firstDateOf(record, 'last_seen'),
    ...abuseChTags(record, 'signature'),
  };
  const made = HASHES.flatMap(([name, type]) => {
    const hash = textOf(field(record, name));
    return hash === null ? [] : [indicatorRecord(normalize(type, hash), stated)];
  });
  if (made.length === 0) throw new RecordRejected('no value');
  return inFile(made, fileOf(made));
}

/**
 * Imports ThreatFox: its JSON exports (`ioc_value`, dates in UTC), a response of its API (`ioc`), or its CSV.
 */
export const threatFoxImporter = abuseChImporter({
  name: 'threatfox',
  label: 'abuse.ch ThreatFox',
  list: 'data',
  recognizes: (head) =>
    (/"ioc_type"\s*:/.test(head) && /"ioc(_value)?"\s*:/.test(head)) ||
    // A refusal or an empty response does not identify its service.
    /^\s*\{\s*"query_status"\s*:\s*"(?!ok")/.test(head),
  readRecord: readThreatFoxRecord,
});

function readThreatFoxRecord(record: Fields): RecordResult[] {
  const value = textOf(field(record, 'ioc_value')) ?? textOf(field(record, 'ioc'));
  const type = textOf(field(record, 'ioc_type'));
  if (value === null) throw new RecordRejected('no value');
  if (type === null) throw new RecordRejected('no type');
  const stated = {
    confidence: confidenceOf(field(record, 'confidence_level')),
    firstSeen: firstDateOf(record, 'first_seen_utc', 'first_seen'),
    lastSeen: firstDateOf(record, 'last_seen_utc', 'last_seen'),
    ...abuseChTags(record, 'malware_printable', 'threat_type'),
  };
  return [indicatorRecord(normalizeNamed(type, value), stated)];
}

/** A number, or digits in old exports. */
function confidenceOf(value: unknown): number | null {
  if (value === undefined || value === null || value === '') return null;
  const level = typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value;
  if (typeof level === 'number' && Number.isInteger(level) && level >= 0 && level <= 100) return level;
  throw new RecordRejected('confidence not an integer from 0 to 100');
}

/**
 * Imports URLhaus: a response of `urls/recent` (`date_added`), its JSON exports (`dateadded`, `last_online`),
 * or its CSV.
 */
export const urlhausImporter = abuseChImporter({
  name: 'urlhaus',
  label: 'abuse.ch URLhaus',
  list: 'urls',
  recognizes: (head) => /"url_status"\s*:/.test(head) && /"(urlhaus_link|urlhaus_reference)"\s*:/.test(head),
  readRecord: readUrlhausRecord,
});

/** A URL that is offline now has served malware: it remains an indicator. */
function readUrlhausRecord(record: Fields): RecordResult[] {
  const url = textOf(field(record, 'url'));
  if (url === null) throw new RecordRejected('no value');
  const stated = {
    firstSeen: firstDateOf(record, 'dateadded', 'date_added'),
    lastSeen: firstDateOf(record, 'last_online'),
    ...abuseChTags(record, 'threat'),
  };
  return [indicatorRecord(normalize('URL', url), stated)];
}
