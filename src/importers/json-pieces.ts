export interface JsonLimits {
  /** Names of the root's members whose arrays are read element by element; a root array always is. */
  lists: readonly string[];
  /**
   * Replaces `lists`: the member names that lead to the one list, or object, whose elements or members are
   * the records; empty for the root itself.
   */
  path?: readonly string[];
  /** The largest record in bytes; a larger one is skipped without being kept. */
  maxBytes: number;
  /** The deepest nesting of brackets in one record. */
  maxDepth: number;
}

/** One record, unchanged from the file. */
export interface JsonPiece {
  number: number;
  /** The member's name, when the records are members of an object. */
  key: string | null;
  /** The position of its first byte in the text. */
  offset: number;
  bytes: Buffer;
  problem: 'too large' | 'too deep' | null;
}

/** Collects the bytes of one piece of JSON over chunks, up to a cap. */
export class PieceBuffer {
  complete = false;
  private readonly maxBytes: number;
  private parts: Buffer[] = [];
  private size = 0;
  private offset = 0;
  private problem: JsonPiece['problem'] = null;
  /** Where the piece continues in the present chunk; -1: not open. */
  private from = -1;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  open(offset: number, at: number) {
    this.offset = offset;
    this.parts = [];
    this.size = 0;
    this.problem = null;
    this.from = at;
  }

  isFull(at: number): boolean {
    return this.problem === null && this.size + at - this.from >= this.maxBytes;
  }

  /** Discards the bytes of this piece and records the reason. */
  drop(problem: 'too large' | 'too deep') {
    this.problem ??= problem;
    this.parts = [];
  }

  /** Stores the bytes of the chunk up to `end`; the piece continues after `resume`. */
  pause(chunk: Buffer, end: number) {
    if (this.from < 0) return;
    if (this.problem === null) this.parts.push(chunk.subarray(this.from, end));
    this.size += end - this.from;
    this.from = -1;
  }

  resume(at: number) {
    this.from = at;
  }

  /** Stores the open piece's part of the chunk, which ends. */
  endChunk(chunk: Buffer) {
    if (this.from >= 0) {
      this.pause(chunk, chunk.length);
      this.from = 0;
    }
    if (this.parts.length > 1) this.compact();
  }

  close(chunk: Buffer, end: number) {
    this.pause(chunk, end);
    this.complete = true;
  }

  take(number: number, key: string | null = null): JsonPiece {
    const bytes = this.parts.length === 1 ? (this.parts[0] ?? Buffer.alloc(0)) : Buffer.concat(this.parts);
    this.parts = [];
    this.complete = false;
    return { number, key, offset: this.offset, bytes, problem: this.problem };
  }

  /** Many small remainders (a stream that comes byte by byte) are joined at doubling sizes. */
  private compact() {
    for (let last = this.parts.length - 1; last > 0; last--) {
      const [before, after] = [this.parts[last - 1], this.parts[last]];
      if (!before || !after || before.length > 2 * after.length) return;
      this.parts.splice(last - 1, 2, Buffer.concat([before, after]));
    }
  }
}
