import { UnreadableInput } from './importer.ts';
import type { JsonLimits, JsonPiece } from './json-piece.ts';
import { PieceBuffer } from './json-piece-buffer.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Longer member names cannot be names of lists. */
const MAX_KEY_BYTES = 64;

/** Where in the file the scanner stands. */
type Place = 'before' | 'root' | 'value' | 'value or end' | 'record' | 'scalar' | 'comma or end' | 'after';

/**
 * Cuts JSON text into records by its brackets, quotes and commas, across chunk borders. It keeps the
 * bytes of one record, and those of the root object around the lists. Whether a piece is JSON is for
 * JSON.parse to say: the splitter only has to be right about valid text, and to end on any other.
 */
export class JsonSplitter {
  private readonly limits: JsonLimits;
  private readonly root: PieceBuffer;
  private readonly record: PieceBuffer;
  private place: Place = 'before';
  /** Of the open record or, in the root, of the root. */
  private depth = 0;
  private inString = false;
  private escaped = false;
  private rootIsList = false;
  private number = 0;
  /** Bytes before the present chunk. */
  private base = 0;
  private chunk: Buffer = Buffer.alloc(0);
  /** The string just read directly in the root object, then the name before the colon. */
  private lastString: number[] = [];
  private key = '';

  constructor(limits: JsonLimits) {
    this.limits = limits;
    this.root = new PieceBuffer(limits.maxBytes);
    this.record = new PieceBuffer(limits.maxBytes);
  }

  *push(chunk: Buffer): Generator<JsonPiece> {
    this.chunk = chunk;
    let i = 0;
    while (i < chunk.length) {
      if (this.place === 'record') i = this.scanRecord(i);
      else if (this.place === 'root') i = this.scanRoot(i);
      else i = this.step(i);
      if (this.record.complete) yield this.record.take(this.number);
    }
    this.record.endChunk(chunk);
    this.root.endChunk(chunk);
    this.base += chunk.length;
  }

  *end(): Generator<JsonPiece> {
    if (this.place === 'before') throw new UnreadableInput('the file is empty');
    if (this.place !== 'after') {
      const where = this.number === 0 ? 'before the first object' : `at or after object ${this.number}`;
      throw new UnreadableInput(`the file ends too early, at byte ${this.base}, ${where}`);
    }
    if (!this.rootIsList) yield this.root.take(0);
  }

  /** From inside a record to its end or the chunk's; the hot loop. */
  private scanRecord(from: number): number {
    const { chunk } = this;
    for (let i = from; i < chunk.length; i++) {
      const byte = chunk[i];
      if (this.inString) {
        this.scanStringByte(byte);
        if (!this.inString && this.depth === 0) return this.endRecord(i + 1);
      } else if (byte === QUOTE) this.inString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        if (++this.depth > this.limits.maxDepth) this.record.drop('too deep');
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        if (--this.depth === 0) return this.endRecord(i + 1);
      }
      if (this.record.isFull(i)) this.record.drop('too large');
    }
    return chunk.length;
  }

  private scanStringByte(byte: number | undefined) {
    if (this.escaped) this.escaped = false;
    else if (byte === BACKSLASH) this.escaped = true;
    else if (byte === QUOTE) this.inString = false;
  }

  private endRecord(end: number): number {
    this.record.close(this.chunk, end);
    this.place = 'comma or end';
    return end;
  }

  /** In the root object, outside its lists: watches for a member that is one of the lists. */
  private scanRoot(from: number): number {
    const { chunk } = this;
    for (let i = from; i < chunk.length; i++) {
      const byte = chunk[i];
      if (this.inString) {
        this.scanStringByte(byte);
        if (this.depth === 1 && this.inString && this.lastString.length < MAX_KEY_BYTES)
          this.lastString.push(byte ?? 0);
      } else if (byte === QUOTE) {
        this.inString = true;
        if (this.depth === 1) this.lastString = [];
      } else if (byte === COLON && this.depth === 1) this.key = keyText(this.lastString);
      else if (byte === COMMA && this.depth === 1) this.key = '';
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        if (byte === OPEN_LIST && this.depth === 1 && this.limits.lists.includes(this.key))
          return this.startList(i + 1);
        if (++this.depth > this.limits.maxDepth) this.root.drop('too deep');
      } else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --this.depth === 0) {
        this.root.close(chunk, i + 1);
        this.place = 'after';
        return i + 1;
      }
      if (this.root.isFull(i)) this.root.drop('too large');
    }
    return chunk.length;
  }

  private startList(next: number): number {
    this.root.pause(this.chunk, next);
    this.depth = 0;
    this.place = 'value or end';
    return next;
  }

  /** One byte outside records and the root's own members. */
  private step(i: number): number {
    const byte = this.chunk[i] ?? 0;
    const isSpace = byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
    if (this.place === 'scalar') {
      if (!isSpace && byte !== COMMA && byte !== CLOSE_LIST) {
        if (this.record.isFull(i)) this.record.drop('too large');
        return i + 1;
      }
      return this.endRecord(i);
    }
    if (isSpace) return i + 1;
    if (this.place === 'before') return this.startRoot(byte, i);
    if (this.place === 'comma or end' && byte === COMMA) {
      this.place = 'value';
      return i + 1;
    }
    if ((this.place === 'comma or end' || this.place === 'value or end') && byte === CLOSE_LIST)
      return this.endList(i);
    if (this.place === 'value' || this.place === 'value or end') return this.startRecord(byte, i);
    throw this.unreadable(i);
  }

  private startRoot(byte: number, i: number): number {
    if (byte === OPEN_LIST) {
      this.rootIsList = true;
      this.place = 'value or end';
    } else if (byte === OPEN_OBJECT) {
      this.root.open(this.base + i, i);
      this.depth = 1;
      this.place = 'root';
    } else throw this.unreadable(i);
    return i + 1;
  }

  private startRecord(byte: number, i: number): number {
    if (byte === COMMA || byte === COLON || byte === CLOSE_OBJECT || byte === CLOSE_LIST)
      throw this.unreadable(i);
    this.number += 1;
    this.record.open(this.base + i, i);
    this.inString = byte === QUOTE;
    this.depth = byte === OPEN_OBJECT || byte === OPEN_LIST ? 1 : 0;
    this.place = this.inString || this.depth === 1 ? 'record' : 'scalar';
    return i + 1;
  }

  private endList(i: number): number {
    if (this.rootIsList) {
      this.place = 'after';
      return i + 1;
    }
    // The closing bracket goes to the root's bytes, right after the opening one: an empty list stays.
    this.root.resume(i);
    this.depth = 1;
    this.key = '';
    this.place = 'root';
    return i + 1;
  }

  private unreadable(i: number): UnreadableInput {
    const after = this.number === 0 ? '' : `, after object ${this.number}`;
    return new UnreadableInput(`not valid JSON at byte ${this.base + i}${after}`);
  }
}

/** A name may be written with escapes (`\u006fbjects`). */
function keyText(bytes: number[]): string {
  try {
    return String(JSON.parse(`"${Buffer.from(bytes).toString('utf8')}"`));
  } catch {
    return '';
  }
}
