import { TIPLINE_IDENTITY_ID } from '../model/identity.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { namerOf } from './actor-namers.ts';
import type {
  ActorRecord,
  AttributeRecord,
  CampaignRecord,
  RelationshipRecord,
  ReportRecord,
  SoftwareRecord,
  TechniqueRecord,
} from './importer.ts';
import {
  attributeValue,
  countryOf,
  dateOf,
  type Fields,
  field,
  httpLinks,
  idOf,
  isObject,
  listOf,
  MAX_ID,
  otherNames,
  RecordRejected,
  relationshipRecord,
  requiredName,
  shortTextOf,
  tagsOf,
  textOf,
} from './record-fields.ts';
import {
  attackId,
  commonFields,
  entityFields,
  externalReferences,
  isRetired,
  isRevoked,
  labelsOf,
  motivationOf,
  REVOKED,
  sophisticationOf,
  tiplineAttribute,
  tiplineReport,
  withdrawalOf,
} from './stix-fields.ts';

/** An intrusion set or a threat actor. */
export function readActor(object: Fields, tlp: Tlp | null): [ActorRecord] {
  const name = requiredName(object, 'name');
  const secondary = listOf(field(object, 'secondary_motivations')) ?? [];
  const group = attackId(object, /^G\d{4}$/);
  const actor: ActorRecord = {
    kind: 'actor',
    ...entityFields(object, tlp),
    name,
    aliases: namedAliases(name, object, group === null ? [] : externalReferences(object)),
    attackGroupId: group,
    description: textOf(field(object, 'description')),
    country: countryOf(field(object, 'country')),
    motivation: motivationOf([field(object, 'primary_motivation'), ...secondary]),
    sophistication: sophisticationOf(field(object, 'sophistication')),
    retired: isRetired(object),
    firstSeen: dateOf(object, 'first_seen'),
    lastSeen: dateOf(object, 'last_seen'),
    targetSectors: [],
    targetCountries: [],
  };
  return [actor];
}

/** Returns the aliases; the name itself is one of them if it is stated who coined it. */
function namedAliases(name: string, object: Fields, references: Fields[]): ActorRecord['aliases'] {
  const aliases = otherNames(name, field(object, 'aliases'));
  const ownNamer = namerOf(name, references);
  return [
    ...(ownNamer === null ? [] : [{ alias: name, namedBy: ownNamer }]),
    ...aliases.map((alias) => ({ alias, namedBy: namerOf(alias, references) })),
  ];
}

export function readCampaign(object: Fields, tlp: Tlp | null): [CampaignRecord] {
  const name = requiredName(object, 'name');
  const campaign: CampaignRecord = {
    kind: 'campaign',
    ...entityFields(object, tlp),
    ...withdrawalOf(object),
    name,
    aliases: otherNames(name, field(object, 'aliases')),
    description: textOf(field(object, 'description')),
    startDate: dateOf(object, 'first_seen'),
    endDate: dateOf(object, 'last_seen'),
    targetSectors: [],
    targetCountries: [],
  };
  return [campaign];
}

export function readTechnique(object: Fields, tlp: Tlp | null): [TechniqueRecord] {
  const phases = (listOf(field(object, 'kill_chain_phases')) ?? []).filter(isObject);
  const technique: TechniqueRecord = {
    kind: 'technique',
    ...entityFields(object, tlp),
    attackId: attackId(object, /^T\d{4}(\.\d{3})?$/),
    name: requiredName(object, 'name'),
    description: textOf(field(object, 'description')),
    tactics: tagsOf(phases.filter(isAttackPhase).map((phase) => phase.phase_name)),
    retired: isRetired(object),
  };
  return [technique];
}

function isAttackPhase(phase: Fields): boolean {
  return /^mitre(-ics|-mobile)?-attack$/.test(textOf(phase.kill_chain_name)?.toLowerCase() ?? '');
}

export function readSoftware(object: Fields, tlp: Tlp | null): [SoftwareRecord] {
  const name = requiredName(object, 'name');
  const software: SoftwareRecord = {
    kind: 'software',
    ...entityFields(object, tlp),
    softwareType: object.type === 'tool' ? 'tool' : 'malware',
    attackId: attackId(object, /^S\d{4}$/),
    name,
    aliases: otherNames(name, field(object, 'aliases'), field(object, 'x_mitre_aliases')),
    description: textOf(field(object, 'description')),
    retired: isRetired(object),
  };
  return [software];
}

