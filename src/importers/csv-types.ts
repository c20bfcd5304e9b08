import { normalizeDetected } from '../model/detect-type.ts';
import { normalize } from '../model/normalize.ts';
import type { NormalizeResult } from '../model/normalize-address.ts';
import { normalizeEach } from '../model/normalize-range.ts';
import { INDICATOR_TYPES, type IndicatorType, isFileHash, type Severity } from '../model/vocabulary.ts';
import type { CsvColumns, ValueColumn } from './csv-columns.ts';
import { isNoDate, parseDate, parseUnixSeconds, parseUsDate } from './dates.ts';
import type { IndicatorRecord } from './importer.ts';
import { splitMarkings, tlpOfWord } from './markings.ts';
import { fileOf, inFile } from './one-file.ts';
import {
  addressType,
  beforeBar,
  forDetectionOf,
  hostOfPair,
  indicatorRecord,
  isNegative,
  type Normalizer,
  normalizeHalves,
  printable,
  RecordRejected,
  type StatedFields,
  tagsOf,
} from './record-fields.ts';

type HashType = 'MD5' | 'SHA1' | 'SHA256';
export type Reading =
  | IndicatorType
  | `certificate:${HashType}`
  | 'address'
  | 'address:port'
  | 'domain:port'
  | 'key|value';

/** Words that files use for types, lower case without blanks, `_` and `-`. */
const READING_BY_WORD = new Map<string, Reading>([
  ...INDICATOR_TYPES.map((type): [string, Reading] => [wordKey(type), type]),
  ['ip', 'address'],
  ['ipaddress', 'address'],
  ['ipaddr', 'address'],
  ['ipsrc', 'address'],
  ['ipdst', 'address'],
  ['ipv4addr', 'IPV4'],
  ['ipv6addr', 'IPV6'],
  ['ip:port', 'address:port'],
  ['ipport', 'address:port'],
  ['ipv4:port', 'address:port'],
  ['ipv6:port', 'address:port'],
  ['ipdst|port', 'address:port'],
  ['ipsrc|port', 'address:port'],
  ['domainname', 'DOMAIN'],
  ['hostname', 'DOMAIN'],
  ['fqdn', 'DOMAIN'],
  ['domain:port', 'domain:port'],
  ['hostname:port', 'domain:port'],
  ['hostname|port', 'domain:port'],
  ['uri', 'URL'],
  ['md5hash', 'MD5'],
  ['filehashmd5', 'MD5'],
  ['sha1hash', 'SHA1'],
  ['filehashsha1', 'SHA1'],
  ['sha256hash', 'SHA256'],
  ['filehashsha256', 'SHA256'],
  ['x509fingerprintmd5', 'certificate:MD5'],
  ['x509fingerprintsha1', 'certificate:SHA1'],
  ['x509fingerprintsha256', 'certificate:SHA256'],
  ['sslcertfingerprint', 'certificate:SHA1'],
  ['emailaddress', 'EMAIL'],
  ['emailaddr', 'EMAIL'],
  ['emailsrc', 'EMAIL'],
  ['emaildst', 'EMAIL'],
  // ThreatFox's words for the two senders of a mail.
  ['envelopefrom', 'EMAIL'],
  ['bodyfrom', 'EMAIL'],
  ['vulnerability', 'CVE'],
  ['btc', 'BTC_ADDRESS'],
  ['bitcoin', 'BTC_ADDRESS'],
  ['bitcoinaddress', 'BTC_ADDRESS'],
  ['regkey', 'REGISTRY_KEY'],
  ['regkey|value', 'key|value'],
  ['registry', 'REGISTRY_KEY'],
  ['filepath', 'FILENAME'],
  ['file', 'FILENAME'],
  ['as', 'ASN'],
]);

/** MISP's words for values of two observables. */
const HALVES_BY_WORD = new Map<string, readonly [Reading, Reading]>([
  ['domain|ip', ['DOMAIN', 'address']],
  ['filename|md5', ['FILENAME', 'MD5']],
  ['filename|sha1', ['FILENAME', 'SHA1']],
  ['filename|sha256', ['FILENAME', 'SHA256']],
  ['malwaresample', ['FILENAME', 'MD5']],
]);

function wordKey(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '');
}

export function isTypeWord(word: string): boolean {
  return READING_BY_WORD.has(wordKey(word));
}

/** Normalizes a value whose type the file names in a word, as in `sha256_hash` or `IPV4:PORT`. */
export function normalizeNamed(word: string, value: string): NormalizeResult {
  const reading = READING_BY_WORD.get(wordKey(word));
  if (reading === undefined) return { rejected: `unknown type: ${printable(word.toLowerCase())}` };
  return normalizeAs(reading, value);
}

export function normalizeAs(reading: Reading, value: string): NormalizeResult {
  if (reading === 'address') return normalize(addressType(value), value);
  if (reading === 'domain:port') return normalize('DOMAIN', hostOfPair(value));
  // No indicator type can hold the data of a registry value.
  if (reading === 'key|value') return normalize('REGISTRY_KEY', beforeBar(value));
  if (reading === 'address:port') {
    const host = hostOfPair(value);
    return normalize(addressType(host), host);
  }
  if (reading.startsWith('certificate:'))
    return certificateHash(reading.slice('certificate:'.length) as HashType, value);
  return normalize(reading as IndicatorType, value);
}

/** Normalizes the fingerprint of a certificate, with or without colons between its bytes. */
export function certificateHash(type: HashType, value: string) {
  const normalized = normalize(type, value.replaceAll(':', ''));
  return 'rejected' in normalized ? normalized : { ...normalized, ofCertificate: true };
}

