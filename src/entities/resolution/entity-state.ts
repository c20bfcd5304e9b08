import type { Tlp } from '../../model/vocabulary.ts';

/** A column's value, as JSON. */
export type Json = string | number | boolean | null | readonly unknown[];
/** The values of a record by the columns of its table. */
export type Columns = Record<string, Json>;

/** The statements of a source for one audience (TLP), merged over time: the latest value of each column. */
export interface AudienceState {
  tlp: Tlp;
  /** Time of the latest statement in Unix milliseconds; null: undated, which counts as before any date. */
  at: number | null;
  /** That of the latest statement. */
  confidence: number;
  /** The aliases include the object's own name. */
  columns: Columns;
  /** The times of columns whose value is older than `at`. */
  times: Record<string, number | null>;
}

/** The state of an object as a source states it, or the resolved state of an entity. */
export interface EntityState {
  id: string;
  sourceId: string;
  statedAt: Date | null;
  tlp: Tlp;
  confidence: number;
  columns: Columns;
  /**
   * The statements by audience and time; absent if everything was stated at once, for the audience of `tlp`.
   */
  parts?: AudienceState[];
}
