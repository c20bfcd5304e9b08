/*
 * Signature ids (Snort, Suricata). Below 1,000,000 is Talos', 2,000,000 to 2,999,999 Emerging Threats'; the highest
 * is 4,294,967,295. From an indicator's number follow up to eight sids, the same for ever; grouped rules have a
 * range of their own.
 */
const FIRST_SID = 3_000_000;
const SIDS_EACH = 8;
const FIRST_GROUP_SID = 4_000_000_000;
/** A rule is a line, and Suricata's may have 8,192 characters: so many IPv6 addresses fit. */
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
