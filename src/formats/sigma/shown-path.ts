/** How an event shows a file. */
export interface ShownPath {
  path: string;
  /** Otherwise it is the end of one. */
  isWhole: boolean;
}
