/** One token of a STIX pattern (STIX 2.1 part 9). A word is a keyword or a part of an object path. */
export type Token =
  | { kind: 'word'; text: string }
  | { kind: 'string'; text: string }
  /** A typed literal: h'…', b'…' or t'…'. */
  | { kind: 'typed'; text: string }
  | { kind: 'number'; text: string }
  | { kind: 'sign'; text: string };

const SPACE = /[\s\u00a0]*/y;
// A word may hold hyphens (`ipv4-addr`); it may not begin with a digit.
const WORD = /[A-Za-z_][A-Za-z0-9_-]*/y;
const NUMBER = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)/y;
const SIGN = /==|!=|<>|<=|>=|[[\](),:.=<>*]/y;

/**
 * Splits a pattern into tokens; null if it contains a character, or an unclosed string, that no pattern has.
 */
export function tokenize(pattern: string): Token[] | null {
  const tokens: Token[] = [];
  let at = 0;
  const take = (rule: RegExp): string | null => {
    rule.lastIndex = at;
    const text = rule.exec(pattern)?.[0] ?? null;
    if (text !== null) at += text.length;
    return text;
  };
  const takeQuoted = (): string | null => {
    const quoted = readQuoted(pattern, at);
    if (quoted !== null) at = quoted.end;
    return quoted?.text ?? null;
  };
  for (;;) {
    take(SPACE);
    if (at >= pattern.length) return tokens;
    const token = takeToken(pattern, at, take, takeQuoted);
    if (token === null) return null;
    tokens.push(token);
  }
}

function takeToken(
  pattern: string,
  at: number,
  take: (rule: RegExp) => string | null,
  takeQuoted: () => string | null,
): Token | null {
  const first = pattern.charAt(at);
  if (first === "'" || first === '"') {
    const text = takeQuoted();
    return text === null ? null : { kind: 'string', text };
  }
  const word = take(WORD);
  if (word !== null && /^[hbt]$/.test(word) && pattern.charAt(at + 1) === "'") {
    const text = takeQuoted();
    return text === null ? null : { kind: 'typed', text };
  }
  if (word !== null) return { kind: 'word', text: word };
  const number = take(NUMBER);
  if (number !== null) return { kind: 'number', text: number };
  const sign = take(SIGN);
  return sign === null ? null : { kind: 'sign', text: sign };
}

/**
 * Reads a quoted string. The escapes are `\'` and `\\`; a backslash before anything else is literal, as
 * producers write paths.
 */
function readQuoted(pattern: string, start: number): { text: string; end: number } | null {
  const quote = pattern.charAt(start);
  const parts: string[] = [];
  let from = start + 1;
  for (let i = from; i < pattern.length; i++) {
    const char = pattern.charAt(i);
    if (char === quote) return { text: parts.join('') + pattern.slice(from, i), end: i + 1 };
    if (char !== '\\') continue;
    const next = pattern.charAt(i + 1);
    if (next !== quote && next !== '\\') continue;
    parts.push(pattern.slice(from, i));
    from = i + 1;
    i += 1;
  }
  return null;
}

/** The state that the parser's functions share: the tokens, the position, the number of open brackets. */
export interface Cursor {
  tokens: Token[];
  at: number;
  depth: number;
}

/** Thrown to end the parsing; `parsePattern` converts it to null. */
export class NotAPattern extends Error {}

export function next(cursor: Cursor): Token {
  const token = cursor.tokens[cursor.at];
  if (token === undefined) throw new NotAPattern();
  cursor.at += 1;
  return token;
}

export function isWord(cursor: Cursor, text: string): boolean {
  const token = cursor.tokens[cursor.at];
  return token?.kind === 'word' && token.text.toUpperCase() === text;
}

export function takeWord(cursor: Cursor, text: string): boolean {
  const found = isWord(cursor, text);
  if (found) cursor.at += 1;
  return found;
}

export function takeSign(cursor: Cursor, text: string): boolean {
  const token = cursor.tokens[cursor.at];
  const found = token?.kind === 'sign' && token.text === text;
  if (found) cursor.at += 1;
  return found;
}

export function expectWord(cursor: Cursor, text: string) {
  if (!takeWord(cursor, text)) throw new NotAPattern();
}

export function expectSign(cursor: Cursor, text: string) {
  if (!takeSign(cursor, text)) throw new NotAPattern();
}

export function expectNumber(cursor: Cursor) {
  if (next(cursor).kind !== 'number') throw new NotAPattern();
}

/** STIX 2.0 writes a string, 2.1 a t'…' literal. */
export function expectTime(cursor: Cursor) {
  const { kind } = next(cursor);
  if (kind !== 'typed' && kind !== 'string') throw new NotAPattern();
}
