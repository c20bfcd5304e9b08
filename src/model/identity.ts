import { createHash } from 'node:crypto';
import type { IndicatorType } from './vocabulary.ts';

/** Never to be changed: every indicator's id, and the STIX and MISP ids made of it, hang on this constant. */
export const INDICATOR_NAMESPACE = '1edfddbf-7e7b-4315-bd3e-e797de005d33';

/** The id of an indicator: the same observable has the same id in every installation, for ever. */
export function indicatorId(type: IndicatorType, normalized: string): string {
  return uuidv5(`${type}:${normalized}`, INDICATOR_NAMESPACE);
}

/** RFC 9562 §5.5: a UUID from the SHA-1 of the namespace's bytes and the name in UTF-8. */
export function uuidv5(name: string, namespace: string): string {
  const bytes = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  const hash = createHash('sha1').update(bytes).update(name, 'utf8').digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = hash.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
