import { mostRestrictive } from '../../model/statement.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import type { Instant } from '../format.ts';
import { header, objectMarkings, type StixObject } from './common.ts';
import { parseStixId, relationshipId } from './ids.ts';

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