const NULL_WORDS = new Set(['', 'none', 'null', 'n/a', '-']);
const LONGEST_NULL_WORD = Math.max(...[...NULL_WORDS].map((word) => word.length));
/** Placeholders for an unknown family: no tags. */
const NO_FAMILY = new Set(['unknown', 'unknown malware']);

export const SEVERITY_BY_WORD: ReadonlyMap<string, Severity> = new Map<string, Severity>([
  ['info', 'INFO'],
  ['informational', 'INFO'],
  ['low', 'LOW'],
  ['medium', 'MEDIUM'],
  ['moderate', 'MEDIUM'],
  ['high', 'HIGH'],
  ['critical', 'CRITICAL'],
  ['very high', 'CRITICAL'],
]);

/**
 * Returns a record for each value of a row, or the reason for its rejection.
 * @throws {RecordRejected} if the row as a whole cannot be used
 */
export function readRow(cells: string[], columns: CsvColumns): (IndicatorRecord | { rejected: string })[] {
  const shared = sharedFields(cells, columns);
  const typeWord = cellOf(cells, columns.type);
  const read = columns.values.map((column) => ({
    column,
    observables: observablesOf(cellOf(cells, column.index), column, typeWord),
  }));
  // Only columns that are named by an algorithm state hashes of one file.
  const ofFile = read.filter(({ column }) => isFileHash(column.type));
  const file = fileOf(ofFile.flatMap(({ observables }) => observables));
  const results = read.flatMap(({ column, observables }) =>
    inFile(observables, isFileHash(column.type) ? file : null),
  );
  if (results.length === 0) throw new RecordRejected('no value');
  return results.map((result) => indicatorRecord(result, shared));
}

function observablesOf(
  value: string | null,
  column: ValueColumn,
  typeWord: string | null,
): NormalizeResult[] {
  const word = column.hasTypeColumn ? typeWord : null;
  if (value === null) return [];
  const halves = column.type === null && word !== null ? HALVES_BY_WORD.get(wordKey(word)) : undefined;
  if (halves === undefined) return normalizeEach(value, (one) => normalizeCell(column, one, word));
  const [first, second] = halves.map((type) => (half: string) => normalizeCell({ type }, half, null));
  return normalizeHalves(value, first as Normalizer, second as Normalizer);
}

/** Stands for bytes that are not UTF-8. */
const INVALID = '\ufffd';
const NOT_UTF8 = { rejected: 'not valid UTF-8' };

function normalizeCell(
  column: { type: Reading | null },
  value: string,
  typeWord: string | null,
): NormalizeResult {
  if (value.includes(INVALID)) return NOT_UTF8;
  if (column.type !== null) return normalizeAs(column.type, value);
  return typeWord === null ? normalizeDetected(value) : normalizeNamed(typeWord, value);
}

function sharedFields(cells: string[], columns: CsvColumns): StatedFields {
  const tlp = cellOf(cells, columns.tlp);
  return {
    confidence: confidenceCell(cells, columns.confidence),
    severity: severityCell(cells, columns.severity),
    firstSeen: dateCell(cells, columns.firstSeen, columns),
    lastSeen: dateCell(cells, columns.lastSeen, columns),
    expiresAt: dateCell(cells, columns.expiresAt, columns),
    forDetection:
      forDetectionOf(cellOf(cells, columns.forDetection)) && !isNegative(cellOf(cells, columns.active)),
    ...splitMarkings(tlp === null ? null : tlpOfWord(tlp), tagCells(cells, columns)),
  };
}

function cellOf(cells: string[], index: number): string | null {
  const cell = cells[index]?.trim() ?? '';
  return cell.length <= LONGEST_NULL_WORD && NULL_WORDS.has(cell.toLowerCase()) ? null : cell;
}

/** Since 1973: fewer digits could be a day or a year. */
const UNIX_SECONDS = /^\d{9,10}$/;

function dateCell(cells: string[], index: number, columns: CsvColumns): Date | null {
  const cell = cellOf(cells, index);
  if (cell === null || isNoDate(cell)) return null;
  const date =
    parseDate(cell) ?? parseUsDate(cell) ?? (UNIX_SECONDS.test(cell) ? parseUnixSeconds(cell) : null);
  if (date === null) throw new RecordRejected(`date not readable: ${printable(columns.names[index] ?? '')}`);
  return date;
}

function confidenceCell(cells: string[], index: number): number | null {
  const cell = cellOf(cells, index);
  if (cell === null) return null;
  if (/^\d{1,3}$/.test(cell) && Number(cell) <= 100) return Number(cell);
  throw new RecordRejected('confidence not an integer from 0 to 100');
}

function severityCell(cells: string[], index: number): Severity | null {
  const cell = cellOf(cells, index);
  if (cell === null) return null;
  const severity = SEVERITY_BY_WORD.get(cell.toLowerCase());
  if (severity === undefined) throw new RecordRejected('severity not known');
  return severity;
}

function tagCells(cells: string[], columns: CsvColumns): string[] {
  const lists = columns.tagLists.map((index) => cellOf(cells, index)?.split(/[,;]|\s#/) ?? []);
  const words = columns.tagWords
    .flatMap((index) => cellOf(cells, index) ?? [])
    .filter((word) => !NO_FAMILY.has(word.toLowerCase()));
  const tags = [...lists.flat(), ...words].map((tag) => tag.trim().replace(/^#/, ''));
  if (tags.some((tag) => tag.includes(INVALID))) throw new RecordRejected(NOT_UTF8.rejected);
  return tagsOf(tags.filter((tag) => !NULL_WORDS.has(tag.toLowerCase())));
}
