import { ATTACK_PREFIX } from '../../model/identity.ts';
import { mostRestrictive } from '../../model/statement.ts';
import type { Motivation, Tlp } from '../../model/vocabulary.ts';
import type { ExportEntity, Instant } from '../format.ts';
import {
  entityUuid,
  externalReferences,
  header,
  objectMarkings,
  omitEmpty,
  parseStixId,
  relationshipId,
  type StixObject,
  withExtension,
} from './common.ts';

type Actor = Extract<ExportEntity, { kind: 'actor' }>;
type Technique = Extract<ExportEntity, { kind: 'technique' }>;

/** attack-motivation-ov has few words for the aims of states; the extension carries Tipline's own value. */
const MOTIVATION_WORDS: Partial<Record<Motivation, string>> = {
  ESPIONAGE: 'dominance',
  FINANCIAL: 'personal-gain',
  HACKTIVISM: 'ideology',
};

/**
 * Returns the id of each entity. An object of ATT&CK has MITRE's id, by which it is known everywhere, and is only
 * referred to: Tipline's copy of it differs, and would replace the consumer's. Two entities never share an id.
 */
export function entityIds(entities: readonly ExportEntity[]): Map<string, string> {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  for (const entity of entities) {
    const attack = attackStixId(entity);
    const id = attack === null || taken.has(attack) ? ownId(entity) : attack;
    ids.set(entity.id, id);
    taken.add(id);
  }
  return ids;
}

/** Returns whether an id from `entityIds` is MITRE's: its object is not in the bundle. */
export function isOfAttack(entity: ExportEntity, id: string): boolean {
  return attackStixId(entity) === id;
}

/**
 * Returns the entity's own id, with the type that it was imported as if it can be of it, else the first one.
 */
function ownId(entity: ExportEntity): string {
  const types = typesOf(entity);
  const type = types.find((name) => entity.externalIds.includes(`${name}--${entity.id}`)) ?? types[0];
  return `${type}--${entityUuid(entity.id)}`;
}

/** Returns the id under which MITRE publishes the entity; null if it is not of ATT&CK. */
function attackStixId(entity: ExportEntity): string | null {
  const types = typesOf(entity);
  const ids = entity.externalIds
    .filter((id) => id.startsWith(ATTACK_PREFIX))
    .map((id) => id.slice(ATTACK_PREFIX.length));
  return ids.find((id) => types.includes(parseStixId(id)?.type ?? '')) ?? null;
}

/** ATT&CK's groups are intrusion sets; some sources state their actors as persons. */
function typesOf(entity: ExportEntity): string[] {
  switch (entity.kind) {
    case 'actor':
      return entity.attackId === null ? ['intrusion-set', 'threat-actor'] : ['intrusion-set'];
    case 'campaign':
      return ['campaign'];
    case 'technique':
      return ['attack-pattern'];
    case 'software':
      return [entity.softwareType];
  }
}

/** @param id from `entityIds` */
export function entityObject(entity: ExportEntity, id: string): StixObject {
  const type = parseStixId(id)?.type ?? '';
  return {
    ...header({ ...entity, ...timesOf(entity, id), type, id }),
    name: entity.name,
    description: entity.description ?? undefined,
    ...particulars(entity, type),
    confidence: entity.confidence,
    external_references: omitEmpty([
      ...attackReference(entity),
      ...externalReferences(entity.externalIds, id),
    ]),
    ...objectMarkings(entity.tlp),
    ...(entity.kind === 'actor' ? actorExtension(entity) : {}),
  };
}

function particulars(entity: ExportEntity, type: string): Record<string, unknown> {
  if (entity.kind === 'technique') return { kill_chain_phases: omitEmpty(killChainPhases(entity)) };
  const aliases = omitEmpty(entity.aliases.filter((alias) => alias !== entity.name));
  if (entity.kind === 'software') return { is_family: type === 'malware' ? true : undefined, aliases };
  const { firstSeen, lastSeen } = entity;
  const isSpan = firstSeen === null || lastSeen === null || lastSeen >= firstSeen;
  return {
    aliases,
    first_seen: firstSeen?.toISOString(),
    // §4.2, §4.9: not before `first_seen`.
    last_seen: isSpan ? lastSeen?.toISOString() : undefined,
    ...(entity.kind === 'actor' ? actorParticulars(entity, type) : {}),
  };
}

