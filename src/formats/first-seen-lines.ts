import { hash } from 'node:crypto';

const FIRST_CAPACITY = 1 << 10;

/**
 * Tells whether a line comes for the first time. It keeps eight bytes of each line's hash in a table at most two
 * thirds full: 16 MB for a million lines, whatever their length. Of a million lines, the chance that any two
 * different ones are taken for one is 1 in 30 million.
 */
export function firstSeenLines(): (line: string) => boolean {
  let slots = new BigUint64Array(FIRST_CAPACITY);
  let count = 0;
  return (line) => {
    if (count * 3 >= slots.length * 2) slots = doubled(slots);
    const isNew = add(slots, digestOf(line));
    if (isNew) count++;
    return isNew;
  };
}

function doubled(slots: BigUint64Array): BigUint64Array<ArrayBuffer> {
  const larger = new BigUint64Array(slots.length * 2);
  for (const digest of slots) if (digest !== 0n) add(larger, digest);
  return larger;
}

/** Open addressing, linear probing; 0 marks a free slot. */
function add(slots: BigUint64Array, digest: bigint): boolean {
  const mask = slots.length - 1;
  let slot = Number(digest & BigInt(mask));
  for (let held = slots[slot]; held !== 0n; held = slots[slot]) {
    if (held === digest) return false;
    slot = (slot + 1) & mask;
  }
  slots[slot] = digest;
  return true;
}

/** Of a hash that nobody can choose collisions for: a crafted URL must not push another off the list. */
function digestOf(line: string): bigint {
  return hash('sha256', line, 'buffer').readBigUInt64LE() || 1n;
}
