import { type Fields, field, textOf } from './record-fields.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The uuid of an event or an attribute in lower case; null when it has none of that form. */
export function uuidOf(record: Fields): string | null {
  const uuid = textOf(field(record, 'uuid'))?.toLowerCase() ?? '';
  return UUID.test(uuid) ? uuid : null;
}

/** Returns the STIX id that MISP's own STIX export would give a record; at most one. */
export function stixId(type: 'report' | 'indicator', record: Fields): string[] {
  const uuid = uuidOf(record);
  return uuid === null ? [] : [`${type}--${uuid}`];
}
