import { sql } from 'kysely';

/**
 * Returns an expression that orders names in the same way under every locale of the database: by code point,
 * regardless of the case of ASCII letters. The database's own lower() and its collation depend on the locale.
 */
export function caseInsensitive(column: string) {
  return sql`lower(${sql.ref(column)} collate "C")`;
}
