/**
 * The query string by the URL standard (application/x-www-form-urlencoded parsing). It never fails: what is not
 * valid percent-encoding stands for itself. Repeated names become a list, which only parameters that are lists accept.
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
