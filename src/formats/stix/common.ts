import { ATTACK_PREFIX, TIPLINE_EXTENSION, TIPLINE_IDENTITY_ID, uuidv5 } from '../../model/identity.ts';
import type { KillChainPhase, MispObject } from '../../model/source-record.ts';
import { TLPS, type Tlp } from '../../model/vocabulary.ts';
import {
  type ExportIndicator,
  type ExportRecord,
  type IndicatorRef,
  type Instant,
  tlpName,
} from '../format.ts';

/**
 * An object as it is serialized; an undefined property is left out, because STIX has neither null nor empty
 * lists.
 */
export type StixObject = { id: string } & Record<string, unknown>;

const FIRST_PUBLISHED = '2026-11-20T00:00:00.000Z';

export const TIPLINE_IDENTITY: StixObject = {
  type: 'identity',
  spec_version: '2.1',
  id: TIPLINE_IDENTITY_ID,
  created: FIRST_PUBLISHED,
  modified: FIRST_PUBLISHED,
  name: 'Tipline',
  description: 'A self-hosted threat-intelligence service, which names the source of what it passes on.',
  identity_class: 'system',
};

export const TIPLINE_EXTENSION_DEFINITION: StixObject = {
  type: 'extension-definition',
  spec_version: '2.1',
  id: TIPLINE_EXTENSION,
  created_by_ref: TIPLINE_IDENTITY_ID,
  created: FIRST_PUBLISHED,
  modified: '2026-11-26T00:00:00.000Z',
  name: 'Tipline properties',
  description: 'What Tipline knows and STIX has no property for, and an observable that its patterns name.',
  schema: [
    'Property extension of indicator, observed-data and vulnerability: observable_type (string, such as IPV4), value',
    '(string; of observed-data), severity (info, low, medium, high or critical), first_seen, last_seen and expires_at',
    '(timestamp), for_detection (boolean; false: context only, never for rules or block lists), of_certificate (boolean; true: the',
    'hash is the fingerprint of a certificate), source_name (string), records (list: statements of the records of its sources,',
    'each with source_name, id, stated_at, report_id, name, description, direction, attribute_type, category, original,',
    'kill_chain_phases, object and is_shared).',
    'Property extension of report: authors (list of string). Of note, and of indicator with a rule: attribute_type',
    '(string, a type of MISP, note or stix-pattern), name, comment, category (string), for_detection, expires_at, object (the MISP',
    'object: id, name, relation, meta_category, template_id, template_version, comment).',
    'Property extension of intrusion-set and threat-actor: country (string, ISO 3166-1 alpha-2), motivation',
    '(espionage, financial, hacktivism, destruction or information-ops), sophistication (minimal, intermediate,',
    'advanced, expert or strategic).',
    'New SCO cryptocurrency-wallet, in patterns: value (string, the address), its id contributing property.',
  ].join(' '),
  version: '1.2.0',
  extension_types: ['property-extension', 'new-sco'],
};

interface Common {
  type: string;
  id: string;
  createdAt: Instant;
  modifiedAt: Instant;
  /**
   * Created by another producer and identified by that producer's id: only the producer may state
   * `created_by_ref`.
   */
  isForeign?: boolean;
}

/** Returns the properties that every domain and relationship object begins with. */
export function header({ type, id, createdAt, modifiedAt, isForeign = false }: Common): StixObject {
  return {
    type,
    spec_version: '2.1',
    id,
    ...creatorAndTimestamps({ createdAt, modifiedAt, isForeign }),
  };
}

function creatorAndTimestamps({
  createdAt,
  modifiedAt,
  isForeign = false,
}: Pick<Common, 'createdAt' | 'modifiedAt' | 'isForeign'>) {
  return {
    created_by_ref: isForeign ? undefined : TIPLINE_IDENTITY_ID,
    created: createdAt.toISOString(),
    modified: (modifiedAt < createdAt ? createdAt : modifiedAt).toISOString(),
  };
}

export function objectMarkings(tlp: Tlp) {
  return { object_marking_refs: [markingOf(tlp).id] };
}

export function withExtension(properties: Record<string, unknown>) {
  return { extensions: { [TIPLINE_EXTENSION]: { extension_type: 'property-extension', ...properties } } };
}

/**
 * Returns the extension of an indicator.
 * @param more properties that the type of object has no property for
 */
export function propertiesOf(
  { type, severity, lastSeen, forDetection, ofCertificate, source, records }: ExportIndicator,
  more: { value?: string; first_seen?: string; expires_at?: string | undefined },
) {
  return {
    [TIPLINE_EXTENSION]: {
      extension_type: 'property-extension',
      observable_type: type,
      severity: severity.toLowerCase(),
      last_seen: lastSeen.toISOString(),
      for_detection: forDetection,
      of_certificate: ofCertificate || undefined,
      source_name: source,
      records: records.length === 0 ? undefined : records.map(recordProperties),
      ...more,
    },
  };
}

/** Returns a MISP object as the extension has it. */
export function mispObjectProperties(object: MispObject) {
  return {
    id: object.id,
    name: object.name,
    relation: object.relation,
    meta_category: object.metaCategory,
    template_id: object.templateId,
    template_version: object.templateVersion,
    comment: object.comment,
  };
}

