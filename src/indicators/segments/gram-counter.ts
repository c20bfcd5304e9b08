import { isSurrogate } from '../../model/grams.ts';

const ASCII = 128;
/** The slot of a single character, or of two, of ASCII. */
const slotOfAscii = (first: number, second: number) => first * (ASCII + 1) + second + 1;
const SLOTS_OF_ASCII = ASCII * (ASCII + 1);
const NONE = -1;
const TLPS = 5;

/** A text of one or two characters, and what contains it. */
export interface CountedGram {
  gram: string;
  /** By TLP. */
  counts: number[];
  /** The numbers of the texts that contain it and were seen after `newerThan`. */
  numbers: number[];
  /** In milliseconds since 1970. */
  newerThan: number;
}

interface Listed {
  number: number;
  seen: number;
}

/**
 * Counts the texts that contain each text of one or two characters. Characters outside the Basic Multilingual Plane, two UTF-16 units
 * each, are left out.
 * @param kept how many of the latest texts it lists for each, up to twice as many
 */
export function createGramCounter(kept: number) {
  let counts = new Int32Array(TLPS * SLOTS_OF_ASCII);
  /** The last text in which each was found: a text counts once. */
  let foundIn = new Int32Array(SLOTS_OF_ASCII);
  const listed: (Listed[] | undefined)[] = [];
  /** The latest time of a text that is not listed. */
  const newerThan = new Map<number, number>();
  const others = new Map<number, number>();
  let texts = 0;

  function slotOf(first: number, second: number): number {
    if (first < ASCII && second < ASCII) return slotOfAscii(first, second);
    const key = first * 0x20000 + second + 1;
    const known = others.get(key);
    if (known !== undefined) return known;
    const slot = SLOTS_OF_ASCII + others.size;
    others.set(key, slot);
    if (slot >= foundIn.length) {
      counts = grown(counts);
      foundIn = grown(foundIn);
    }
    return slot;
  }

  function add(slot: number, tlp: number, n: number, text: Listed): void {
    if (foundIn[slot] === texts) return;
    foundIn[slot] = texts;
    const place = TLPS * slot + tlp;
    counts[place] = (counts[place] ?? 0) + n;
    if (n < 0 || text.seen <= (newerThan.get(slot) ?? Number.NEGATIVE_INFINITY)) return;
    const list = listed[slot];
    if (list === undefined) listed[slot] = [text];
    else if (list.push(text) === 2 * kept) {
      list.sort((a, b) => b.seen - a.seen);
      const bound = list[kept]?.seen ?? 0;
      newerThan.set(slot, bound);
      listed[slot] = list.filter(({ seen }) => seen > bound);
    }
  }

  function gramOf(slot: number, first: number, second: number): CountedGram | undefined {
    const ofSlot = [...counts.subarray(TLPS * slot, TLPS * (slot + 1))];
    const numbers = (listed[slot] ?? []).map(({ number }) => number);
    if (numbers.length === 0 && ofSlot.every((count) => count === 0)) return undefined;
    const gram = second === NONE ? String.fromCharCode(first) : String.fromCharCode(first, second);
    return { gram, counts: ofSlot, numbers, newerThan: newerThan.get(slot) ?? Number.NEGATIVE_INFINITY };
  }

  return {
    /** @param n 1 to count the text, -1 to subtract it */
    count(text: string, tlp: number, n: number, row: Listed): void {
      texts++;
      let previous = NONE;
      for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        if (isSurrogate(unit)) previous = NONE;
        else {
          add(slotOf(unit, NONE), tlp, n, row);
          if (previous !== NONE) add(slotOf(previous, unit), tlp, n, row);
          previous = unit;
        }
      }
    },
    *grams(): Generator<CountedGram> {
      for (let first = 0; first < ASCII; first++)
        for (let second = NONE; second < ASCII; second++) {
          const gram = gramOf(slotOfAscii(first, second), first, second);
          if (gram) yield gram;
        }
      for (const [key, slot] of others) {
        const gram = gramOf(slot, Math.floor(key / 0x20000), (key % 0x20000) - 1);
        if (gram) yield gram;
      }
    },
  };
}

function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * array.length);
  larger.set(array);
  return larger;
}
