/** Rows in the text format of PostgreSQL's COPY (its manual, COPY, "Text Format"), in UTF-8. */
export interface CopiedRows {
  readonly bytes: Buffer;
  /**
   * The start of each row and the position of its line feed, alternating. Bytes between two rows belong to
   * neither.
   */
  readonly places: readonly number[];
}
