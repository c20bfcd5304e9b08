import { UnreadableInput } from './importer.ts';
import type { JsonLimits, JsonPiece } from './json-pieces.ts';
import { PieceBuffer } from './json-pieces.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Longer member names are neither names of lists nor values that are used as names. */
const MAX_KEY_BYTES = 8192;

/**
 * The scanner's position in the file. The names and colons are those of an object whose members are records.
 */
type Place =
  | 'before'
  | 'root'
  | 'value'
  | 'value or end'
  | 'name'
  | 'name or end'
  | 'in name'
  | 'colon'
  | 'record'
  | 'scalar'
  | 'comma or end'
  | 'after';

/**
 * Cuts JSON text into records by its brackets, quotes and commas, across chunk borders. It keeps the bytes of
 * one record, and those of the root around the lists. JSON.parse decides whether a piece is JSON: the
 * splitter only has to be right about valid text, and to terminate on any other.
 */
export class JsonSplitter {
  private readonly limits: JsonLimits;
  /** The paths to the lists of records. */
  private readonly paths: readonly (readonly string[])[];
  /** The depth of the longest path: deeper names are irrelevant. */
  private readonly deepest: number;
  private readonly root: PieceBuffer;
  private readonly record: PieceBuffer;
  private place: Place = 'before';
  /** The nesting depth in the open record or, in the root, in the root. */
  private depth = 0;
  private inString = false;
  private escaped = false;
  private rootIsRecords = false;
  /** The records are members of an object, not elements of a list. */
  private inMembers = false;
  private number = 0;
  /** Bytes before the present chunk. */
  private base = 0;
  private chunk: Buffer = Buffer.alloc(0);
  /** The string just read in the root; `keys` holds the names before the colons, by depth. */
  private lastString: number[] = [];
  private keys: string[] = [];
  /** The depth in the root of the list that is being read. */
  private listDepth = 0;
  private memberName: string | null = null;

  constructor(limits: JsonLimits) {
    this.limits = limits;
    this.paths = limits.path === undefined ? limits.lists.map((name) => [name]) : [limits.path];
    this.deepest = Math.max(1, ...this.paths.map((path) => path.length));
    this.root = new PieceBuffer(limits.maxBytes);
    this.record = new PieceBuffer(limits.maxBytes);
  }

  *push(chunk: Buffer): Generator<JsonPiece> {
    this.chunk = chunk;
    let i = 0;
    while (i < chunk.length) {
      if (this.place === 'record') i = this.scanRecord(i);
      else if (this.place === 'root') i = this.scanRoot(i);
      else if (this.place === 'in name') i = this.scanName(i);
      else i = this.step(i);
      if (this.record.complete) yield this.record.take(this.number, this.memberName);
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
    if (!this.rootIsRecords) yield this.root.take(0);
  }

  /** Scans from inside a record to its end or the chunk's; the hot loop. */
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

  /** Scans a byte of a string that may be a name, and keeps it. */
  private scanNameByte(byte: number) {
    this.scanStringByte(byte);
    if (this.inString && this.lastString.length < MAX_KEY_BYTES) this.lastString.push(byte);
  }

  private endRecord(end: number): number {
    this.record.close(this.chunk, end);
    this.place = 'comma or end';
    return end;
  }

  /** Scans the root outside its lists for a member that is one of the lists. */
  private scanRoot(from: number): number {
    const { chunk } = this;
    for (let i = from; i < chunk.length; i++) {
      const byte = chunk[i] ?? 0;
      const mayLead = this.depth <= this.deepest;
      if (this.inString) {
        if (mayLead) this.scanNameByte(byte);
        else this.scanStringByte(byte);
      } else if (byte === QUOTE) {
        this.inString = true;
        if (mayLead) this.lastString = [];
      } else if (byte === COLON && mayLead) this.keys[this.depth - 1] = keyText(this.lastString);
      else if (byte === COMMA && mayLead) this.keys.length = this.depth - 1;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        if (mayLead && this.leadsToRecords(byte)) return this.startRecords(byte, i + 1);
        if (++this.depth > this.limits.maxDepth) this.root.drop('too deep');
        // An element of a list has no name: no path leads through it.
        if (byte === OPEN_LIST && mayLead) this.keys[this.depth - 1] = '';
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        if (--this.depth === 0) return this.endRoot(i + 1);
        if (this.depth <= this.deepest) this.keys.length = this.depth;
      }
      if (this.root.isFull(i)) this.root.drop('too large');
    }
    return chunk.length;
  }

