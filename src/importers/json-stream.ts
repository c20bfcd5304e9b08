import { isUtf8 } from 'node:buffer';
import { type ImportInput, UnreadableInput } from './importer.ts';
import type { JsonLimits, JsonPiece } from './json-pieces.ts';
import { JsonSplitter } from './json-splitter.ts';
import { openText } from './text-input.ts';

export interface JsonRecord {
  /**
   * 1, 2, … for the elements of a list; 0 for the root object itself, which comes last, with its lists
   * emptied.
   */
  number: number;
  /** The member's name, when the records are members of an object. */
  key: string | null;
  /** The parsed value; undefined when `rejected` says why not. */
  value: unknown;
  rejected: string | null;
}

/**
 * Reads a JSON file (RFC 8259) a part at a time, and each part one record at a time, with memory for one record only.
 *
 * The file is cut at the brackets and each piece goes to JSON.parse: that is several times faster than
 * assembling objects from tokens, it applies the caps before anything is built, and `__proto__` stays
 * a plain key.
 * @throws {UnreadableInput} where the file stops being JSON, with the byte; complete records come first
 */
export async function* readJsonRecords(
  input: ImportInput,
  limits: JsonLimits,
): AsyncGenerator<Iterable<JsonRecord>> {
  const splitter = new JsonSplitter(limits);
  for await (const chunk of openText(input)) yield parsePieces(splitter.push(chunk), limits);
  yield parsePieces(splitter.end(), limits);
}

function* parsePieces(pieces: Iterable<JsonPiece>, limits: JsonLimits): Generator<JsonRecord> {
  for (const piece of pieces) yield parsePiece(piece, limits);
}

function parsePiece({ number, key, offset, bytes, problem }: JsonPiece, limits: JsonLimits): JsonRecord {
  const reject = (rejected: string) => ({ number, key, value: undefined, rejected });
  if (problem === 'too large') return reject(`larger than ${limits.maxBytes / 1024 ** 2} MiB`);
  if (problem === 'too deep') return reject(`nested deeper than ${limits.maxDepth} levels`);
  if (!isUtf8(bytes)) return reject('not valid UTF-8');
  try {
    return { number, key, value: JSON.parse(bytes.toString('utf8')), rejected: null };
  } catch {
    const what = number === 0 ? 'the root object' : `object ${number}`;
    throw new UnreadableInput(`not valid JSON: ${what}, which starts at byte ${offset}`);
  }
}

export interface JsonShape {
  root: 'object' | 'array';
  /** Names of the root's members or, in an array, of its elements' members, as far as the text goes. */
  keys: Set<string>;
}

const MAX_KEYS = 1000;

/** Returns the shape of a JSON file from its beginning; null if it does not begin as JSON. */
export function jsonShape(head: string): JsonShape | null {
  const first = head.trimStart().charAt(0);
  if (first !== '{' && first !== '[') return null;
  const keys = new Set<string>();
  const keyDepth = first === '{' ? 1 : 2;
  let depth = 0;
  let lastString = '';
  for (let i = 0; i < head.length; i++) {
    const char = head.charAt(i);
    if (char === '"') {
      const end = endOfString(head, i + 1);
      lastString = head.slice(i + 1, end);
      i = end;
    } else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    else if (char === ':' && depth === keyDepth && keys.size < MAX_KEYS) keys.add(lastString);
  }
  return { root: first === '{' ? 'object' : 'array', keys };
}

function endOfString(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at;
}
