/** Text for the log, without API keys. */
export function redactKeys(text: string): string {
  return text.replace(/tip_[A-Za-z0-9_%-]{8,}/g, '[key]');
}
