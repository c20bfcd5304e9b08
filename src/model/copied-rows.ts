/** Rows in the text format of PostgreSQL's COPY (its manual, COPY, "Text Format"), in UTF-8. */
export interface CopiedRows {
  readonly bytes: Buffer;
  /** Where each row begins and where its line feed stands, in turn. What is between two rows is no part of them. */
  readonly places: readonly number[];
}
