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

/** Begins an external id that tells the STIX id under which MITRE publishes an object of ATT&CK. */
export const ATTACK_PREFIX = 'attack:';

/** The STIX identity that creates the objects of an export: the same in every installation, like the ids of indicators. */
export const TIPLINE_IDENTITY_ID = 'identity--1d5287ab-77c9-4e6d-a8d8-7b60c6bdc733';

/**
 * The STIX 2.1 extension (§7.3) for values for which STIX has no property. Must never change: the exports of
 * every installation refer to it, and the importer recognizes Tipline's objects by it.
 */
export const TIPLINE_EXTENSION = 'extension-definition--f97bf517-7c79-45ce-9637-dd8ade0e1b9f';

/*
 * Signature ids (Snort, Suricata). Those below 1,000,000 belong to Talos, 2,000,000 to 2,999,999 to Emerging
 * Threats; the highest is 4,294,967,295. Up to eight sids derive permanently from an indicator's number;
 * grouped rules have a range of their own.
 */
const FIRST_SID = 3_000_000;
const SIDS_EACH = 8;
const FIRST_GROUP_SID = 4_000_000_000;
/**
 * The number of IPv6 addresses that fit into a rule: it is a line, of at most 8,192 characters in Suricata.
 */
export const BLOCK_SIZE = 128;

/** The sids of rules that read lists: above those of groups for four thousand million indicators. */
export const LIST_SIDS = {
  name: 4_294_900_000,
  address: 4_294_900_050,
  file: 4_294_900_060,
  ja3: 4_294_900_090,
} as const;

/** Indicators with this number or a higher one have no sids: these would be those of groups. Numbers are not given again. */
export const NUMBERS_WITH_SIDS = (FIRST_GROUP_SID - FIRST_SID) / SIDS_EACH;

/** The sid of an indicator's rule; its number is below NUMBERS_WITH_SIDS. `slot`: 0 to 7, which of its rules. */
export function sidOf(number: number, slot: number): number {
  return FIRST_SID + SIDS_EACH * number + slot;
}

/** The block of numbers that an indicator's belongs to, from 0; addresses of one block share a rule. */
export function blockOf(number: number): number {
  return Math.floor(number / BLOCK_SIZE);
}

/** The first of the four sids of the rules for a block's addresses of one family. */
export function groupSid(block: number, family: 'IPV4' | 'IPV6'): number {
  return FIRST_GROUP_SID + SIDS_EACH * block + (family === 'IPV4' ? 0 : SIDS_EACH / 2);
}