  /** Only an object that `path` leads to may hold records as its members. */
  private leadsToRecords(byte: number): boolean {
    if (byte === OPEN_OBJECT && this.limits.path === undefined) return false;
    if (this.keys.length !== this.depth) return false;
    return this.paths.some(
      (path) => path.length === this.depth && path.every((name, at) => name === this.keys[at]),
    );
  }

  private endRoot(end: number): number {
    this.root.close(this.chunk, end);
    this.place = 'after';
    return end;
  }

  private startRecords(byte: number, next: number): number {
    this.root.pause(this.chunk, next);
    this.listDepth = this.depth;
    this.depth = 0;
    this.inMembers = byte === OPEN_OBJECT;
    this.place = this.inMembers ? 'name or end' : 'value or end';
    return next;
  }

  /** Scans the name of a member that is a record. */
  private scanName(from: number): number {
    for (let i = from; i < this.chunk.length; i++) {
      this.scanNameByte(this.chunk[i] ?? 0);
      if (this.inString) continue;
      this.memberName = keyText(this.lastString);
      this.place = 'colon';
      return i + 1;
    }
    return this.chunk.length;
  }

  /** Handles one byte outside records and the root's own members. */
  private step(i: number): number {
    const byte = this.chunk[i] ?? 0;
    const isSpace = byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
    const close = this.inMembers ? CLOSE_OBJECT : CLOSE_LIST;
    if (this.place === 'scalar') {
      if (!isSpace && byte !== COMMA && byte !== close) {
        if (this.record.isFull(i)) this.record.drop('too large');
        return i + 1;
      }
      return this.endRecord(i);
    }
    if (isSpace) return i + 1;
    if (this.place === 'before') return this.startRoot(byte, i);
    if (this.place === 'comma or end' && byte === COMMA)
      return this.expect(this.inMembers ? 'name' : 'value', i);
    if (this.place === 'colon' && byte === COLON) return this.expect('value', i);
    if (this.place.endsWith('or end') && byte === close) return this.endRecords(i);
    if (this.place.startsWith('name') && byte === QUOTE) {
      this.lastString = [];
      this.inString = true;
      return this.expect('in name', i);
    }
    if (this.place === 'value' || this.place === 'value or end') return this.startRecord(byte, i);
    throw this.unreadable(i);
  }

  private expect(place: Place, i: number): number {
    this.place = place;
    return i + 1;
  }

  private startRoot(byte: number, i: number): number {
    if (byte !== OPEN_LIST && byte !== OPEN_OBJECT) throw this.unreadable(i);
    const { path } = this.limits;
    this.rootIsRecords = path === undefined ? byte === OPEN_LIST : path.length === 0;
    if (this.rootIsRecords) {
      this.inMembers = byte === OPEN_OBJECT;
      return this.expect(this.inMembers ? 'name or end' : 'value or end', i);
    }
    this.root.open(this.base + i, i);
    this.depth = 1;
    return this.expect('root', i);
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

  private endRecords(i: number): number {
    if (this.rootIsRecords) return this.expect('after', i);
    // The closing bracket is kept with the root's bytes, right after the opening one, so that an empty list
    // remains.
    this.root.resume(i);
    this.depth = this.listDepth;
    this.inMembers = false;
    this.memberName = null;
    return this.expect('root', i);
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
