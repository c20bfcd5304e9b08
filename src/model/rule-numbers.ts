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
const BLOCK_SIZE = 128;

/** The sid of an indicator's rule. `slot`: 0 to 7, which of its rules. */
export function sidOf(number: number, slot: number): number {
  return FIRST_SID + SIDS_EACH * number + slot;
}

/** The block of numbers that an indicator's belongs to, from 0; addresses of one block share a rule. */
export function blockOf(number: number): number {
  return Math.floor(number / BLOCK_SIZE);
}

/** The sid of a block's rule. `slot`: 0 or 1, which of its rules. */
export function groupSid(block: number, slot: number): number {
  return FIRST_GROUP_SID + 2 * block + slot;
}
