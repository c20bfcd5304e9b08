import {
  type Cursor,
  expectNumber,
  expectSign,
  expectTime,
  expectWord,
  isWord,
  NotAPattern,
  next,
  takeSign,
  takeWord,
  tokenize,
} from './stix-pattern-tokens.ts';

export interface PatternTest {
  /** `file`, `ipv4-addr` … */
  object: string;
  /** The steps of the path after the colon, without list indexes: `['hashes', 'SHA-256']`. */
  path: string[];
  /** `=`, `IN`, `LIKE`, …; with NOT in front where it is negated. */
  operator: string;
  values: PatternValue[];
}

export interface PatternValue {
  kind: 'string' | 'number' | 'other';
  text: string;
}

export type Pattern =
  | { kind: 'test'; test: PatternTest }
  /** `all`: comparisons of one observation, joined by AND. */
  | { kind: 'AND' | 'OR' | 'FOLLOWEDBY' | 'all'; parts: Pattern[] }
  | { kind: 'qualified'; qualifier: string; of: Pattern };

/** The deepest nesting of brackets, and the most qualifiers in a row; real patterns have two or three. */
const MAX_DEPTH = 32;
const OPERATORS = new Set(['=', '==', '!=', '<>', '<', '<=', '>', '>=']);
const WORD_OPERATORS = new Set(['LIKE', 'MATCHES', 'ISSUBSET', 'ISSUPERSET']);

/** Parses a pattern by the grammar of STIX 2.1 part 9. Never throws; null: the text is not a pattern. */
export function parsePattern(text: string): Pattern | null {
  const tokens = tokenize(text);
  if (tokens === null) return null;
  const cursor: Cursor = { tokens, at: 0, depth: 0 };
  try {
    const pattern = parseFollowedBy(cursor);
    return cursor.at === tokens.length ? pattern : null;
  } catch (error) {
    if (error instanceof NotAPattern) return null;
    throw error;
  }
}

// Observations: FOLLOWEDBY binds loosest, then OR, then AND, then the qualifiers.
const parseFollowedBy = (cursor: Cursor): Pattern => parseJoined(cursor, 'FOLLOWEDBY', parseObservationOr);
const parseObservationOr = (cursor: Cursor): Pattern => parseJoined(cursor, 'OR', parseObservationAnd);
const parseObservationAnd = (cursor: Cursor): Pattern => parseJoined(cursor, 'AND', parseQualified);
// Comparisons inside the square brackets.
const parseComparisonOr = (cursor: Cursor): Pattern => parseJoined(cursor, 'OR', parseComparisonAnd);
const parseComparisonAnd = (cursor: Cursor): Pattern => parseJoined(cursor, 'AND', parseComparison, 'all');

function parseJoined(
  cursor: Cursor,
  word: 'AND' | 'OR' | 'FOLLOWEDBY',
  part: (cursor: Cursor) => Pattern,
  kind: 'AND' | 'OR' | 'FOLLOWEDBY' | 'all' = word,
): Pattern {
  const first = part(cursor);
  if (!isWord(cursor, word)) return first;
  const parts = [first];
  while (takeWord(cursor, word)) parts.push(part(cursor));
  return { kind, parts };
}

function parseQualified(cursor: Cursor): Pattern {
  let pattern = parseObservation(cursor);
  for (let qualifiers = 0; ; qualifiers++) {
    if (qualifiers > MAX_DEPTH) throw new NotAPattern();
    if (takeWord(cursor, 'WITHIN')) {
      expectNumber(cursor);
      expectWord(cursor, 'SECONDS');
      pattern = { kind: 'qualified', qualifier: 'WITHIN', of: pattern };
    } else if (takeWord(cursor, 'REPEATS')) {
      expectNumber(cursor);
      expectWord(cursor, 'TIMES');
      pattern = { kind: 'qualified', qualifier: 'REPEATS', of: pattern };
    } else if (takeWord(cursor, 'START')) {
      expectTime(cursor);
      expectWord(cursor, 'STOP');
      expectTime(cursor);
      pattern = { kind: 'qualified', qualifier: 'START STOP', of: pattern };
    } else return pattern;
  }
}

function parseObservation(cursor: Cursor): Pattern {
  if (takeSign(cursor, '[')) return closed(cursor, parseComparisonOr, ']');
  if (takeSign(cursor, '(')) return closed(cursor, parseFollowedBy, ')');
  throw new NotAPattern();
}

function parseComparison(cursor: Cursor): Pattern {
  if (takeSign(cursor, '(')) return closed(cursor, parseComparisonOr, ')');
  if (takeWord(cursor, 'NOT')) {
    expectWord(cursor, 'EXISTS');
    return { kind: 'test', test: { ...parsePath(cursor), operator: 'NOT EXISTS', values: [] } };
  }
  if (takeWord(cursor, 'EXISTS'))
    return { kind: 'test', test: { ...parsePath(cursor), operator: 'EXISTS', values: [] } };
  const path = parsePath(cursor);
  const not = takeWord(cursor, 'NOT') ? 'NOT ' : '';
  return { kind: 'test', test: { ...path, ...parseOperation(cursor, not) } };
}

function parseOperation(cursor: Cursor, not: string): Pick<PatternTest, 'operator' | 'values'> {
  if (takeWord(cursor, 'IN')) return { operator: `${not}IN`, values: parseSet(cursor) };
  const token = next(cursor);
  const name = token.text.toUpperCase();
  const known =
    token.kind === 'sign' ? OPERATORS.has(name) : token.kind === 'word' && WORD_OPERATORS.has(name);
  if (!known) throw new NotAPattern();
  // The grammar allows `==` and `<>` as other spellings.
  const operator = name === '==' ? '=' : name === '<>' ? '!=' : name;
  return { operator: not + operator, values: [parseValue(cursor)] };
}

function parseSet(cursor: Cursor): PatternValue[] {
  expectSign(cursor, '(');
  const values = [parseValue(cursor)];
  while (takeSign(cursor, ',')) values.push(parseValue(cursor));
  expectSign(cursor, ')');
  return values;
}

function parseValue(cursor: Cursor): PatternValue {
  const token = next(cursor);
  if (token.kind === 'string' || token.kind === 'number') return { kind: token.kind, text: token.text };
  if (token.kind === 'typed' || (token.kind === 'word' && /^(true|false)$/i.test(token.text)))
    return { kind: 'other', text: token.text };
  throw new NotAPattern();
}

function parsePath(cursor: Cursor): Pick<PatternTest, 'object' | 'path'> {
  const object = parseName(cursor);
  expectSign(cursor, ':');
  const path = [parseName(cursor)];
  for (;;) {
    if (takeSign(cursor, '[')) {
      const index = next(cursor);
      if (index.kind !== 'number' && index.text !== '*') throw new NotAPattern();
      expectSign(cursor, ']');
    } else if (takeSign(cursor, '.')) path.push(parseName(cursor));
    else return { object, path };
  }
}

function parseName(cursor: Cursor): string {
  const token = next(cursor);
  if (token.kind !== 'word' && token.kind !== 'string') throw new NotAPattern();
  return token.text;
}

function closed(cursor: Cursor, inner: (cursor: Cursor) => Pattern, close: string): Pattern {
  cursor.depth += 1;
  if (cursor.depth > MAX_DEPTH) throw new NotAPattern();
  const pattern = inner(cursor);
  expectSign(cursor, close);
  cursor.depth -= 1;
  return pattern;
}
