import { type RawBuilder, sql } from 'kysely';

/** The type of a column as PostgreSQL names it. Values of `timestamptz` are dates, those of `jsonb` are what JSON can hold. */
export type ColumnType =
  | 'bigint'
  | 'boolean'
  | 'jsonb'
  | 'smallint'
  | 'text'
  | 'text[]'
  | 'timestamptz'
  | 'uuid'
  | 'uuid[]'
  | 'entity_kind'
  | 'indicator_type'
  | 'relationship_type'
  | 'severity'
  | 'tlp';

/** How an array of values of a type is sent, and how PostgreSQL makes the values of its elements. */
interface Sending {
  type: string;
  value(element: RawBuilder<unknown>): RawBuilder<unknown>;
}

const AS_SECONDS: Sending = { type: 'float8', value: (seconds) => sql`to_timestamp(${seconds})` };
/** Up to here a double holds microseconds exactly enough, in seconds: since 1970, as they are sent, and since 2000, as `to_timestamp` stores them. */
const MAX_SECONDS = 2 ** 32;
const FROM_1970_TO_2000 = 946_684_800;

/** Those that are not sent as arrays of their own: the arrays within one array would have to be of one length. */
const SENDINGS: Partial<Record<ColumnType, Sending>> = {
  timestamptz: AS_SECONDS,
  jsonb: { type: 'text', value: (text) => sql`${text}::jsonb` },
  'text[]': { type: 'text', value: (text) => sql`${text}::text[]` },
  'uuid[]': { type: 'text', value: (text) => sql`${text}::uuid[]` },
};

/**
 * Returns rows as a FROM item with the name `x`. Each column is sent as one array, which PostgreSQL reads in half of the time of JSON.
 * @param columns the names of the columns, which are properties of the rows, and their types
 */
export function recordset<Row>(
  rows: readonly Row[],
  columns: { readonly [Column in keyof Row & string]: ColumnType },
): RawBuilder<unknown> {
  const sent = (Object.keys(columns) as (keyof Row & string)[]).map((name) => {
    const type = columns[name];
    const values = rows.map((row) => row[name]);
    const sending = type === 'timestamptz' && !values.every(isExactInSeconds) ? undefined : SENDINGS[type];
    const text = `{${values.map((value) => elementOf(value, type, sending)).join()}}`;
    return {
      column: sql.ref(name),
      array: sql`${text}::${sql.raw(sending?.type ?? type)}[]`,
      value: sending?.value(sql.ref(name)) ?? sql.ref(name),
    };
  });
  return sql`(select ${sql.join(sent.map(({ value, column }) => sql`${value} as ${column}`))}
    from unnest(${sql.join(sent.map(({ array }) => array))}) as sent (${sql.join(sent.map(({ column }) => column))})) as x`;
}

function isExactInSeconds(date: unknown): boolean {
  if (date === null) return true;
  const seconds = (date as Date).getTime() / 1000;
  return seconds < MAX_SECONDS && seconds - FROM_1970_TO_2000 > -MAX_SECONDS;
}

/** Returns an element of an array in PostgreSQL's text format (section 8.15.6 of its manual). */
function elementOf(value: unknown, type: ColumnType, sending: Sending | undefined): string {
  if (value === null) return 'NULL';
  switch (type) {
    case 'timestamptz':
      return sending ? String((value as Date).getTime() / 1000) : quoted((value as Date).toISOString());
    case 'text':
      return quoted(value as string);
    case 'jsonb':
      return quoted(JSON.stringify(value));
    case 'text[]':
      return quoted(`{${(value as string[]).map(quoted).join()}}`);
    case 'uuid[]':
      return quoted(`{${(value as string[]).join()}}`);
    default:
      return String(value);
  }
}

const SPECIAL = /["\\]/g;
const quoted = (text: string) => `"${text.replace(SPECIAL, '\\$&')}"`;

/** Returns ids as an array. It is sent as a text: the driver would quote each id. */
export const uuidArray = (ids: readonly string[]) => sql<string[]>`${`{${ids.join()}}`}::uuid[]`;