function actorParticulars({ motivation, sophistication }: Actor, type: string) {
  return {
    sophistication: type === 'threat-actor' ? sophistication?.toLowerCase() : undefined,
    primary_motivation: MOTIVATION_WORDS[motivation],
  };
}

function actorExtension({ country, motivation, sophistication }: Actor) {
  if (country === null && motivation === 'UNKNOWN' && sophistication === null) return {};
  return withExtension({
    country: country ?? undefined,
    motivation: motivation === 'UNKNOWN' ? undefined : motivation.toLowerCase().replace('_', '-'),
    sophistication: sophistication?.toLowerCase(),
  });
}

/**
 * Under another producer's id, returns that producer's times: Tipline's would make the object newer than the
 * original.
 */
function timesOf(entity: ExportEntity, id: string) {
  if (!entity.externalIds.includes(id)) return { isForeign: false };
  const statedAt = entity.statedAt ?? entity.createdAt;
  return { isForeign: true, createdAt: statedAt, modifiedAt: statedAt };
}

/** The techniques for industrial systems, T0…, have a kill chain of their own. */
function killChainPhases({ attackId, tactics }: Technique) {
  const chain = attackId?.startsWith('T0') ? 'mitre-ics-attack' : 'mitre-attack';
  return tactics.map((tactic) => ({
    kill_chain_name: chain,
    phase_name: tactic.toLowerCase().replace(/[\s_]+/g, '-'),
  }));
}

/** The reference has no URL: with one, the standard (§2.5) asks for a hash of the page. */
function attackReference(entity: ExportEntity) {
  if (entity.kind === 'campaign' || entity.attackId === null) return [];
  return [{ source_name: 'mitre-attack', external_id: entity.attackId }];
}

/** An end of a relationship; `id` is its STIX id. */
export interface End {
  id: string;
  tlp: Tlp;
  createdAt: Instant;
  modifiedAt: Instant;
}

const ACTIONS = ['attack-pattern', 'malware', 'tool'];

/** The relationships between Tipline's types that STIX 2.1 (appendix B) allows. */
const ALLOWED: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  indicator: {
    indicates: ['attack-pattern', 'campaign', 'intrusion-set', 'malware', 'threat-actor', 'tool'],
  },
  'attack-pattern': { uses: ['malware', 'tool'], targets: ['vulnerability'] },
  campaign: {
    'attributed-to': ['intrusion-set', 'threat-actor'],
    uses: ACTIONS,
    targets: ['vulnerability'],
  },
  'intrusion-set': { 'attributed-to': ['threat-actor'], uses: ACTIONS, targets: ['vulnerability'] },
  'threat-actor': { uses: ACTIONS, targets: ['vulnerability'] },
  malware: { uses: ACTIONS, exploits: ['vulnerability'] },
  tool: { targets: ['vulnerability'] },
};

/**
 * Returns a relationship. A type that STIX does not allow between the two becomes `related-to`, which it
 * allows between any.
 * @param tlp its own; the marking is at least as restrictive as those of its ends
 */
export function relationship(from: End, type: string, to: End, tlp: Tlp): StixObject {
  const allowed = ALLOWED[typeOf(from)]?.[type]?.includes(typeOf(to)) ? type : 'related-to';
  return {
    // The time of the link is unknown, except that it was not before both objects existed.
    ...header({
      type: 'relationship',
      id: relationshipId(from.id, allowed, to.id),
      createdAt: later(from.createdAt, to.createdAt),
      modifiedAt: later(from.modifiedAt, to.modifiedAt),
    }),
    relationship_type: allowed,
    source_ref: from.id,
    target_ref: to.id,
    ...objectMarkings(mostRestrictive([tlp, from.tlp, to.tlp])),
  };
}

/**
 * Returns the relationship of an indicator to an entity. A vulnerability indicates nothing: the entity
 * exploits or targets it.
 */
export function indication(object: End, entity: End, tlp: Tlp): StixObject {
  if (typeOf(object) !== 'vulnerability') return relationship(object, 'indicates', entity, tlp);
  return relationship(entity, typeOf(entity) === 'malware' ? 'exploits' : 'targets', object, tlp);
}

function typeOf({ id }: End): string {
  return parseStixId(id)?.type ?? '';
}

function later(a: Instant, b: Instant): Instant {
  return a > b ? a : b;
}
