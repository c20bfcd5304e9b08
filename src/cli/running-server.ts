export interface RunningServer {
  /** The URL for users, http://host:port. */
  address: string;
  storage: string;
  /**
   * The link that creates the account of the first administrator, once and within one hour. null: an account
   * exists, this is a secondary, or the link could not be stored.
   */
  firstStart: string | null;
}
