import { normalize } from '../model/normalize.ts';
import type { NormalizedIndicator } from '../model/normalize-address.ts';
import { type SourceRecord, STIX_PATTERN } from '../model/source-record.ts';
import type { IndicatorType, Tlp } from '../model/vocabulary.ts';
import type { AttributeRecord, IndicatorRecord } from './importer.ts';
import { fileOf, inFile } from './one-file.ts';
import {
  attributeValue,
  dateOf,
  type Fields,
  field,
  firstDateOf,
  hostType,
  indicatorRecord,
  isAttributeType,
  longTextOf,
  printable,
  RecordRejected,
  type StatedFields,
  shortTextOf,
  tagsOf,
  textOf,
} from './record-fields.ts';
import {
  commonFields,
  externalReferences,
  isOfTipline,
  isRevoked,
  killChainPhasesOf,
  labelsOf,
  observedValue,
  REVOKED,
  sourceRecords,
  tiplineAttribute,
  tiplineProperties,
  withdrawalOf,
} from './stix-fields.ts';
import { type Pattern, type PatternTest, type PatternValue, parsePattern } from './stix-pattern.ts';

/**
 * Returns a record for each observable of the pattern, or the reason for its rejection. A pattern in another language,
 * or one that compares nothing that an indicator can be, is an attribute. Any other pattern is not: its text would
 * disclose the value of an indicator that is hidden.
 */
export function readIndicator(
  object: Fields,
  tlp: Tlp | null,
): (IndicatorRecord | AttributeRecord | { rejected: string })[] {
  // STIX 2.0 has no pattern_type: there every pattern is STIX.
  const patternType = textOf(field(object, 'pattern_type')) ?? 'stix';
  const pattern = field(object, 'pattern');
  if (typeof pattern !== 'string' || pattern.trim() === '') throw new RecordRejected('no pattern');
  const parsed = patternType.toLowerCase() === 'stix' ? parsePattern(pattern) : null;
  const isIndicator = parsed !== null && comparesObservable(parsed);
  if (patternType.toLowerCase() !== 'stix') return [patternRecord(object, tlp, patternType, pattern)];
  if (parsed !== null && !isIndicator) return [patternRecord(object, tlp, 'stix', pattern)];
  const observables = observablesOf(parsed);
  const isShared = observables.filter((observable) => !('rejected' in observable)).length > 1;
  return toRecords(object, tlp, observables, { ...directionOf(pattern), ...(isShared && { isShared }) });
}

/** Where the pattern says so: `network-traffic:src_ref.value`. */
function directionOf(pattern: string): Pick<SourceRecord, 'direction'> {
  const isSource = pattern.includes('network-traffic:src_ref');
  const isDestination = pattern.includes('network-traffic:dst_ref');
  if (isSource === isDestination) return {};
  return { direction: isSource ? 'source' : 'destination' };
}

function patternRecord(object: Fields, tlp: Tlp | null, language: string, pattern: string): AttributeRecord {
  if (!isAttributeType(language))
    throw new RecordRejected(`pattern type not supported: ${printable(language)}`);
  return {
    kind: 'attribute',
    ...commonFields(object, tlp),
    ...withdrawalOf(object),
    type: language.toLowerCase() === 'stix' ? STIX_PATTERN : language.toLowerCase(),
    value: attributeValue(pattern),
    name: shortTextOf(field(object, 'name')),
    description: longTextOf(field(object, 'description')),
    category: null,
    forDetection: true,
    object: null,
    tags: labelsOf(object, field(object, 'indicator_types')),
    expiresAt: dateOf(object, 'valid_until'),
    killChainPhases: killChainPhasesOf(object),
    ...tiplineAttribute(object),
  };
}

/** A vulnerability whose name or reference is a CVE id is an observable of type CVE. */
export function readVulnerability(
  object: Fields,
  tlp: Tlp | null,
): (IndicatorRecord | { rejected: string })[] {
  const references = externalReferences(object)
    .filter((reference) => textOf(reference.source_name)?.toLowerCase() === 'cve')
    .map((reference) => reference.external_id);
  for (const candidate of [...references, field(object, 'name')]) {
    const cve = normalize('CVE', textOf(candidate) ?? '');
    if (!('rejected' in cve)) return toRecords(object, tlp, [cve]);
  }
  throw new RecordRejected('vulnerability without a CVE id');
}

/**
 * Observed data of Tipline: an indicator that is not for detection, whose value is in the extension. That of others
 * is not read: it has been seen somewhere, and is not stated to be of interest.
 */
export function readObservedData(
  object: Fields,
  tlp: Tlp | null,
): (IndicatorRecord | { rejected: string })[] {
  const observed = observedValue(object);
  if (observed === null) return [];
  const { type, value, ofCertificate } = observed;
  const normalized = normalize(type, value);
  return toRecords(object, tlp, [
    ofCertificate && !('rejected' in normalized) ? { ...normalized, ofCertificate } : normalized,
  ]);
}

