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
