import { uuidv5 } from '../../model/identity.ts';

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

/** Returns the UUID itself if STIX accepts it, else one derived from it. */
export function entityUuid(uuid: string): string {
  return parseStixId(`x-entity--${uuid}`)?.uuid ?? uuidv5(`entity:${uuid}`, NAMESPACE);
}

/** Returns the parts of a STIX id; null if the text is none. */
export function parseStixId(text: string): { type: string; uuid: string } | null {
  const [, type, uuid] = STIX_ID.exec(text) ?? [];
  return type === undefined || uuid === undefined ? null : { type, uuid };
}
