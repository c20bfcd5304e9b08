import { uuidv5 } from '../../model/identity.ts';
import type { IndicatorType } from '../../model/vocabulary.ts';
import type { ExportIndicator } from '../format.ts';
import {
  externalReferences,
  indicatorObjectId,
  objectMarkings,
  omitEmpty,
  originOf,
  propertiesOf,
  type StixObject,
} from './common.ts';

/** STIX 2.1 §2.9: the namespace of the ids of observables. */
const OBSERVABLE_NAMESPACE = '00abedb4-aa42-466c-9c01-fed23315a9b7';

/**
 * Returns the objects of an indicator that is not for detection: observed data and the observable (SCO) that it
 * refers to. Every consumer detects what an `indicator` names; none detects observed data.
 */
export function observedData(row: ExportIndicator): [StixObject, StixObject] {
  const observable = observableOf(row);
  const id = indicatorObjectId(row);
  const { created_by_ref, created, modified } = originOf(row, id);
  const { firstSeen, lastSeen } = row;
  const observation = {
    type: 'observed-data',
    spec_version: '2.1',
    id,
    created_by_ref,
    created,
    modified,
    first_observed: firstSeen.toISOString(),
    // §4.14: not before `first_observed`.
    last_observed: (lastSeen < firstSeen ? firstSeen : lastSeen).toISOString(),
    number_observed: 1,
    object_refs: [observable.id],
    confidence: row.confidence,
    labels: omitEmpty(row.tags),
    external_references: omitEmpty(externalReferences(row.externalIds, id)),
    ...objectMarkings(row.tlp),
    extensions: propertiesOf(row, { value: row.value, expires_at: row.expiresAt?.toISOString() }),
  };
  return [observation, observable];
}

/** Returns the observable of a value, under the id that every producer gives it (§2.9). */
function observableOf(row: ExportIndicator): StixObject {
  const { type, identifying, more } = contentOf(row);
  return {
    type,
    spec_version: '2.1',
    id: idOf(type, identifying),
    ...identifying,
    ...more,
    ...objectMarkings(row.tlp),
  };
}

type Observed = Pick<ExportIndicator, 'type' | 'value' | 'ofCertificate'>;

/** Returns the id of the observable of a value. */
export function observableId(row: Observed): string {
  const { type, identifying } = contentOf(row);
  return idOf(type, identifying);
}

/** Returns the types of observables that a type of indicator may have. */
export function observableTypes(type: IndicatorType): string[] {
  return [false, true].map((ofCertificate) => contentOf({ type, value: '', ofCertificate }).type);
}

/** One property, so that JSON.stringify writes its canonical form (RFC 8785). */
const idOf = (type: string, identifying: Content['identifying']) =>
  `${type}--${uuidv5(JSON.stringify(identifying), OBSERVABLE_NAMESPACE)}`;

interface Content {
  type: string;
  /** The properties from which the id derives. */
  identifying: Record<string, unknown>;
  more?: Record<string, unknown>;
}

function contentOf({ type, value, ofCertificate }: Observed): Content {
  const hashed = ofCertificate ? 'x509-certificate' : 'file';
  switch (type) {
    case 'IPV4':
      return { type: 'ipv4-addr', identifying: { value } };
    case 'IPV6':
      return { type: 'ipv6-addr', identifying: { value } };
    case 'DOMAIN':
      return { type: 'domain-name', identifying: { value } };
    case 'URL':
      return { type: 'url', identifying: { value } };
    case 'EMAIL':
      return { type: 'email-addr', identifying: { value } };
    case 'MD5':
      return { type: hashed, identifying: { hashes: { MD5: value } } };
    case 'SHA1':
      return { type: hashed, identifying: { hashes: { 'SHA-1': value } } };
    case 'SHA256':
      return { type: hashed, identifying: { hashes: { 'SHA-256': value } } };
    case 'FILENAME':
      return { type: 'file', identifying: { name: value } };
    case 'REGISTRY_KEY':
      return { type: 'windows-registry-key', identifying: { key: value } };
    case 'MUTEX':
      return { type: 'mutex', identifying: { name: value } };
    case 'ASN':
      return { type: 'autonomous-system', identifying: { number: Number(value.slice('AS'.length)) } };
    case 'USER_AGENT':
    case 'BTC_ADDRESS':
    case 'CVE':
      // STIX has no observable for these; network traffic needs an address besides the user agent (§6.12).
      return {
        type: 'artifact',
        identifying: { payload_bin: Buffer.from(value).toString('base64') },
        more: { mime_type: 'text/plain' },
      };
  }
}
