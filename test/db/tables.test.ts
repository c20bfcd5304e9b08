import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';

/** Columns that Kysely's migrations alone read and write. */
const OF_LIBRARIES = /^kysely_\w+\./;

/** The columns that src/db/tables.ts declares, as `table.column`, with ` null` behind those that may be null. */
function declaredColumns(): string[] {
  const text = readFileSync(new URL('../../src/db/tables.ts', import.meta.url), 'utf8').replaceAll(
    /\/\*\*.*?\*\//gs,
    '',
  );
  const [, body = ''] = /export interface Tables \{\n(.*?)\n\}\n/s.exec(text) ?? [];
  return [...body.matchAll(/^ {2}(\w+): \{(.*?)\};$/gms)].flatMap(([, table, columns = '']) =>
    columns
      .replaceAll(/\{[^{}]*\}/g, 'object')
      .split(';')
      .map((column) => /^\s*(\w+): (.*)$/s.exec(column))
      .filter((column) => column !== null)
      .map(([, name, type = '']) => `${table}.${name}${/\| null|NullableJsonb/.test(type) ? ' null' : ''}`),
  );
}

onEveryEngine((engine) => {
  it('tables.ts declares the columns that the migrations create', async () => {
    const { db, close } = await engine.open();
    const { rows } = await sql<{ column: string }>`
      select table_name || '.' || column_name || (case is_nullable when 'YES' then ' null' else '' end) as column
      from information_schema.columns where table_schema = 'public'
    `.execute(db);
    const declared = declaredColumns();
    expect(declared.length).toBeGreaterThan(150);
    const made = rows.map(({ column }) => column).filter((column) => !OF_LIBRARIES.test(column));
    expect(declared.sort()).toEqual(made.sort());
    await close();
  });
});