function toRecords(object: Fields, tlp: Tlp | null, observables: Observable[], more: SourceRecord = {}) {
  const ours = tiplineProperties(object);
  const { externalIds, statedAt, confidence } = commonFields(object, tlp);
  const firstSeen = ours?.firstSeen ?? firstDateOf(object, 'valid_from', 'first_observed', 'created');
  const stated: StatedFields = {
    externalIds: [...new Set([...externalIds, ...(ours?.externalIds ?? [])])],
    statedAt,
    tlp,
    confidence,
    severity: ours?.severity ?? null,
    tags: ours?.tags ?? labelsOf(object, field(object, 'indicator_types')),
    firstSeen,
    lastSeen: ours?.lastSeen ?? dateOf(object, 'modified') ?? firstSeen,
    expiresAt: ours?.expiresAt ?? dateOf(object, 'valid_until'),
    forDetection: ours?.forDetection ?? !isBenign(object),
  };
  const records = sourceRecords(object, more);
  return observables.map((observable) => {
    const made = indicatorRecord(observable, stated);
    if ('rejected' in made) return isRevoked(object) ? { rejected: REVOKED } : made;
    made.records = records.map((record) => withoutValue(record, made));
    if (isRevoked(object)) {
      made.withdrawn = REVOKED;
      if (isOfTipline(object)) made.isCompleteStatement = true;
    }
    return made;
  });
}

/** The types of what is malicious, or may be (STIX 2.1, indicator-type-ov). */
const MALICIOUS = ['malicious-activity', 'anomalous-activity', 'compromised', 'attribution'];

/** Whether an indicator shows what is not malicious in itself, and nothing else. STIX 2.0 has the types in `labels`. */
function isBenign(object: Fields): boolean {
  const types = tagsOf(field(object, 'indicator_types') ?? field(object, 'labels')).map((type) =>
    type.toLowerCase(),
  );
  return types.includes('benign') && !types.some((type) => MALICIOUS.includes(type));
}

/** Many producers name an indicator by its value. */
function withoutValue(
  { name, ...record }: SourceRecord,
  { value, normalized }: NormalizedIndicator,
): SourceRecord {
  return name === undefined || name === value || name === normalized ? record : { ...record, name };
}

export type Observable =
  | (NormalizedIndicator & { ofCertificate?: boolean; file?: string })
  | { rejected: string };

/** Object paths that name an observable, with list indexes left out and in lower case. */
const TYPE_BY_PATH = new Map<string, IndicatorType | ((value: string) => IndicatorType)>([
  ['ipv4-addr:value', 'IPV4'],
  ['ipv6-addr:value', 'IPV6'],
  ['domain-name:value', 'DOMAIN'],
  ['url:value', 'URL'],
  ['file:name', 'FILENAME'],
  // Not in the standard, but mobile verification toolkits write it for a file's path.
  ['file:path', 'FILENAME'],
  ['email-addr:value', 'EMAIL'],
  ['email-message:from_ref.value', 'EMAIL'],
  ['email-message:sender_ref.value', 'EMAIL'],
  ['windows-registry-key:key', 'REGISTRY_KEY'],
  ['mutex:name', 'MUTEX'],
  ['autonomous-system:number', 'ASN'],
  ['network-traffic:src_ref.value', hostType],
  ['network-traffic:dst_ref.value', hostType],
  ['network-traffic:extensions.http-request-ext.request_header.user-agent', 'USER_AGENT'],
  ['vulnerability:name', 'CVE'],
  // Custom objects in wide use.
  ['hostname:value', 'DOMAIN'],
  ['user-agent:value', 'USER_AGENT'],
  ['cryptocurrency-wallet:value', 'BTC_ADDRESS'],
  ['cryptocurrency-wallet:address', 'BTC_ADDRESS'],
  ['x-cryptocurrency:address', 'BTC_ADDRESS'],
  ['bitcoin:address', 'BTC_ADDRESS'],
  ['bitcoin-address:value', 'BTC_ADDRESS'],
]);

const TYPE_BY_HASH = new Map<string, IndicatorType>([
  ['md5', 'MD5'],
  ['sha1', 'SHA1'],
  ['sha256', 'SHA256'],
]);

/** Whether a part of the pattern compares a property whose values are indicators, in whatever way. */
function comparesObservable(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case 'test':
      return typeof typeOfPath(pattern.test) !== 'object';
    case 'qualified':
      return comparesObservable(pattern.of);
    default:
      return pattern.parts.some(comparesObservable);
  }
}

/**
 * Returns every observable that a STIX pattern names, normalized or with the reason for its rejection. At
 * least one.
 * @param pattern null: it is not readable
 */
export function observablesOf(pattern: Pattern | null): Observable[] {
  return pattern === null ? [{ rejected: 'pattern not readable' }] : collect(pattern);
}

