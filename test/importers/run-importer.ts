import { Readable } from 'node:stream';
import {
  type Importer,
  type ImportInput,
  type ImportRecord,
  UnreadableInput,
} from '../../src/importers/importer.ts';

export interface ImportRun {
  records: ImportRecord[];
  /** The message of the UnreadableInput that ended the run. */
  unreadable: string | null;
}

/** An input over bytes in memory, handed out in chunks of the given size. */
export function inputOf(content: string | Buffer, fileName = 'file', chunkSize = 65_536): ImportInput {
  const bytes = Buffer.from(content);
  return {
    fileName,
    open: () =>
      Readable.from(
        (function* () {
          for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
        })(),
      ),
  };
}

export async function runImporter(importer: Importer, input: ImportInput): Promise<ImportRun> {
  const records: ImportRecord[] = [];
  try {
    for await (const part of importer.read(input)) for (const record of part) records.push(record);
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    return { records, unreadable: error.message };
  }
  return { records, unreadable: null };
}

type OfKind<K extends ImportRecord['kind']> = Extract<ImportRecord, { kind: K }>;

export function ofKind<K extends ImportRecord['kind']>(records: ImportRecord[], kind: K): OfKind<K>[] {
  return records.filter((record): record is OfKind<K> => record.kind === kind);
}

/** `indicator DOMAIN`, `rejected indicator: no pattern`, `relationship uses` …, counted. */
export function countByOutcome(records: ImportRecord[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const record of records) {
    const outcome = outcomeOf(record);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort());
}

function outcomeOf(record: ImportRecord): string {
  if (record.kind === 'rejected') return `rejected ${record.of}: ${record.reason}`;
  if (record.kind === 'indicator' || record.kind === 'relationship') return `${record.kind} ${record.type}`;
  return record.kind;
}
