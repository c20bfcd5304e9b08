/** `tip_` and what follows, each letter of it percent-encoded or not (RFC 3986 §2.1). */
const KEY = /(?:t|%74)(?:i|%69)(?:p|%70)(?:_|%5f)[A-Za-z0-9_%-]{8,}/gi;

/** Text for the log, without API keys. */
export function redactKeys(text: string): string {
  return text.replace(KEY, '[key]');
}
