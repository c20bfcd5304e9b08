import { ATTACK_PREFIX, TIPLINE_EXTENSION, TIPLINE_IDENTITY_ID } from '../model/identity.ts';
import {
  type KillChainPhase,
  MAX_RECORDS,
  type MispObject,
  type SourceRecord,
} from '../model/source-record.ts';
import {
  INDICATOR_TYPES,
  type IndicatorType,
  type Motivation,
  SEVERITIES,
  type Severity,
  type Sophistication,
  type Tlp,
} from '../model/vocabulary.ts';
import type { AttributeRecord, ReportRecord } from './importer.ts';
import type { JsonLimits } from './json-pieces.ts';
import { splitMarkings } from './markings.ts';
import {
  confidenceOf,
  dateOf,
  type Fields,
  field,
  idOf,
  isAttributeType,
  isObject,
  isTrue,
  isUuid,
  listOf,
  longTextOf,
  MAX_ID,
  omitAbsent,
  RecordRejected,
  recordTextOf,
  recordValueOf,
  shortTextOf,
  tagsOf,
  textOf,
} from './record-fields.ts';

/** Returns the fields of every record that is made from a STIX object. */
export function commonFields(object: Fields, tlp: Tlp | null) {
  const id = idOf(object, 'id');
  return {
    externalIds: id === null ? [] : [id],
    statedAt: dateOf(object, 'modified') ?? dateOf(object, 'created'),
    tlp,
    confidence: confidenceOf(object),
  };
}

/** The maximum number of kill-chain phases of an object. */
const MAX_PHASES = 100;

/** The creator of ATT&CK's objects. */
const MITRE = 'identity--c78cb6e5-0c4b-4611-8297-d1b8b55e40b5';

/** The same for an entity. MITRE's own objects get a second external id, `attack:` and the first. */
export function entityFields(object: Fields, tlp: Tlp | null) {
  const common = commonFields(object, tlp);
  const isMitre = textOf(field(object, 'created_by_ref')) === MITRE;
  const attack = isMitre ? common.externalIds.map((id) => `${ATTACK_PREFIX}${id}`) : [];
  return { ...common, externalIds: [...common.externalIds, ...attack] };
}

/** The reason of the rejection of a revoked object whose source has not stated it. */
export const REVOKED = 'revoked by its source';

/** Returns the member of the record of an object by which it is withdrawn; none unless it is revoked. */
export function withdrawalOf(object: Fields): { withdrawn?: string } {
  return isRevoked(object) ? { withdrawn: REVOKED } : {};
}

export function isRevoked(object: Fields): boolean {
  return isTrue(field(object, 'revoked'));
}

/** Revoked, or deprecated in the way of ATT&CK. */
export function isRetired(object: Fields): boolean {
  return isRevoked(object) || isTrue(field(object, 'x_mitre_deprecated'));
}

export function externalReferences(object: Fields): Fields[] {
  return (listOf(field(object, 'external_references')) ?? []).filter(isObject);
}

/** Returns the object's ATT&CK id (`G0016`, `T1059.001`, `S0154`) if it has the given form, else null. */
export function attackId(object: Fields, form: RegExp): string | null {
  for (const reference of externalReferences(object)) {
    const id = textOf(reference.external_id)?.toUpperCase() ?? '';
    const isAttack = /^mitre(-ics|-mobile)?-attack$/.test(textOf(reference.source_name)?.toLowerCase() ?? '');
    if (isAttack && form.test(id)) return id;
  }
  return null;
}

/** The catalogues under which Tipline's export names the external ids of an indicator. */
const CATALOGUES = new Set(['stix', 'misp-galaxy', 'tipline']);

/** The properties of an indicator, of observed data or of a vulnerability in Tipline's extension of STIX. Null: not stated. */
export interface TiplineProperties {
  severity: Severity | null;
  firstSeen: Date | null;
  lastSeen: Date | null;
  expiresAt: Date | null;
  forDetection: boolean;
  /** External ids besides the object's own. */
  externalIds: string[];
  /** The labels alone: `indicator_types` derive from them. */
  tags: string[];
}

function tiplineExtension(object: Fields): Fields | null {
  const extensions = field(object, 'extensions');
  const stated = isObject(extensions) ? field(extensions, TIPLINE_EXTENSION) : undefined;
  return isObject(stated) ? stated : null;
}

