import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Reads below `from`, writes below `to`, and counts what it wrote. */
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

/** RFC 4180: quoted when it has to be. */
function csvCell(cell) {
  const text = String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The first paragraph, cut at a word to at most `longest` characters. */
export function shortened(text, longest) {
  const paragraph = text.trim().split(/\r?\n/)[0].trim();
  if (paragraph.length <= longest) return paragraph;
  return `${paragraph.slice(0, paragraph.lastIndexOf(' ', longest - 1))}…`;
}

/** The members of `object` named in `keys` that it has. */
export function picked(object, keys) {
  return Object.fromEntries(keys.filter((key) => key in object).map((key) => [key, object[key]]));
}

/** UUIDv5 (RFC 9562) in the URL namespace: ids of what we transcribe stay the same from run to run. */
export function stableUuid(name) {
  const namespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');
  const hash = createHash('sha1').update(namespace).update(name).digest().subarray(0, 16);
  hash[6] = (hash[6] & 0x0f) | 0x50;
  hash[8] = (hash[8] & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** ISO 8601 of seconds since 1970. */
export function isoSeconds(seconds) {
  return new Date(seconds * 1000).toISOString();
}
