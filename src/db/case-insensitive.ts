import { sql } from 'kysely';

/**
 * Names in order whatever the database's locale: by code point, with the case of ASCII letters let go. The
 * database's own lower() and its collation depend on the locale.
 */
export function inOrder(column: string) {
  return sql`lower(${sql.ref(column)} collate "C")`;
}
