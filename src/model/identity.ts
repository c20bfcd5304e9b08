import { hash } from 'node:crypto';
import type { IndicatorType } from './vocabulary.ts';

/**
 * Must never change: every indicator's id, and the STIX and MISP ids made of it, derive from this constant.
 */
export const INDICATOR_NAMESPACE = '1edfddbf-7e7b-4315-bd3e-e797de005d33';

/** Returns the id of an indicator: the same observable has the same id in every installation, permanently. */
export function indicatorId(type: IndicatorType, normalized: string): string {
  return uuidv5(`${type}:${normalized}`, INDICATOR_NAMESPACE);
}

const NAMESPACE_BYTES = 16;
/**
 * The input of the hash: the namespace, which is the same for millions of calls in a row, and the name, if it
 * is no longer than usual.
 */
const hashed = Buffer.alloc(4096);
let namespaceOf = '';

/** Returns a UUID by RFC 9562 §5.5: from the SHA-1 of the namespace's bytes and the name in UTF-8. */
export function uuidv5(name: string, namespace: string): string {
  if (namespace !== namespaceOf) {
    hashed.write(namespace.replaceAll('-', ''), 'hex');
    namespaceOf = namespace;
  }
  const hasRoom = NAMESPACE_BYTES + name.length * 3 <= hashed.length;
  const bytes = hasRoom
    ? hashed.subarray(0, NAMESPACE_BYTES + hashed.write(name, NAMESPACE_BYTES))
    : Buffer.concat([hashed.subarray(0, NAMESPACE_BYTES), Buffer.from(name)]);
  const hex = hash('sha1', bytes, 'hex');
  const version = `5${hex.slice(13, 16)}`;
  const variant = `${'89ab'.charAt(Number.parseInt(hex.charAt(16), 16) & 3)}${hex.slice(17, 20)}`;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}-${variant}-${hex.slice(20, 32)}`;
}
