/**
 * Returns a query string with the parameters of another, which replace those with the same names. `type` and `types`
 * select the same.
 */
export function withParameters(query: string, others: string): string {
  const names = new Set(partsOf(others).map(nameOf));
  return [...partsOf(query).filter((part) => !names.has(nameOf(part))), ...partsOf(others)].join('&');
}

/** Returns a query string without the parameters that another has with the same values. */
export function withoutParameters(query: string, others: string): string {
  const parts = new Set(partsOf(others));
  return partsOf(query)
    .filter((part) => !parts.has(part))
    .join('&');
}

const partsOf = (query: string) => query.split('&').filter((part) => part !== '');

function nameOf(part: string): string | undefined {
  const name = part.split('=', 1)[0];
  return name === 'types' ? 'type' : name;
}
