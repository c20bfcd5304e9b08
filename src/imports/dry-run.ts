import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedIndicator } from '../indicators/state/state.queries.ts';
import type { Statement } from '../model/statement.ts';
import type { Source } from '../sources/store/sources.queries.ts';

/** The indicators that a dry run would have written so far, for repeats in later batches. */
export interface DryRun {
  has(id: string): boolean;
  /** Replaces the indicators from the database by the stored ones with these ids. */
  recall(ids: Iterable<string>, known: Map<string, LoadedIndicator>): void;
  keep(id: string, indicator: LoadedIndicator): void;
  /** Frees the space of the file. */
  close(): void;
}

const DATES = ['statedAt', 'firstSeen', 'lastSeen', 'importedAt', 'expiresAt', 'delistedAt'];
const FIRST_CAPACITY = 1 << 10;

/**
 * Stores the indicators as JSON in an unlinked file, because the file that is imported may have millions. In memory are eight bytes of
 * each, in a table at most two thirds full. Counting needs only the statements of this source.
 * @param directory for that file
 */
export function createDryRun(source: Source, directory: string): DryRun {
  const texts = createTexts(directory);
  /** Open addressing with linear probing; two words per slot: a part of the id, and the place of the text, 0 if the slot is free. */
  let slots = new Uint32Array(FIRST_CAPACITY * 2);
  let count = 0;
  /** Returns the slot of an id, or the free one that it would take, and its text. */
  function find(id: string): { at: number; text: string | null } {
    const mask = slots.length - 1;
    const part = partOf(id);
    let at = (part * 2) & mask;
    for (; slots[at + 1] !== 0; at = (at + 2) & mask) {
      if (slots[at] !== part) continue;
      const text = texts.read(slots[at + 1] as number);
      if (text.startsWith(id)) return { at, text: text.slice(id.length) };
    }
    return { at, text: null };
  }
  function grow(): void {
    const former = slots;
    slots = new Uint32Array(former.length * 2);
    const mask = slots.length - 1;
    for (let from = 0; from < former.length; from += 2) {
      const place = former[from + 1] as number;
      if (place === 0) continue;
      let at = ((former[from] as number) * 2) & mask;
      while (slots[at + 1] !== 0) at = (at + 2) & mask;
      slots[at] = former[from] as number;
      slots[at + 1] = place;
    }
  }
  return {
    has: (id) => find(id).text !== null,
    recall(ids, known) {
      for (const id of ids) {
        const { text } = find(id);
        if (text !== null) known.set(id, unpack(text, source));
      }
    },
    keep(id, { type, normalized, value, externalIds, statements }) {
      if (count * 3 >= slots.length) grow();
      const { source: _, ...statement } = statements.get(source.id) ?? {};
      const packed = JSON.stringify({ type, normalized, value, externalIds: [...externalIds], statement });
      const { at, text } = find(id);
      if (text === null) count++;
      slots[at] = partOf(id);
      slots[at + 1] = texts.add(id + packed);
    },
    close: texts.close,
  };
}

/** Ids are UUIDv5: their first digits are those of a digest. */
const partOf = (id: string) => Number.parseInt(id.slice(0, 8), 16);

/** Places are multiples of this, so that 32 bits suffice for a file of 128 GB. */
const UNIT = 32;
const LENGTH_BYTES = 4;
const TAIL_BYTES = 1024 * 1024;

/** Texts in an unlinked file, whose end is in memory until it is long enough to be written. */
function createTexts(directory: string) {
  let file: number | null = null;
  /** The first unit has no text, so that no place is 0. */
  let written = UNIT;
  let tail = Buffer.alloc(TAIL_BYTES);
  let used = 0;
  function flush(): void {
    file ??= openUnlinked(directory);
    for (let from = 0; from < used; ) from += writeSync(file, tail, from, used - from, written + from);
    written += used;
    used = 0;
  }
  function bytesAt(place: number, length: number): Buffer {
    const at = place - written;
    if (at >= 0) return tail.subarray(at, at + length);
    const bytes = Buffer.alloc(length);
    readSync(file as number, bytes, 0, length, place);
    return bytes;
  }
  return {
    /** Returns its place, in units. */
    add(text: string): number {
      const length = Buffer.byteLength(text);
      const size = Math.ceil((LENGTH_BYTES + length) / UNIT) * UNIT;
      if (used + size > tail.length) flush();
      if (size > tail.length) tail = Buffer.alloc(size);
      const place = written + used;
      tail.writeUInt32LE(length, used);
      tail.write(text, used + LENGTH_BYTES);
      used += size;
      return place / UNIT;
    },
    read(unit: number): string {
      const place = unit * UNIT;
      const length = bytesAt(place, LENGTH_BYTES).readUInt32LE();
      return bytesAt(place + LENGTH_BYTES, length).toString();
    },
    close(): void {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}

function openUnlinked(directory: string): number {
  const own = mkdtempSync(join(directory, 'tipline-'));
  try {
    return openSync(join(own, 'dry-run'), 'wx+', 0o600);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

function unpack(packed: string, source: Source): LoadedIndicator {
  const { externalIds, statement, ...identity } = JSON.parse(packed, (key, field) =>
    DATES.includes(key) && field !== null ? new Date(field) : field,
  ) as Pick<LoadedIndicator, 'type' | 'normalized' | 'value'> & {
    externalIds: string[];
    statement: Statement;
  };
  return {
    stored: null,
    pinned: null,
    lastSource: null,
    scores: [],
    externalIds: new Set(externalIds),
    statements: new Map([[source.id, { source, ...statement }]]),
    ...identity,
  };
}