/** Returns the report, and its links to the objects that it refers to; one that is revoked has none. */
export function readReport(
  object: Fields,
  tlp: Tlp | null,
  authors: string[],
): (ReportRecord | RelationshipRecord)[] {
  return readContainer(object, tlp, {
    kind: 'report',
    ...containerFields(object, tlp, authors),
    title: requiredName(object, 'name'),
    publishedAt: dateOf(object, 'published'),
    tags: labelsOf(object, field(object, 'report_types')),
    ...tiplineReport(object),
  });
}

/** A grouping is a report that is not finished or not published (STIX 2.1 §4.4); its name is optional. */
export function readGrouping(
  object: Fields,
  tlp: Tlp | null,
  authors: string[],
): (ReportRecord | RelationshipRecord)[] {
  const context = textOf(field(object, 'context'));
  return readContainer(object, tlp, {
    kind: 'report',
    ...containerFields(object, tlp, authors),
    title: textOf(field(object, 'name')) === null ? `Grouping: ${context}` : requiredName(object, 'name'),
    publishedAt: null,
    tags: labelsOf(object, [context]),
  });
}

/** Of Tipline, a note is an attribute of the type in its extension. */
export function readNote(object: Fields, tlp: Tlp | null): (AttributeRecord | RelationshipRecord)[] {
  return readContainer(object, tlp, {
    kind: 'attribute',
    ...commonFields(object, tlp),
    type: 'note',
    value: attributeValue(field(object, 'content')),
    name: shortTextOf(field(object, 'abstract')),
    description: null,
    category: null,
    forDetection: false,
    object: null,
    tags: labelsOf(object),
    expiresAt: null,
    killChainPhases: null,
    ...tiplineAttribute(object),
  });
}

function containerFields(object: Fields, tlp: Tlp | null, authors: string[]) {
  const urls = externalReferences(object).flatMap(({ url }) => textOf(url) ?? []);
  return {
    ...commonFields(object, tlp),
    description: textOf(field(object, 'description')),
    authors,
    links: httpLinks(urls),
    url: urls[0] ?? null,
  };
}

function readContainer<R extends ReportRecord | AttributeRecord>(
  object: Fields,
  tlp: Tlp | null,
  record: R,
): (R | RelationshipRecord)[] {
  if (isRevoked(object)) return [{ ...record, withdrawn: REVOKED }];
  const refs = objectRefs(object);
  const [from] = record.externalIds;
  if (from === undefined && refs.length > 0) throw new RecordRejected('no id');
  // A note about a report is part of it.
  const isPart = (to: string) => record.kind === 'attribute' && /^(report|grouping)--/.test(to);
  const links = refs.map((to) =>
    isPart(to)
      ? relationshipRecord('refers-to', to, from ?? '', tlp)
      : relationshipRecord('refers-to', from ?? '', to, tlp),
  );
  return [record, ...links];
}

function objectRefs(report: Fields): string[] {
  const refs = listOf(field(report, 'object_refs'))?.map(textOf) ?? [null];
  const ids = refs.filter((id): id is string => id !== null && id.length <= MAX_ID);
  if (ids.length < refs.length) throw new RecordRejected('object_refs is not a list of ids');
  return [...new Set(ids)];
}

const RELATIONSHIP_TYPES: readonly RelationshipRecord['type'][] = ['indicates', 'attributed-to', 'uses'];

/**
 * Reads only the three types that Tipline shows. All others (`mitigates`, `targets`, `subtechnique-of`,
 * `revoked-by`, …) are left out on purpose.
 */
export function readRelationship(object: Fields, tlp: Tlp | null): RelationshipRecord[] {
  const stated = textOf(field(object, 'relationship_type'));
  if (stated === null) throw new RecordRejected('no relationship_type');
  const from = idOf(object, 'source_ref');
  const to = idOf(object, 'target_ref');
  if (from === null) throw new RecordRejected('no source_ref');
  if (to === null) throw new RecordRejected('no target_ref');
  const type = isIndicationOfOurs(object, stated, from)
    ? 'indicates'
    : RELATIONSHIP_TYPES.find((name) => name === stated);
  if (type === undefined) return [];
  const id = idOf(object, 'id');
  const record = { ...relationshipRecord(type, from, to, tlp), ...(id !== null && { id }) };
  return [isRetired(object) ? { ...record, withdrawn: REVOKED } : record];
}

/** Tipline's observed data is `related-to` what an indicator would indicate: STIX allows no other type there. */
function isIndicationOfOurs(object: Fields, type: string, from: string): boolean {
  const isOurs = textOf(field(object, 'created_by_ref')) === TIPLINE_IDENTITY_ID;
  return isOurs && type === 'related-to' && from.startsWith('observed-data--');
}
