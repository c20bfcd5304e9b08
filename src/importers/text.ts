import { type Importer, type ImportInput, UnreadableInput } from './importer.ts';
import { jsonShape } from './json-shape.ts';
import { readLines } from './lines.ts';
import type { TextOptions } from './maps.ts';
import { indicatorRecord } from './observation.ts';
import { rejectedRecord } from './rejected-record.ts';
import { readTextLine } from './text-line.ts';

const MAX_LINE = 64 * 1024;
/** The number of lines of the head that decide whether a file is a list. */
const JUDGED_LINES = 200;

/**
 * Returns an importer for a plain list with one value per line: block lists, hosts files, lists with a count
 * after the value, trails of Maltrail.
 */
export function textImporter({ type }: TextOptions = {}): Importer {
  return {
    name: 'text',
    label: 'List, one value per line',

    /** Recognizes a list by its first lines: at least half of them must hold an observable. */
    recognizes(head, fileName) {
      if (jsonShape(head) !== null || head.includes('\u0000') || /\.(csv|tsv)(\.gz)?$/i.test(fileName))
        return false;
      // The last line may be cut by the end of the head.
      const lines = head.split('\n', JUDGED_LINES * 50).map((line) => line.slice(0, MAX_LINE));
      const results = lines.flatMap((line) => readTextLine(line, type ?? null)).slice(0, JUDGED_LINES);
      const accepted = results.filter((result) => !('rejected' in result));
      return accepted.length > 0 && accepted.length * 2 >= results.length;
    },

    async *read(input: ImportInput) {
      let isEmpty = true;
      for await (const { number, text, problem } of readLines(input, MAX_LINE)) {
        isEmpty = false;
        const results = problem === null ? readTextLine(text, type ?? null) : [{ rejected: problem }];
        for (const result of results) {
          const made = indicatorRecord(result, {});
          yield 'rejected' in made ? rejectedRecord('indicator', made.rejected, `line ${number}`) : made;
        }
      }
      // An empty list still has a comment; a response of no bytes is a failure, not the removal of all
      // members.
      if (isEmpty) throw new UnreadableInput('the file is empty');
    },
  };
}
