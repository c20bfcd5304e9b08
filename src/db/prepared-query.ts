import type { CompiledQuery } from 'kysely';

/** How PostgreSQL runs a statement that is sent often. The embedded database ignores it. */
export interface Preparation {
  /**
   * Name of the server's prepared statement (`pg_prepared_statements`); lower-case letters and underscores.
   */
  name: string;
  /** `generic`: planned once, for any parameters. `custom`: planned for the parameters of each execution. */
  plan: 'generic' | 'custom';
  /** PostgreSQL returns each row as a `RawRow`. */
  isRaw?: boolean;
}

export interface PreparedQuery<Row> extends CompiledQuery<Row> {
  readonly preparation?: Preparation;
}

export function prepare<Row>(query: CompiledQuery<Row>, preparation: Preparation): PreparedQuery<Row> {
  return { ...query, preparation };
}

/**
 * A row as the texts that PostgreSQL sent, by the names of its columns: parsing columns that are never read
 * would cost more than reading the row.
 */
export class RawRow {
  readonly #texts: readonly (string | null)[];
  readonly #places: Readonly<Record<string, number>>;

  /** @param places index of the text of each column */
  constructor(texts: readonly (string | null)[], places: Readonly<Record<string, number>>) {
    this.#texts = texts;
    this.#places = places;
  }

  /** @throws {RangeError} for a column that the statement does not return */
  text(column: string): string | null {
    const text = this.#texts[this.#places[column] ?? -1];
    if (text === undefined) throw new RangeError(`there is no column ${column}`);
    return text;
  }
}
