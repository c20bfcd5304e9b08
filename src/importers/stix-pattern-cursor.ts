import type { Token } from './stix-pattern-tokens.ts';

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
