import { uuidv5 } from '../../model/identity.ts';

/** Never to be changed: the ids of bundles, relationships and the like hang on it. */
const NAMESPACE = '636efb3b-4c88-4fcd-8460-67b05ae37df6';

/** Of RFC 4122, in lower case (§2.9). Some producers make theirs up; validators reject a whole bundle for one. */
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const STIX_ID = new RegExp(`^([a-z0-9][a-z0-9-]{1,249})--(${UUID})$`);

export function bundleId(name: string): string {
  return `bundle--${uuidv5(`bundle:${name}`, NAMESPACE)}`;
}

/** The same two ends and type give the same relationship. */
export function relationshipId(from: string, type: string, to: string): string {
  return `relationship--${uuidv5(`relationship:${from} ${type} ${to}`, NAMESPACE)}`;
}

/** The UUID itself, where it is one that STIX takes, else one that follows from it. */
export function entityUuid(uuid: string): string {
  return parseStixId(`x-entity--${uuid}`)?.uuid ?? uuidv5(`entity:${uuid}`, NAMESPACE);
}

/** null: no STIX id. */
export function parseStixId(text: string): { type: string; uuid: string } | null {
  const [, type, uuid] = STIX_ID.exec(text) ?? [];
  return type === undefined || uuid === undefined ? null : { type, uuid };
}
