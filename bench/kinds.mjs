/** The predicate of visible indicators; $1: the allowed TLP labels. Written independently of Tipline's own predicate. */
export const VISIBLE = `not whitelisted and coalesce(expires_at, 'infinity') > now() and tlp::text = any ($1)`;
const CONTAINS = `strpos(lower(normalized), $2) > 0`;

/** Returns the kinds of list to compare: `paths`, and `count`, the SQL predicate of the total with its parameters. */
export function kinds({ q3, q8, q12, commonTag, rareTag }, visible) {
  const list = (name, query, where = 'true', value = undefined) => ({
    name,
    paths: [`/api/v1/indicators?pageSize=100${query}`],
    count: { where: `${VISIBLE} and ${where}`, values: value === undefined ? [] : [value] },
  });
  return [
    list('list, first page of 100', ''),
    list('list, one type', '&type=IPV4', `type = 'IPV4'`),
    list('list, one severity', '&severity=HIGH', `severity = 'HIGH'`),
    list('list, a rare tag', `&tag=${rareTag}`, `$2 = any (tags)`, rareTag),
    list('list, a common tag', `&tag=${commonTag}`, `$2 = any (tags)`, commonTag),
    list('list, q of 3 characters', `&q=${q3}`, CONTAINS, q3),
    list('list, q of 8 characters', `&q=${q8}`, CONTAINS, q8),
    list('list, q of 12 characters', `&q=${q12}`, CONTAINS, q12),
    list('list, last page', `&page=${Math.ceil(visible / 100)}`),
  ];
}
