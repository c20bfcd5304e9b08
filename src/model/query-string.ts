/**
 * Returns a query string with the parameters of another, which replace those with the same names. `type` and `types`
 * select the same.
 */
export function withParameters(query: string, others: string): string {
  const names = new Set(partsOf(others).map(nameOf));
  return [...partsOf(query).filter((part) => !names.has(nameOf(part))), ...partsOf(others)].join('&');
}

const partsOf = (query: string) => query.split('&').filter((part) => part !== '');

function nameOf(part: string): string | undefined {
  const name = part.split('=', 1)[0];
  return name === 'types' ? 'type' : name;
}
