/** Visible under a ceiling ($1: the markings allowed), said in other words than the product's own. */
const SEEN = `not whitelisted and coalesce(expires_at, 'infinity') > now() and tlp::text = any ($1)`;
const HAS = `strpos(lower(normalized), $2) > 0`;

/** The kinds of list that are compared: `paths`, and `count`, the SQL of the total and what it is asked about. */
export function kinds({ q3, q8, q12, commonTag, rareTag }, visible) {
  const list = (name, query, where = 'true', value = undefined) => ({
    name,
    paths: [`/api/v1/indicators?pageSize=100${query}`],
    count: { where: `${SEEN} and ${where}`, values: value === undefined ? [] : [value] },
  });
  return [
    list('list, first page of 100', ''),
    list('list, one type', '&type=IPV4', `type = 'IPV4'`),
    list('list, one severity', '&severity=HIGH', `severity = 'HIGH'`),
    list('list, a rare tag', `&tag=${rareTag}`, `$2 = any (tags)`, rareTag),
    list('list, a common tag', `&tag=${commonTag}`, `$2 = any (tags)`, commonTag),
    list('list, q of 3 characters', `&q=${q3}`, HAS, q3),
    list('list, q of 8 characters', `&q=${q8}`, HAS, q8),
    list('list, q of 12 characters', `&q=${q12}`, HAS, q12),
    list('list, last page', `&page=${Math.ceil(visible / 100)}`),
  ];
}

export { SEEN };
