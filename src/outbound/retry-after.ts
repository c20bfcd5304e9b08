const SOONEST_MS = 1_000;
/**
 * No documented quota takes longer to reset; a mistaken or malicious header must not stop requests
 * permanently.
 */
const LATEST_MS = 24 * 3_600_000;

/**
 * Returns the time from which a server that answered 429 or 503 accepts requests again: from `Retry-After` in
 * seconds or as a date (RFC 9110 §10.2.3), else from the server's own header in Unix seconds. Between a
 * second and a day from now.
 * @param headers by their names in lower case
 * @param resetHeader in lower case
 * @returns null when no header states a time
 */
export function retryAfter(
  headers: Readonly<Record<string, string>>,
  resetHeader: string | undefined,
  now: Date,
): Date | null {
  const at = now.getTime();
  const wanted =
    momentOf(headers['retry-after'], at) ??
    unixMoment(resetHeader === undefined ? undefined : headers[resetHeader]);
  if (wanted === null) return null;
  return new Date(Math.min(at + LATEST_MS, Math.max(at + SOONEST_MS, wanted)));
}

function momentOf(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,15}$/.test(text)) return now + Number(text) * 1_000;
  // Date.parse accepts nearly any text as a date.
  if (!/^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)) return null;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? null : moment;
}

function unixMoment(header: string | undefined): number | null {
  const text = header?.trim() ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) * 1_000 : null;
}
