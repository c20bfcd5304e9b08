/** `tip_` and the characters of the key, each of them percent-encoded or not (RFC 3986 §2.1). */
const KEY = /(?:t|%74)(?:i|%69)(?:p|%70)(?:_|%5f)[A-Za-z0-9_%-]{8,}/gi;

/** Returns the text for the log, with API keys replaced. */
export function redactKeys(text: string): string {
  return text.replace(KEY, '[key]');
}