/** Whether Tipline has made the object, of all that its sources state. */
export function isOfTipline(object: Fields): boolean {
  return textOf(field(object, 'created_by_ref')) === TIPLINE_IDENTITY_ID;
}

/** Returns the value that observed data of Tipline states; null: it is from others. */
export function observedValue(
  object: Fields,
): { type: IndicatorType; value: string; ofCertificate: boolean } | null {
  const stated = tiplineExtension(object);
  if (stated === null) return null;
  const word = textOf(field(stated, 'observable_type'));
  const type = INDICATOR_TYPES.find((name) => name === word);
  if (type === undefined) throw new RecordRejected('no observable_type');
  const ofCertificate = field(stated, 'of_certificate') === true;
  return { type, value: textOf(field(stated, 'value')) ?? '', ofCertificate };
}

/** Returns the kill-chain phases of an object (§2.11); null: none. */
export function killChainPhasesOf(object: Fields): KillChainPhase[] | null {
  const stated = (listOf(field(object, 'kill_chain_phases')) ?? []).filter(isObject).slice(0, MAX_PHASES);
  const phases = stated.flatMap((each) => {
    const chain = shortTextOf(field(each, 'kill_chain_name'));
    const phase = shortTextOf(field(each, 'phase_name'));
    return chain === null || phase === null ? [] : { chain, phase };
  });
  return phases.length === 0 ? null : phases;
}

/**
 * Returns the statements of an indicator besides its dates and markings; of one that Tipline exported, those of its sources.
 * @param more those that follow from its pattern
 */
export function sourceRecords(object: Fields, more: SourceRecord): SourceRecord[] {
  const extension = tiplineExtension(object);
  if (extension !== null) return readRecords(field(extension, 'records'));
  // The end of an object has no extension.
  if (isOfTipline(object)) return [];
  return [
    omitAbsent({
      id: idOf(object, 'id'),
      statedAt: (dateOf(object, 'modified') ?? dateOf(object, 'created'))?.toISOString() ?? null,
      name: shortTextOf(field(object, 'name')),
      description: recordTextOf(field(object, 'description')),
      killChainPhases: killChainPhasesOf(object),
      ...more,
    }),
  ];
}

/** Reads records as `recordProperties` in `formats/stix` writes them. */
function readRecords(list: unknown): SourceRecord[] {
  const records = (listOf(list) ?? []).filter(isObject).slice(0, MAX_RECORDS);
  return records.map((record) => {
    const direction = field(record, 'direction');
    return omitAbsent({
      id: idOf(record, 'id'),
      statedAt: dateOf(record, 'stated_at')?.toISOString() ?? null,
      reportId: idOf(record, 'report_id'),
      name: shortTextOf(field(record, 'name')),
      description: recordTextOf(field(record, 'description')),
      direction: direction === 'source' || direction === 'destination' ? direction : null,
      type: attributeTypeOf(record),
      category: shortTextOf(field(record, 'category')),
      original: recordValueOf(field(record, 'original')),
      killChainPhases: killChainPhasesOf(record),
      object: readMispObject(field(record, 'object')),
      isShared: field(record, 'is_shared') === true || null,
      forDetection: field(record, 'for_detection') === false ? false : null,
    });
  });
}

function attributeTypeOf(stated: Fields): string | null {
  const type = textOf(field(stated, 'attribute_type'));
  return type !== null && isAttributeType(type) ? type : null;
}

function readMispObject(value: unknown): MispObject | null {
  if (!isObject(value)) return null;
  const text = (name: string) => shortTextOf(field(value, name));
  const [id, name] = [text('id'), text('name')];
  if (id === null || !isUuid(id) || name === null) return null;
  return {
    id,
    name,
    ...omitAbsent({
      relation: text('relation'),
      metaCategory: text('meta_category'),
      templateId: text('template_id'),
      templateVersion: text('template_version'),
      comment: text('comment'),
    }),
  };
}

/** Returns the members of a report that Tipline has exported; none for one of others. */
export function tiplineReport(object: Fields): Partial<ReportRecord> {
  const stated = tiplineExtension(object);
  if (stated === null) return {};
  return {
    authors: tagsOf(field(stated, 'authors')),
    tags: labelsOf(object),
    externalIds: [...commonFields(object, null).externalIds, ...idsElsewhere(object)],
  };
}

