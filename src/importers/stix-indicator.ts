import { normalize } from '../model/normalize.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { IndicatorRecord } from './importer.ts';
import { printable } from './printable.ts';
import { dateOf, type Fields, field, notBefore, RecordRejected, tagsOf, textOf } from './record-fields.ts';
import { tiplineProperties } from './stix-extension.ts';
import { commonFields, externalReferences, isRevoked } from './stix-fields.ts';
import { type Observable, observablesOf } from './stix-observables.ts';

/** Returns a record for each observable of the pattern, or the reason for its rejection. */
export function readIndicator(object: Fields, tlp: Tlp | null): (IndicatorRecord | { rejected: string })[] {
  if (isRevoked(object)) throw new RecordRejected('revoked by its source');
  // STIX 2.0 has no pattern_type: there every pattern is STIX.
  const patternType = textOf(field(object, 'pattern_type')) ?? 'stix';
  if (patternType.toLowerCase() !== 'stix')
    throw new RecordRejected(`pattern type not supported: ${printable(patternType)}`);
  const pattern = field(object, 'pattern');
  if (typeof pattern !== 'string' || pattern.trim() === '') throw new RecordRejected('no pattern');
  return toRecords(object, tlp, observablesOf(pattern));
}

/** A vulnerability whose name or reference is a CVE id is an observable of type CVE. */
export function readVulnerability(
  object: Fields,
  tlp: Tlp | null,
): (IndicatorRecord | { rejected: string })[] {
  if (isRevoked(object)) throw new RecordRejected('revoked by its source');
  const references = externalReferences(object)
    .filter((reference) => textOf(reference.source_name)?.toLowerCase() === 'cve')
    .map((reference) => reference.external_id);
  for (const candidate of [...references, field(object, 'name')]) {
    const cve = normalize('CVE', textOf(candidate) ?? '');
    if (!('rejected' in cve)) return toRecords(object, tlp, [cve]);
  }
  throw new RecordRejected('vulnerability without a CVE id');
}

function toRecords(object: Fields, tlp: Tlp | null, observables: Observable[]) {
  const ours = tiplineProperties(object);
  const common = commonFields(object, tlp);
  const modified = dateOf(object, 'modified');
  const firstSeen = ours?.firstSeen ?? dateOf(object, 'valid_from') ?? dateOf(object, 'created');
  const shared = {
    kind: 'indicator' as const,
    ...common,
    externalIds: [...new Set([...common.externalIds, ...(ours?.externalIds ?? [])])],
    severity: ours?.severity ?? null,
    tags: ours?.tags ?? tagsOf(field(object, 'labels'), field(object, 'indicator_types')),
    firstSeen,
    lastSeen: ours?.lastSeen ?? notBefore(firstSeen, modified ?? firstSeen),
    expiresAt: ours?.expiresAt ?? dateOf(object, 'valid_until'),
    forDetection: ours?.forDetection ?? true,
  };
  return observables.map((observable) =>
    'rejected' in observable ? observable : { ...shared, ...observable },
  );
}