function collect(pattern: Pattern): Observable[] {
  switch (pattern.kind) {
    case 'OR':
      return pattern.parts.flatMap(collect);
    case 'all':
      return collectAll(pattern.parts);
    case 'AND':
    case 'FOLLOWEDBY':
      // Each half alone would match far more than its author meant.
      return [{ rejected: `${pattern.kind} across observables` }];
    case 'qualified':
      // One sighting is always within any span; but "five times" and "in that week" are not "once, ever".
      if (pattern.qualifier === 'WITHIN') return collect(pattern.of);
      return [{ rejected: `qualifier not supported: ${pattern.qualifier}` }];
    case 'test':
      return collectTest(pattern.test);
  }
}

function collectAll(parts: readonly Pattern[]): Observable[] {
  const tests = parts.flatMap((part) => (part.kind === 'test' ? [part.test] : []));
  const byPath = new Map(tests.map((test) => [pathOf(test.object, test.path), test]));
  const [first, ...others] = parts.filter((part) => !isTypeOfValue(part, byPath));
  if (first !== undefined && others.length === 0) return collect(first);
  return collectFile(parts) ?? [{ rejected: 'AND across observables' }];
}

const TYPE_BY_OBJECT = new Map<string, IndicatorType>([
  ['ipv4-addr', 'IPV4'],
  ['ipv6-addr', 'IPV6'],
  ['domain-name', 'DOMAIN'],
]);

const pathOf = (object: string, path: readonly string[]) => `${object}:${path.join('.')}`;

/** Whether a part only names the type of a value that another one compares: `dst_ref.type = 'ipv4-addr' AND dst_ref.value = '…'`. */
function isTypeOfValue(part: Pattern, byPath: ReadonlyMap<string, PatternTest>): boolean {
  if (part.kind !== 'test' || part.test.operator !== '=' || part.test.path.at(-1) !== 'type') return false;
  const { object, path, values } = part.test;
  const compared = byPath.get(pathOf(object, [...path.slice(0, -1), 'value']));
  const [word, ...more] = values;
  if (compared?.operator !== '=' || more.length > 0 || word?.kind !== 'string') return false;
  const type = TYPE_BY_OBJECT.get(word.text);
  return collectTest(compared).every((observable) => 'type' in observable && observable.type === type);
}

/**
 * Returns the hashes of the one file that all of these comparisons are about: each alone identifies it. Null: they compare
 * anything else, or two hashes of one algorithm.
 */
function collectFile(parts: readonly Pattern[]): Observable[] | null {
  const tests = parts.flatMap((part) =>
    part.kind === 'test' && isFileHashTest(part.test) ? [part.test] : [],
  );
  const algorithms = new Set(tests.map(({ path }) => algorithmOf(path[1] ?? '')));
  if (algorithms.size < parts.length) return null;
  const observables = tests.flatMap(collectTest);
  return inFile(observables, fileOf(observables));
}

const isFileHashTest = ({ object, path, operator }: PatternTest) =>
  object === 'file' && path[0] === 'hashes' && path.length === 2 && operator === '=';

/** `SHA-256`, `sha256` and `SHA_256` are one algorithm. */
const algorithmOf = (name: string) => name.toLowerCase().replace(/[-_]/g, '');

function collectTest(test: PatternTest): Observable[] {
  const type = typeOfPath(test);
  if (typeof type === 'object') return [type];
  // A CIDR block: its addresses are a subset of it.
  const isBlock = test.operator === 'ISSUBSET' && (type === 'IPV4' || type === 'IPV6' || type === hostType);
  if (test.operator !== '=' && test.operator !== 'IN' && !isBlock)
    return [{ rejected: `operator not supported: ${test.operator}` }];
  const isOfCertificate = test.object === 'x509-certificate';
  return test.values.map((value) => {
    const observable = toObservable(type, value);
    return isOfCertificate && !('rejected' in observable)
      ? { ...observable, ofCertificate: true }
      : observable;
  });
}

function typeOfPath({ object, path }: PatternTest) {
  const [first = '', second = ''] = path;
  if ((object === 'file' || object === 'x509-certificate') && first === 'hashes' && path.length === 2) {
    const type = TYPE_BY_HASH.get(algorithmOf(second));
    return type ?? { rejected: `hash type not supported: ${printable(second)}` };
  }
  const name = `${object}:${path.join('.')}`;
  return TYPE_BY_PATH.get(name.toLowerCase()) ?? { rejected: `unknown type: ${printable(name)}` };
}

function toObservable(
  type: IndicatorType | ((value: string) => IndicatorType),
  value: PatternValue,
): Observable {
  if (type === 'ASN' && value.kind === 'number') return normalize('ASN', `AS${value.text}`);
  if (value.kind !== 'string') return { rejected: 'value is not text' };
  return normalize(typeof type === 'function' ? type(value.text) : type, value.text);
}