/** Returns the members of an attribute that Tipline has exported as a note or a pattern; none for those of others. */
export function tiplineAttribute(object: Fields): Partial<AttributeRecord> {
  const stated = tiplineExtension(object);
  if (stated === null) return {};
  return {
    ...omitAbsent({ type: attributeTypeOf(stated) }),
    name: shortTextOf(field(stated, 'name')),
    description: longTextOf(field(stated, 'comment')),
    category: shortTextOf(field(stated, 'category')),
    forDetection: field(stated, 'for_detection') === true,
    object: readMispObject(field(stated, 'object')),
    expiresAt: dateOf(stated, 'expires_at') ?? dateOf(object, 'valid_until'),
    externalIds: [...commonFields(object, null).externalIds, ...idsElsewhere(object)],
  };
}

/** Returns the extension's properties; null if the object is not from Tipline. */
export function tiplineProperties(object: Fields): TiplineProperties | null {
  const stated = tiplineExtension(object);
  if (stated === null) return null;
  const word = textOf(field(stated, 'severity'))?.toUpperCase();
  return {
    severity: SEVERITIES.find((severity) => severity === word) ?? null,
    firstSeen: dateOf(stated, 'first_seen'),
    lastSeen: dateOf(stated, 'last_seen'),
    expiresAt: dateOf(stated, 'expires_at'),
    forDetection: field(stated, 'for_detection') !== false,
    externalIds: idsElsewhere(object),
    tags: labelsOf(object),
  };
}

/** Returns the labels, and more tags, without those that are markings: `tlpOf` has read them. */
export function labelsOf(object: Fields, ...more: unknown[]): string[] {
  return splitMarkings(null, tagsOf(field(object, 'labels'), ...more)).tags;
}

function idsElsewhere(object: Fields): string[] {
  return externalReferences(object)
    .filter((reference) => CATALOGUES.has(textOf(reference.source_name) ?? ''))
    .map((reference) => textOf(reference.external_id))
    .filter((id): id is string => id !== null && id.length <= MAX_ID);
}

/** `objects` holds the content of a bundle and of a TAXII 2.1 envelope. */
export const STIX_LIMITS: JsonLimits = { lists: ['objects'], maxBytes: 4 * 1024 * 1024, maxDepth: 64 };

/** attack-motivation-ov (STIX 2.1 part 10.3). Words that imply no aim are UNKNOWN. */
const MOTIVATION_BY_WORD = new Map<string, Motivation>([
  ['accidental', 'UNKNOWN'],
  ['coercion', 'UNKNOWN'],
  ['dominance', 'ESPIONAGE'],
  ['ideology', 'HACKTIVISM'],
  ['notoriety', 'HACKTIVISM'],
  ['organizational-gain', 'FINANCIAL'],
  ['personal-gain', 'FINANCIAL'],
  ['personal-satisfaction', 'UNKNOWN'],
  ['revenge', 'DESTRUCTION'],
  ['unpredictable', 'UNKNOWN'],
]);

/** threat-actor-sophistication-ov (STIX 2.1 part 10.25). */
const SOPHISTICATION_BY_WORD = new Map<string, Sophistication>([
  ['none', 'MINIMAL'],
  ['minimal', 'MINIMAL'],
  ['intermediate', 'INTERMEDIATE'],
  ['advanced', 'ADVANCED'],
  ['expert', 'EXPERT'],
  ['innovator', 'EXPERT'],
  ['strategic', 'STRATEGIC'],
]);

/**
 * Returns the first motivation other than UNKNOWN, in the order given (primary before secondary); null: none
 * is stated.
 */
export function motivationOf(words: unknown[]): Motivation | null {
  const stated = words.map(textOf).filter((word) => word !== null);
  const meanings = stated.map((word) => MOTIVATION_BY_WORD.get(word.toLowerCase()) ?? 'UNKNOWN');
  return meanings.find((meaning) => meaning !== 'UNKNOWN') ?? meanings[0] ?? null;
}

export function sophisticationOf(word: unknown): Sophistication | null {
  return SOPHISTICATION_BY_WORD.get(textOf(word)?.toLowerCase() ?? '') ?? null;
}
