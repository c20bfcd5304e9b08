import { hash } from 'node:crypto';

const FIRST_CAPACITY = 1 << 10;

/**
 * Returns a function that tells whether it receives a line for the first time. It keeps eight bytes of each
 * line's hash in a table at most two thirds full: 16 MB for a million lines, whatever their length. Of a
 * million lines, the chance that any two different ones count as equal is 1 in 30 million.
 */
export function createLineDeduplicator(): (line: string) => boolean {
  let slots = new Uint32Array(FIRST_CAPACITY * 2);
  let count = 0;
  return (line) => {
    if (count * 3 >= slots.length) slots = doubled(slots);
    // A cryptographic hash, because a crafted URL whose hash collides must not push another off the list.
    const digest = hash('sha256', line, 'binary');
    const isNew = add(slots, word(digest, 0) || 1, word(digest, 4));
    if (isNew) count++;
    return isNew;
  };
}

function doubled(slots: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(slots.length * 2);
  for (let at = 0; at < slots.length; at += 2)
    if (slots[at] !== 0) add(larger, slots[at] as number, slots[at + 1] as number);
  return larger;
}

/** Open addressing with linear probing; two words per slot, of which the first is 0 if the slot is free. */
function add(slots: Uint32Array, first: number, second: number): boolean {
  const mask = slots.length - 1;
  let at = (second * 2) & mask;
  for (; slots[at] !== 0; at = (at + 2) & mask) {
    if (slots[at] === first && slots[at + 1] === second) return false;
  }
  slots[at] = first;
  slots[at + 1] = second;
  return true;
}

/** Returns four bytes of a binary string as a number. */
function word(bytes: string, from: number): number {
  return (
    (bytes.charCodeAt(from) |
      (bytes.charCodeAt(from + 1) << 8) |
      (bytes.charCodeAt(from + 2) << 16) |
      (bytes.charCodeAt(from + 3) << 24)) >>>
    0
  );
}
