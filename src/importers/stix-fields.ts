import type { Tlp } from '../model/vocabulary.ts';
import { confidenceOf, dateOf, type Fields, field, idOf, isObject, listOf, textOf } from './record-fields.ts';

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

export function isRevoked(object: Fields): boolean {
  return field(object, 'revoked') === true;
}

/** Revoked, or deprecated in the way of ATT&CK. */
export function isRetired(object: Fields): boolean {
  return isRevoked(object) || field(object, 'x_mitre_deprecated') === true;
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
