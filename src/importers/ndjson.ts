import { type ImportInput, UnreadableInput } from './importer.ts';
import type { JsonLimits } from './json-pieces.ts';
import type { JsonRecord } from './json-stream.ts';
import { type Line, readLines } from './lines.ts';

/**
 * Yields a record per line, a part of the file at a time; a line that is not JSON is one broken record.
 * @throws {UnreadableInput} if there is no line at all
 */
export async function* readNdjson(
  input: ImportInput,
  { maxBytes, maxDepth }: JsonLimits,
): AsyncGenerator<Iterable<JsonRecord>> {
  let number = 0;
  for await (const lines of readLines(input, maxBytes)) yield recordsOf(lines);
  if (number === 0) throw new UnreadableInput('the file is empty');

  function* recordsOf(lines: Iterable<Line>): Generator<JsonRecord> {
    for (const { number: line, text, problem } of lines) {
      if (problem === null && text.trim() === '') continue;
      number = line;
      const reject = (rejected: string) => ({ number, key: null, value: undefined, rejected });
      if (problem !== null) yield reject(problem);
      else if (isDeeper(text, maxDepth)) yield reject(`nested deeper than ${maxDepth} levels`);
      else yield parsed(text) ?? reject('not valid JSON');
    }
  }

  function parsed(text: string): JsonRecord | null {
    try {
      return { number, key: null, value: JSON.parse(text), rejected: null };
    } catch {
      return null;
    }
  }
}

/** Checks the depth of a line before JSON.parse builds it. */
function isDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > maxDepth) return true;
    } else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
  return false;
}
