/** The command is wrong, in a way that its options do not tell by themselves. */
export class UsageError extends Error {
  override name = 'UsageError';
}
