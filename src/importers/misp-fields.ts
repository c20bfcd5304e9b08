import type { MispObject } from '../model/source-record.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { splitMarkings } from './markings.ts';
import {
  type Fields,
  field,
  isObject,
  isTrue,
  isUuid,
  listOf,
  omitAbsent,
  RecordRejected,
  shortTextOf,
  tagsOf,
  textOf,
} from './record-fields.ts';

/** The uuid of an event or an attribute in lower case; null when it has none of that form. */
export function uuidOf(record: Fields): string | null {
  const uuid = textOf(field(record, 'uuid'))?.toLowerCase() ?? '';
  return isUuid(uuid) ? uuid : null;
}

/** Returns the STIX id that MISP's own STIX export would give a record; at most one. */
export function stixId(type: 'report' | 'indicator', record: Fields): string[] {
  const uuid = uuidOf(record);
  return uuid === null ? [] : [`${type}--${uuid}`];
}

/** Returns the object that its attributes are parts of; null: it has no uuid. */
export function mispObject(object: Fields): MispObject | null {
  const id = uuidOf(object);
  const name = shortTextOf(field(object, 'name'));
  if (id === null || name === null) return null;
  const text = (member: string) => shortTextOf(field(object, member));
  return {
    id,
    name,
    ...omitAbsent({
      metaCategory: text('meta-category'),
      templateId: text('template_uuid'),
      templateVersion: text('template_version'),
      comment: text('comment'),
    }),
  };
}

/** The reason of the rejection of a deleted attribute or text whose source has not stated it. */
export const DELETED = 'deleted in its source';

/** Returns the member of the record of an attribute or text by which it is withdrawn; none unless it is deleted. */
export function withdrawalOf(record: Fields): { withdrawn?: string } {
  return isTrue(field(record, 'deleted')) ? { withdrawn: DELETED } : {};
}

export interface MispTags {
  /** The narrowest of the `tlp:` tags; null: there is none. */
  tlp: Tlp | null;
  /** Free tags, without TLP and galaxy tags. */
  plain: string[];
  /** `misp-galaxy:threat-actor="X"` and the like, unchanged. */
  galaxy: string[];
}

/**
 * Reads the tags of an event or an attribute.
 * @throws {RecordRejected} if they cannot be read, because a TLP may be among them
 */
export function mispTags(record: Fields): MispTags {
  const list = listOf(field(record, 'Tag'));
  if (list === null) throw new RecordRejected('Tag is not a list');
  const names = list
    .map((tag) => textOf(isObject(tag) ? field(tag, 'name') : tag))
    .filter((name) => name !== null);
  const { tlp, tags } = splitMarkings(null, names);
  const isGalaxy = (name: string) => /^misp-galaxy:/i.test(name);
  return {
    tlp,
    plain: tagsOf(tags.filter((name) => !isGalaxy(name))),
    galaxy: tagsOf(names.filter(isGalaxy)),
  };
}
