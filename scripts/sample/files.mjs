import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Returns functions that read files below `from`, write files below `to` and count the written bytes. */
export function dataDirectory(from, to) {
  let bytes = 0;
  const readText = (name) => readFileSync(path.join(from, name), 'utf8');
  const writeText = (name, text) => {
    const file = path.join(to, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    bytes += Buffer.byteLength(text);
  };
  return {
    readText,
    readLines: (name) => readText(name).split('\n'),
    readJson: (name) => JSON.parse(readText(name)),
    writeText,
    writeJson: (name, value) => writeText(name, `${JSON.stringify(value)}\n`),
    writeCsv: (name, lines) =>
      writeText(name, `${lines.map((cells) => cells.map(csvCell).join(',')).join('\n')}\n`),
    written: () => bytes,
  };
}

/** Returns a cell as RFC 4180 defines it, quoted only if necessary. */
function csvCell(cell) {
  const text = String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns the first paragraph, truncated at a word boundary to at most `longest` characters. */
export function shortened(text, longest) {
  const paragraph = text.trim().split(/\r?\n/)[0].trim();
  if (paragraph.length <= longest) return paragraph;
  return `${paragraph.slice(0, paragraph.lastIndexOf(' ', longest - 1))}…`;
}

/** Returns an object with those members of `object` that `keys` names. */
export function picked(object, keys) {
  return Object.fromEntries(keys.filter((key) => key in object).map((key) => [key, object[key]]));
}

/** Returns a UUIDv5 (RFC 9562) in the URL namespace, so that ids of transcribed objects are the same in each run. */
export function stableUuid(name) {
  const namespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');
  const hash = createHash('sha1').update(namespace).update(name).digest().subarray(0, 16);
  hash[6] = (hash[6] & 0x0f) | 0x50;
  hash[8] = (hash[8] & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Returns seconds since 1970 in ISO 8601. */
export function isoSeconds(seconds) {
  return new Date(seconds * 1000).toISOString();
}
