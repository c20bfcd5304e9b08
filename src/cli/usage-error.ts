/** Thrown for an invalid command that the option parser does not detect. */
export class UsageError extends Error {
  override name = 'UsageError';
}
