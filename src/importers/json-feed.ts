import {
  type ImportInput,
  type ImportRecord,
  type RecordParts,
  type RejectedRecord,
  UnreadableInput,
} from './importer.ts';
import type { JsonLimits } from './json-pieces.ts';
import { type JsonRecord, readJsonRecords } from './json-stream.ts';
import { type Fields, isObject, rejectedBy, rejectedRecord } from './record-fields.ts';

/** A record, or the reason why one of its observables was rejected. */
export type RecordResult = ImportRecord | { rejected: string };

/** How to read a feed that is one list of objects. */
export interface JsonFeed {
  limits: JsonLimits;
  /** The kind that a broken record is counted as. */
  of: RejectedRecord['of'];
  /** @throws {RecordRejected} when the record as a whole cannot be used */
  readRecord(record: Fields, key: string | null): Iterable<RecordResult>;
  /** The root object itself is the one record. */
  rootIsRecord?: boolean;
  /** Checks the root after its lists are read. @throws {UnreadableInput} if this is not the feed */
  checkRoot?(root: unknown): void;
}

/**
 * Yields the records of a feed. A member of an object may itself be a list of records, as in the exports of
 * abuse.ch: `{"1": [{…}]}`.
 */
export async function* readJsonFeed(input: ImportInput, feed: JsonFeed): RecordParts {
  for await (const part of readJsonRecords(input, feed.limits)) yield recordsOf(part, feed);
}

function* recordsOf(part: Iterable<JsonRecord>, feed: JsonFeed): Generator<ImportRecord> {
  for (const { number, key, value, rejected } of part) {
    if (number === 0 && !feed.rootIsRecord) {
      if (rejected === null) feed.checkRoot?.(value);
      else throw new UnreadableInput(`the root object is ${rejected}`);
      continue;
    }
    const where = number === 0 ? 'the only object' : `object ${number}`;
    if (rejected !== null) yield rejectedRecord(feed.of, rejected, where);
    else if (key !== null && Array.isArray(value))
      for (const item of value) yield* readOne(item, key, feed, where);
    else yield* readOne(value, key, feed, where);
  }
}

function* readOne(
  value: unknown,
  key: string | null,
  { of, readRecord }: JsonFeed,
  where: string,
): Generator<ImportRecord> {
  if (!isObject(value)) {
    yield rejectedRecord(of, 'not an object', where);
    return;
  }
  try {
    for (const made of readRecord(value, key))
      yield 'rejected' in made ? rejectedRecord(of, made.rejected, where) : made;
  } catch (error) {
    yield rejectedBy(error, of, where);
  }
}
