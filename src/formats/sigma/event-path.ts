/** The path of a file as an event shows it. */
export interface EventPath {
  path: string;
  /** false: it is the end of a path. */
  isWhole: boolean;
}