/** Returns a record of a source as the extension has it. */
function recordProperties(record: ExportRecord) {
  return {
    source_name: record.source,
    id: record.id,
    stated_at: record.statedAt,
    report_id: record.reportId,
    name: record.name,
    description: record.description,
    direction: record.direction,
    attribute_type: record.type,
    category: record.category,
    original: record.original,
    kill_chain_phases: record.killChainPhases && killChainPhases(record.killChainPhases),
    object: record.object && mispObjectProperties(record.object),
    is_shared: record.isShared,
    for_detection: record.forDetection,
  };
}

/** Returns phases as STIX has them (§2.11). */
export function killChainPhases(phases: readonly KillChainPhase[]) {
  return phases.map(({ chain, phase }) => ({ kill_chain_name: chain, phase_name: phase }));
}

export function omitEmpty<T>(values: readonly T[]): readonly T[] | undefined {
  return values.length === 0 ? undefined : values;
}

/** Returns external ids as references; STIX requires each with the catalogue that it belongs to (§2.5). */
export function externalReferences(externalIds: readonly string[], ownId: string) {
  return externalIds
    .filter((id) => id !== ownId && !id.startsWith(ATTACK_PREFIX))
    .map((id) => ({ source_name: catalogueOf(id), external_id: id }));
}

function catalogueOf(id: string): string {
  if (parseStixId(id) !== null) return 'stix';
  return id.startsWith('misp-galaxy:') ? 'misp-galaxy' : 'tipline';
}

/** Must never change: the ids of bundles, relationships and the like derive from it. */
const NAMESPACE = '636efb3b-4c88-4fcd-8460-67b05ae37df6';

/**
 * A UUID of RFC 4122, in lower case (§2.9). Some producers invent theirs; validators reject a whole bundle
 * for one.
 */
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const STIX_ID = new RegExp(`^([a-z0-9][a-z0-9-]{1,249})--(${UUID})$`);

export function bundleId(name: string): string {
  return `bundle--${uuidv5(`bundle:${name}`, NAMESPACE)}`;
}

/** Returns the id of a relationship: the same two ends and type give the same id. */
export function relationshipId(from: string, type: string, to: string): string {
  return `relationship--${uuidv5(`relationship:${from} ${type} ${to}`, NAMESPACE)}`;
}

/**
 * Returns the id of the object that stands for an indicator: the first original id of a fitting type, which are read with
 * `ids=original` only, else the indicator's own.
 */
export function indicatorObjectId({ id, type, forDetection, originalIds = [] }: Ref): string {
  const objectType = type === 'CVE' ? 'vulnerability' : forDetection ? 'indicator' : 'observed-data';
  return originalIds.find((original) => parseStixId(original)?.type === objectType) ?? `${objectType}--${id}`;
}

type Ref = Omit<IndicatorRef, 'originalIds'> & Partial<Pick<IndicatorRef, 'originalIds'>>;

/**
 * Returns the creator and the times of an indicator's object: under the id of another producer's record, those of the
 * record, so that it is not newer than the producer's.
 */
export function originOf(row: ExportIndicator, id: string) {
  const isForeign = !id.endsWith(row.id);
  const statedAt = isForeign ? row.records.find((record) => record.id === id)?.statedAt : undefined;
  const at = statedAt === undefined ? null : new Date(statedAt);
  return creatorAndTimestamps({
    createdAt: at ?? row.createdAt,
    modifiedAt: at ?? row.modifiedAt,
    isForeign,
  });
}

/** Returns the UUID itself if STIX accepts it, else one derived from it. */
export function entityUuid(uuid: string): string {
  return parseStixId(`x-entity--${uuid}`)?.uuid ?? uuidv5(`entity:${uuid}`, NAMESPACE);
}

/** Returns the parts of a STIX id; null if the text is none. */
export function parseStixId(text: string): { type: string; uuid: string } | null {
  const [, type, uuid] = STIX_ID.exec(text) ?? [];
  return type === undefined || uuid === undefined ? null : { type, uuid };
}

/** OASIS' property extension for TLP 2.0 (cti-stix-common-objects); STIX 2.1 itself knows only TLP 1.0. */
const TLP_2_EXTENSION = 'extension-definition--60a3c5c5-0d10-413e-aab3-9e08dde9e88d';

const UUID_BY_TLP: Readonly<Record<Tlp, string>> = {
  CLEAR: '94868c89-83c2-464b-929b-a1a8aa3c8487',
  GREEN: 'bab4a63c-aed9-4cf5-a766-dfca5abac2bb',
  AMBER: '55d920b0-5e8b-4f79-9ee9-91f868d9b421',
  AMBER_STRICT: '939a9414-2ddd-4d32-a0cd-375ea402b003',
  RED: 'e828b379-4e03-4974-9ac4-e53a884c97c1',
};

const MARKINGS = new Map(TLPS.map((tlp) => [tlp, definition(tlp)]));

/** The marking definition of a TLP, as OASIS publishes it: marking definitions have no `modified`. */
export function markingOf(tlp: Tlp) {
  return MARKINGS.get(tlp) ?? definition(tlp);
}

function definition(tlp: Tlp) {
  const level = tlpName(tlp).toLowerCase();
  return {
    type: 'marking-definition',
    spec_version: '2.1',
    id: `marking-definition--${UUID_BY_TLP[tlp]}`,
    created: '2022-10-01T00:00:00.000Z',
    name: `TLP:${level.toUpperCase()}`,
    extensions: { [TLP_2_EXTENSION]: { extension_type: 'property-extension', tlp_2_0: level } },
  };
}
