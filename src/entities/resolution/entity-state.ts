import type { Tlp } from '../../model/vocabulary.ts';

/** A column's value, as JSON. */
export type Json = string | number | boolean | null | readonly unknown[];
/** What a record says, by the columns of its table. */
export type Columns = Record<string, Json>;

/** What a source said to one audience, over time: of each column the latest value. */
export interface Part {
  tlp: Tlp;
  /** When it last said something, in ms; null: undated, before all else. */
  at: number | null;
  /** As said last. */
  confidence: number;
  /** The names hold the object's own one too. */
  columns: Columns;
  /** Of columns whose value is older than `at`. */
  times: Record<string, number | null>;
}

/** What a source says of an object; or what is shown of one. */
export interface EntityState {
  id: string;
  sourceId: string;
  statedAt: Date | null;
  tlp: Tlp;
  confidence: number;
  columns: Columns;
  /** What was said to whom and when; absent where all of it was said at once, to those who hear it now. */
  parts?: Part[];
}
