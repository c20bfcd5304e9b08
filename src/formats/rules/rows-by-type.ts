import type { IndicatorType } from '../../model/vocabulary.ts';
import type { ExportIndicator } from '../format.ts';
import type { Skipped } from '../skipped.ts';
import type { ArchiveFile } from '../zip.ts';
import { indicatorRules } from './rule-file.ts';

type Rows = readonly ExportIndicator[];

/** Yields the next rows, which are ordered by type, as long as they are of these types. */
export type RowsOf = (...types: IndicatorType[]) => AsyncGenerator<Rows>;

/** Yields files that are made of the rows of one type after another, and then closes the rows. */
export async function* filesByType(
  batches: AsyncIterable<Rows>,
  files: (of: RowsOf) => AsyncGenerator<ArchiveFile>,
): AsyncGenerator<ArchiveFile> {
  const reader = batches[Symbol.asyncIterator]();
  let rows: Rows = [];
  async function* of(...types: IndicatorType[]) {
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
  }
  try {
    yield* files(of);
  } finally {
    await reader.return?.();
  }
}

/**
 * Yields the rules of rows that no list can hold, and then the comment about those that are left out.
 * @param rulesOf returns none for a row that no rule can match
 */
export async function* ruleTexts(
  rows: AsyncIterable<Rows>,
  rulesOf: (row: ExportIndicator) => string[],
  skipped: Skipped,
): AsyncGenerator<string> {
  for await (const batch of rows) {
    let text = '';
    for (const row of batch) {
      text += indicatorRules(row, rulesOf, skipped, 'not-http').join('');
    }
    yield text;
  }
  yield skipped.comment('#');
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
