/**
 * The query string by the URL standard (application/x-www-form-urlencoded parsing). It never fails: what is not
 * valid percent-encoding stands for itself. Repeated names become a list, which no parameter accepts.
 */
export function parseQuerystring(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const before = query[name];
    query[name] = before === undefined ? value : [before, value].flat();
  }
  return query;
}
