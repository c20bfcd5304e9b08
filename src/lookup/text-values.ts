import { setImmediate } from 'node:timers/promises';
import { readValue } from './candidates.ts';
import { extractValues } from './extract.ts';

/** A value in a text. */
export interface TextValue {
  asked: string;
  /** It is a line of several words: a value, such as a user agent, only if it is listed as one. */
  isLine: boolean;
}

/** Characters that are read before other requests get their turn. */
const READ_AT_ONCE = 20_000;

/**
 * Returns the values in a text, each once, in their order. A line is one value, plain or defanged, or prose with
 * observables.
 */
export async function textValues(text: string): Promise<TextValue[]> {
  const found = new Map<string, TextValue>();
  const add = (asked: string, read: ReturnType<typeof readValue>, isLine = false) => {
    const key = 'unreadable' in read ? asked : `${read.type} ${read.normalized}`;
    if (!found.has(key)) found.set(key, { asked, isLine });
  };
  let length = 0;
  for (const whole of text.split(/\r?\n/)) {
    length += whole.length + 1;
    if (length > READ_AT_ONCE) {
      await setImmediate();
      length = 0;
    }
    const line = whole.trim();
    if (line === '') continue;
    const read = readValue(line);
    const isValue = 'type' in read;
    const observables = isValue ? [] : await extractValues(line);
    for (const observable of observables) add(observable, readValue(observable));
    const isLine = !isValue && /\s/.test(line);
    if (isLine || observables.length === 0) add(line, read, isLine);
  }
  return [...found.values()];
}
