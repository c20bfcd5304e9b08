export interface RunningServer {
  /** Where it answers, for a person: http://host:port. */
  address: string;
  storage: string;
  /** Where the first administrator makes an account, once and within the hour; null: there is one already. */
  firstStart: string | null;
}
