import { detectType, normalizeDetected } from '../model/detect-type.ts';
import { normalize } from '../model/normalize.ts';
import type { NormalizeResult } from '../model/normalize-address.ts';
import { normalizeEach } from '../model/normalize-range.ts';
import { normalizeAs } from './csv-types.ts';
import { type Importer, type ImportInput, UnreadableInput } from './importer.ts';
import { jsonShape } from './json-stream.ts';
import { type Line, readLines } from './lines.ts';
import type { MappedType, TextOptions } from './maps.ts';
import { addressType, indicatorRecord, rejectedRecord } from './record-fields.ts';

const MAX_LINE = 64 * 1024;
const LINE_END = /\r\n|\r|\n/;
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
      const lines = head.split(LINE_END, JUDGED_LINES * 50).map((line) => line.slice(0, MAX_LINE));
      const results = lines.flatMap((line) => readTextLine(line, type ?? null)).slice(0, JUDGED_LINES);
      const accepted = results.filter((result) => !('rejected' in result));
      return accepted.length > 0 && accepted.length * 2 >= results.length;
    },

    async *read(input: ImportInput) {
      let isEmpty = true;
      function* recordsOf(lines: Iterable<Line>) {
        for (const { number, text, problem } of lines) {
          isEmpty = false;
          const results = problem === null ? readTextLine(text, type ?? null) : [{ rejected: problem }];
          for (const result of results) {
            const made = indicatorRecord(result, {});
            yield 'rejected' in made ? rejectedRecord('indicator', made.rejected, `line ${number}`) : made;
          }
        }
      }
      for await (const lines of readLines(input, MAX_LINE)) yield recordsOf(lines);
      // An empty list still has a comment; a response of no bytes is a failure, not the removal of all
      // members.
      if (isEmpty) throw new UnreadableInput('the file is empty');
    },
  };
}

/** In values of these types a `#`, a blank or a slash is a character like any other. */
const FREE_TEXT: ReadonlySet<MappedType> = new Set(['USER_AGENT', 'MUTEX', 'FILENAME', 'REGISTRY_KEY']);
/** The addresses that hosts files map names to. */
const LOCAL_ADDRESSES = /^(?:0\.0\.0\.0|127(?:\.\d{1,3}){3}|255\.255\.255\.255|::1?|fe80::1%\S{1,16})$/i;
/**
 * The start of a comment after a blank: `192.0.2.1 # scanner`. A URL contains `//` and may contain `#`, never
 * after a blank.
 */
const INLINE_COMMENT = /\s(?:#|;|\/\/)/;
/** A column of counts or scores after a value, as in ipsum. */
const NUMBER = /^\d{1,12}(?:[.,]\d{1,12})?%?$/;
/** Names that every system gives to itself in its hosts file. */
const OWN_NAMES = /^(?:localhost|localhost\.localdomain|local|broadcasthost|ip6-[a-z]{1,20}|0\.0\.0\.0)$/i;

/**
 * Returns the contents of a line of a list: nothing (blank, a comment, a system's own entry in a hosts file),
 * an observable or several (`0.0.0.0 a.example b.example`), or the reason for a rejection.
 * @param type the type of every line; null: each is detected by its form
 */
export function readTextLine(line: string, type: MappedType | null): NormalizeResult[] {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return [];
  if (type !== null && FREE_TEXT.has(type)) return [normalizeOf(type, text)];
  if (text.startsWith(';') || text.startsWith('//')) return [];
  const comment = INLINE_COMMENT.exec(text);
  return readValue(comment === null ? text : text.slice(0, comment.index).trim(), type);
}

function readValue(text: string, type: MappedType | null): NormalizeResult[] {
  const results = normalizeEach(text, (value) => normalizeOf(type, value));
  const words = text.split(/\s+/);
  const [first = '', ...rest] = words;
  if (rest.length === 0) return results;
  if (LOCAL_ADDRESSES.test(first) && rest.every((word) => detectType(word) !== null || OWN_NAMES.test(word)))
    return rest.filter((word) => !OWN_NAMES.test(word)).map((name) => normalizeOf(type ?? 'DOMAIN', name));
  // Defanged with blanks, `example [.] com`, the line is still one value; a blank that the URL Standard encodes separates
  // values.
  if (results.every((result) => !('rejected' in result) && blanks(result.value) <= blanks(text)))
    return results;
  if (rest.every((word) => NUMBER.test(word)))
    return normalizeEach(first, (value) => normalizeOf(type, value));
  return [{ rejected: 'more than one value in the line' }];
}

/** Returns how often a text contains an encoded blank, also one of another script. */
const blanks = (text: string) =>
  text.match(/%20|%C2%A0|%E3%80%80|%E2%80%[89A][0-9A-F]|%E2%81%9F/gi)?.length ?? 0;

function normalizeOf(type: MappedType | null, text: string): NormalizeResult {
  if (text.includes('\ufffd')) return { rejected: 'not valid UTF-8' };
  if (type === 'address') return normalizeAs(addressType(text), text);
  if (type !== null) return normalize(type, text);
  const result = normalizeDetected(text);
  if (!('rejected' in result)) return result;
  return text.startsWith('/') ? { rejected: 'a path without a host' } : result;
}
