/**
 * A split block Bloom filter (Apache Parquet format, "Bloom Filter"): blocks of 256 bits, in each of whose eight words a
 * value has one bit, so that a test reads one cache line.
 */
export interface BloomFilter {
  /** Values that were added and were not contained before. */
  readonly added: number;
  /** @param hash of `hashOf` */
  add(hash: number): void;
  /** Whether a value may have been added. false is certain; true is wrong for about 0.2 % of others at two bytes a value. */
  mayHave(hash: number): boolean;
  /** Its content, for `openBloomFilter`. */
  readonly words: SharedWords;
}

/** Worker threads read the same memory. */
export type SharedWords = Uint32Array<SharedArrayBuffer>;

const WORDS_A_BLOCK = 8;
const BITS_A_WORD = 32;
/** Odd numbers that choose the bit of each word (the same specification). */
const SALTS = [
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
] as const;
const HASHES = 2 ** 53;

/** Returns the words of an empty filter of at most so many bytes, and at least one block. */
export function emptyWords(bytes: number): SharedWords {
  const blockBytes = WORDS_A_BLOCK * Uint32Array.BYTES_PER_ELEMENT;
  const blocks = Math.max(1, Math.floor(bytes / blockBytes));
  return new Uint32Array(new SharedArrayBuffer(blocks * blockBytes));
}

/** Opens a filter with this content. */
export function openBloomFilter(words: SharedWords, added = 0): BloomFilter {
  const blocks = words.length / WORDS_A_BLOCK;
  const startOf = (hash: number) => Math.floor((hash / HASHES) * blocks) * WORDS_A_BLOCK;
  return {
    words,
    get added() {
      return added;
    },
    add(hash) {
      const start = startOf(hash);
      let isNew = false;
      for (let word = 0; word < WORDS_A_BLOCK; word++) {
        const before = words[start + word] as number;
        const after = before | bitOf(hash, word);
        if (before === after >>> 0) continue;
        words[start + word] = after;
        isNew = true;
      }
      if (isNew) added++;
    },
    mayHave(hash) {
      const start = startOf(hash);
      for (let word = 0; word < WORDS_A_BLOCK; word++)
        if (((words[start + word] as number) & bitOf(hash, word)) === 0) return false;
      return true;
    },
  };
}

const bitOf = (hash: number, word: number): number =>
  1 << (Math.imul(hash, SALTS[word] as number) >>> (BITS_A_WORD - 5));

/** Returns a hash of a text, or of the part of it from `start` to `end`, from 0 up to 2^53. */
export function hashOf(text: string, seed: number, start = 0, end = text.length): number {
  let [low, high] = [seed ^ 0x811c9dc5, seed ^ 0x2545f491];
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 0x9e3779b1);
    high = Math.imul(high ^ code, 0x85ebca77);
  }
  return (mixed(high ^ Math.imul(low, 0xc2b2ae3d)) >>> 11) * 2 ** 32 + (mixed(low) >>> 0);
}

/** The finalizer of MurmurHash3: each bit of a number changes about half of the bits of the result. */
function mixed(number: number): number {
  const once = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}
