/**
 * Parses a query string by the URL standard (application/x-www-form-urlencoded). Parsing never fails: invalid
 * percent-encoding is taken literally. A repeated name becomes a list, which only list parameters accept.
 */
export function parseQuerystring(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const before = query[name];
    if (before === undefined) query[name] = value;
    else if (typeof before === 'string') query[name] = [before, value];
    else before.push(value);
  }
  return query;
}
