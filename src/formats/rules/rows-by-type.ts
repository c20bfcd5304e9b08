import type { IndicatorType } from '../../model/vocabulary.ts';
import type { ExportIndicator } from '../format.ts';
import type { ArchiveFile } from '../zip.ts';

type Rows = readonly ExportIndicator[];

/** Returns a function that reads the next rows, which are ordered by type, as long as they are of these types. */
export function rowsByType(
  batches: AsyncIterable<Rows>,
): (...types: IndicatorType[]) => AsyncGenerator<Rows> {
  const reader = batches[Symbol.asyncIterator]();
  let rows: Rows = [];
  return async function* of(...types) {
    for (;;) {
      if (rows.length === 0) {
        const { value, done } = await reader.next();
        if (done) return;
        rows = value;
        continue;
      }
      const end = rows.findIndex(({ type }) => !types.includes(type));
      const own = end < 0 ? rows : rows.slice(0, end);
      rows = end < 0 ? [] : rows.slice(end);
      if (own.length > 0) yield own;
      if (end >= 0) return;
    }
  };
}

/**
 * Yields a file with a line for each row, or nothing if there are none.
 * @param toLine returns '' for a row that the list cannot hold
 */
export async function* listFile(
  name: string,
  rows: AsyncIterable<Rows>,
  toLine: (row: ExportIndicator) => string,
): AsyncGenerator<ArchiveFile> {
  async function* texts() {
    for await (const batch of rows) {
      const text = batch.map(toLine).join('');
      if (text !== '') yield text;
    }
  }
  const pieces = texts();
  const first = await pieces.next();
  if (first.done) return;
  async function* all() {
    yield first.value as string;
    yield* pieces;
  }
  yield { name, pieces: all() };
}
