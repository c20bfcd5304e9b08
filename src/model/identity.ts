import { hash } from 'node:crypto';
import type { IndicatorType } from './vocabulary.ts';

/** Never to be changed: every indicator's id, and the STIX and MISP ids made of it, hang on this constant. */
export const INDICATOR_NAMESPACE = '1edfddbf-7e7b-4315-bd3e-e797de005d33';

/** The id of an indicator: the same observable has the same id in every installation, for ever. */
export function indicatorId(type: IndicatorType, normalized: string): string {
  return uuidv5(`${type}:${normalized}`, INDICATOR_NAMESPACE);
}

/** Millions in a row are of one namespace. */
let latest = { namespace: '', bytes: Buffer.alloc(0) };

/** RFC 9562 §5.5: a UUID from the SHA-1 of the namespace's bytes and the name in UTF-8. */
export function uuidv5(name: string, namespace: string): string {
  if (namespace !== latest.namespace)
    latest = { namespace, bytes: Buffer.from(namespace.replaceAll('-', ''), 'hex') };
  const hex = hash('sha1', Buffer.concat([latest.bytes, Buffer.from(name)]), 'hex');
  const version = `5${hex.slice(13, 16)}`;
  const variant = `${'89ab'.charAt(Number.parseInt(hex.charAt(16), 16) & 3)}${hex.slice(17, 20)}`;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}-${variant}-${hex.slice(20, 32)}`;
}
