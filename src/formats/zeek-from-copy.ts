import {
  BACKSLASH,
  BLANK,
  COMMA,
  LAST_PRINTABLE,
  LF,
  type PlainRow,
  placeOf,
  put,
  TAB,
} from './copied-rows.ts';
import { indicatorPage } from './format.ts';

const [POUND, PERCENT, BRACKET, MINUS, POINT, SLASH, COLON, AT] = [
  0x23, 0x25, 0x28, 0x2d, 0x2e, 0x2f, 0x3a, 0x40,
] as const;
const [QUOTE, PLUS, UNDERLINE, CLOSE, LETTER_S, LETTER_T] = [0x22, 0x2b, 0x5f, 0x7d, 0x73, 0x74] as const;
const TO_LOWER = 0x20;

const HTTP = Buffer.from('http');
const SEVERITY = Buffer.from('\tseverity ');
const CONFIDENCE = Buffer.from(', confidence ');
const MARKING = Buffer.from(', TLP:');
const TAGS = Buffer.from(', tags: ');
const BETWEEN_TAGS = Buffer.from(', ');
const ADDRESS = Buffer.from('\tIntel::ADDR\t');
const DOMAIN = Buffer.from('\tIntel::DOMAIN\t');
const URL_TYPE = Buffer.from('\tIntel::URL\t');
const FILE_HASH = Buffer.from('\tIntel::FILE_HASH\t');
/** The text after a value of each type, by `typeKey`. Values of other types are not plain. */
const TYPES: (Buffer | undefined)[] = [];
for (const type of ['IPV4', 'IPV6']) TYPES[typeKey(type.charCodeAt(0), type.length)] = ADDRESS;
for (const type of ['MD5', 'SHA1', 'SHA256']) TYPES[typeKey(type.charCodeAt(0), type.length)] = FILE_HASH;
TYPES[typeKey('D'.charCodeAt(0), 'DOMAIN'.length)] = DOMAIN;
TYPES[typeKey('U'.charCodeAt(0), 'URL'.length)] = URL_TYPE;

/**
 * Writes lines of Zeek's intelligence file from the bytes of COPY's text format, for addresses, names,
 * hashes, and URLs that Zeek sees in one form only.
 * @param publicAddress the last column is the id, for a link to the page; null: there is no such column
 * @param isFirst returns whether this URL, in lower case and without its scheme, has not been written yet
 */
export function zeekFromCopy(isFirst: (url: string) => boolean, publicAddress: string | null): PlainRow {
  const page = publicAddress === null ? null : Buffer.from(`\t${indicatorPage(publicAddress, '')}`);
  return (source, from, target, to) => {
    const valueAt = placeOf(TAB, source, from) + 1;
    const type = TYPES[typeKey(source[from] as number, valueAt - 1 - from)];
    if (type === undefined) return -1;
    const start = type === URL_TYPE ? behindScheme(source, valueAt) : valueAt;
    if (start < 0) return -1;
    let o = word(source, start, target, to);
    if (o < 0) return -1;
    const valueEnd = start + o - to;
    if (type === ADDRESS && hasSlash(source, start, valueEnd)) return -1;
    o = put(type, target, o);
    const named = word(source, valueEnd + 1, target, o);
    if (named < 0) return -1;
    let i = valueEnd + 1 + named - o + 1;
    o = put(SEVERITY, target, named);
    for (let byte = source[i] as number; byte !== TAB; byte = source[++i] as number)
      target[o++] = byte | TO_LOWER;
    o = put(CONFIDENCE, target, o);
    for (let byte = source[++i] as number; byte !== TAB; byte = source[++i] as number) target[o++] = byte;
    o = put(MARKING, target, o);
    for (let byte = source[++i] as number; byte !== TAB; byte = source[++i] as number)
      target[o++] = byte === UNDERLINE ? PLUS : byte;
    o = tags(source, i + 1, target, o);
    if (o < 0) return -1;
    // Whether a hash is of a certificate, the whitelisted parts of a network, and the id.
    i = placeOf(TAB, source, i + 1) + 1;
    if (source[i] === LETTER_T) return -1;
    if (page !== null) {
      o = put(page, target, o);
      for (i += 3; source[i] !== LF; i++) target[o++] = source[i] as number;
    }
    // Called only once the line is certain to be written, because `isFirst` remembers its argument.
    if (type === URL_TYPE && !isFirst(source.toString('latin1', start, valueEnd).toLowerCase())) return to;
    target[o++] = LF;
    return o;
  };
}

/** Whether a value is a network. */
function hasSlash(source: Uint8Array, from: number, end: number): boolean {
  for (let i = end - 1; i >= from; i--) if (source[i] === SLASH) return true;
  return false;
}

/**
 * Returns a key that distinguishes the types that Zeek supports: the name of each is shorter than 16 letters.
 */
function typeKey(firstLetter: number, length: number): number {
  return firstLetter * 16 + length;
}

/**
 * Returns the position of the host and path of a URL that is fetched by HTTP and in which nothing is omitted,
 * added or decoded; or -1.
 */
function behindScheme(source: Uint8Array, from: number): number {
  let i = from;
  for (const byte of HTTP) if (source[i++] !== byte) return -1;
  if (source[i] === LETTER_S) i++;
  if (source[i++] !== COLON) return -1;
  const start = i + 2;
  for (i = start; source[i] !== SLASH; i++) {
    // A port, or a user name.
    if (source[i] === COLON || source[i] === AT || source[i] === TAB) return -1;
  }
  // A host with a dot at its end has two forms.
  if (source[i - 1] === POINT) return -1;
  for (; source[i] !== TAB; i++) if (source[i] === PERCENT || source[i] === POUND) return -1;
  return start;
}

/** Copies printable characters that have no meaning to Zeek's reader, up to a tab. */
function word(source: Uint8Array, from: number, target: Uint8Array, to: number): number {
  return source[from] === BRACKET || source[from] === MINUS || source[from] === POUND
    ? -1
    : words(source, from, target, to, TAB);
}

/**
 * Copies printable characters, with single blanks within, up to one of the end bytes, which is not consumed.
 */
function words(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  end: number,
  otherEnd = end,
): number {
  let [i, o, before] = [from, to, BLANK as number];
  for (let byte = source[i] as number; byte !== end && byte !== otherEnd; byte = source[++i] as number) {
    const isBlank = byte === BLANK;
    if (byte < BLANK || byte > LAST_PRINTABLE || byte === BACKSLASH || (isBlank && before === BLANK))
      return -1;
    target[o++] = byte;
    before = byte;
  }
  return before === BLANK ? -1 : o;
}

/** Writes `{a,"b c"}` as `, tags: a, b c`. */
function tags(source: Uint8Array, from: number, target: Uint8Array, to: number): number {
  let i = from + 1;
  if (source[i] === CLOSE) return to;
  for (let o = put(TAGS, target, to); ; o = put(BETWEEN_TAGS, target, o)) {
    const isQuoted = source[i] === QUOTE;
    if (isQuoted) i++;
    const next = isQuoted ? words(source, i, target, o, QUOTE) : words(source, i, target, o, COMMA, CLOSE);
    if (next < 0) return -1;
    i += next - o + (isQuoted ? 1 : 0);
    o = next;
    if (source[i++] === CLOSE) return o;
  }
}
