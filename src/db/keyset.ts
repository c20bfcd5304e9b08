/** Sorts before all ids. */
export const BEFORE_ALL_IDS = '00000000-0000-0000-0000-000000000000';

/**
 * Reads pages of rows in the order of their ids, each from the last id of the page before it. Rows that change
 * meanwhile are neither skipped nor repeated, because their ids stay.
 * @param read returns the rows after an id
 * @param lastOf returns the last id of a page; undefined ends the walk, without that page
 */
export async function* keysetPages<Page>(
  read: (after: string) => Promise<Page>,
  lastOf: (page: Page) => string | undefined,
): AsyncGenerator<Page> {
  for (let after: string | undefined = BEFORE_ALL_IDS; after !== undefined; ) {
    const page = await read(after);
    after = lastOf(page);
    if (after !== undefined) yield page;
  }
}

/** Reads pages of ids. */
export function idPages(read: (after: string) => Promise<string[]>): AsyncGenerator<string[]> {
  return keysetPages(read, (ids) => ids.at(-1));
}
