import { Unconvertible } from './unconvertible.ts';

/** A part of a regular expression of the subset that PCRE, RE2 and Lucene have in common, apart from their notation. */
type Token =
  | { kind: 'character'; character: string }
  | { kind: 'class'; isNegated: boolean; items: ClassItem[] }
  | { kind: 'any' | 'open' | 'close' | 'or' | 'start' | 'end' }
  | { kind: 'boundary'; isNegated: boolean }
  | { kind: 'quantifier'; text: string; isLazy: boolean };

/** A range of characters. */
type ClassItem = readonly [first: string, last: string];

const CONTROLS: Readonly<Record<string, string>> = {
  t: '\t',
  n: '\n',
  r: '\r',
  f: '\f',
  v: '\v',
  a: '\x07',
  e: '\x1b',
};
const CLASSES: Readonly<Record<string, ClassItem[]>> = {
  d: [['0', '9']],
  w: [
    ['0', '9'],
    ['A', 'Z'],
    ['_', '_'],
    ['a', 'z'],
  ],
  s: [
    ['\t', '\r'],
    [' ', ' '],
  ],
};
const QUANTIFIER = /(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})/y;
const CODE = /(?:x([0-9a-f]{2})|x\{([0-9a-f]{1,6})\}|u([0-9a-f]{4}))/iy;
const FLAGS = /^\(\?([ims]+)\)/;

export interface Regex {
  tokens: readonly Token[];
  /** Of `i`, `m` and `s`. */
  flags: ReadonlySet<string>;
}

/**
 * Reads a regular expression.
 * @throws Unconvertible if it has look-arounds, back references or other parts outside of the common subset
 */
export function parseRegex(source: string, flags: string): Regex {
  const leading = FLAGS.exec(source);
  const text = source.slice(leading?.[0].length ?? 0);
  const tokens: Token[] = [];
  let at = 0;
  let depth = 0;
  const refuse = (what: string): never => {
    throw new Unconvertible('regex', `a regular expression with ${what}`);
  };
  const sticky = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  /** Reads the part of an escape after its backslash. */
  function escaped():
    | { items: ClassItem[]; isNegated: boolean }
    | { boundary: boolean }
    | { character: string } {
    const code = sticky(CODE);
    if (code) {
      at += code[0].length;
      const value = Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16);
      return value > 0x10ffff ? refuse('a code of no character') : { character: String.fromCodePoint(value) };
    }
    const character = String.fromCodePoint(text.codePointAt(at) ?? refuse('an incomplete escape'));
    at += character.length;
    const lower = character.toLowerCase();
    if (CLASSES[lower]) return { items: CLASSES[lower], isNegated: lower !== character };
    if (lower === 'b') return { boundary: character === 'B' };
    if (CONTROLS[character]) return { character: CONTROLS[character] };
    if (/[\p{L}\p{N}]/u.test(character)) refuse(`\\${character}`);
    return { character };
  }
  function readClass(): Token {
    const isNegated = text.charAt(at) === '^';
    if (isNegated) at++;
    const items: ClassItem[] = [];
    const character = (): string | null => {
      const next = String.fromCodePoint(text.codePointAt(at) ?? refuse('an incomplete class'));
      at += next.length;
      if (next === '[' && /[:.=]/.test(text.charAt(at))) refuse('a named class');
      if (next !== '\\') return next;
      const part = text.charAt(at) === 'b' ? refuse('\\b in a class') : escaped();
      if ('character' in part) return part.character;
      if (!('items' in part) || part.isNegated) refuse('a negated class in a class');
      else items.push(...part.items);
      return null;
    };
    for (let isFirst = true; isFirst || text.charAt(at) !== ']'; isFirst = false) {
      const first = character();
      if (first === null) continue;
      if (text.charAt(at) !== '-' || text.charAt(at + 1) === ']') {
        items.push([first, first]);
        continue;
      }
      at++;
      const last = character();
      if (last === null || last < first) refuse('a range of no order');
      else items.push([first, last]);
    }
    at++;
    return { kind: 'class', isNegated, items };
  }
  function group(): Token {
    if (text.charAt(at) === '?') {
      const named = /^(?::|P?<[A-Za-z_]\w*>)/.exec(text.slice(at + 1, at + 64));
      if (!named) refuse('a look-around or another special group');
      at += 1 + (named?.[0].length ?? 0);
    } else if (text.charAt(at) === '*') {
      refuse('a verb');
    }
    depth++;
    return { kind: 'open' };
  }
  function token(): Token {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    at += character.length;
    switch (character) {
      case '\\': {
        const part = escaped();
        if ('character' in part) return { kind: 'character', character: part.character };
        if ('boundary' in part) return { kind: 'boundary', isNegated: part.boundary };
        return { kind: 'class', ...part };
      }
      case '[':
        return readClass();
      case '(':
        return group();
      case ')':
        if (--depth < 0) refuse('a parenthesis that is not open');
        return { kind: 'close' };
      case '|':
        return { kind: 'or' };
      case '.':
        return { kind: 'any' };
      case '{':
        if (/\d/.test(text.charAt(at))) refuse('a thousand repetitions or more');
        return { kind: 'character', character };
      case '^':
        return { kind: 'start' };
      case '$':
        return { kind: 'end' };
      default:
        return { kind: 'character', character };
    }
  }
  while (at < text.length) {
    const quantifier = sticky(QUANTIFIER);
    if (!quantifier) {
      tokens.push(token());
      continue;
    }
    const last = tokens.at(-1)?.kind;
    if (last === undefined || ['open', 'or', 'start', 'end', 'boundary', 'quantifier'].includes(last))
      refuse('a quantifier of nothing');
    at += quantifier[0].length;
    const isLazy = text.charAt(at) === '?';
    if (isLazy) at++;
    if (text.charAt(at) === '+') refuse('a possessive quantifier');
    tokens.push({ kind: 'quantifier', text: quantifier[0], isLazy });
  }
  if (depth > 0) refuse('a parenthesis that is not closed');
  return { tokens, flags: new Set([...flags, ...(leading?.[1] ?? '')]) };
}

const hex = (character: string) => (character.codePointAt(0) ?? 0).toString(16);
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Returns a text as a regular expression that RE2 and PCRE read; control characters by their codes. */
export function escapeRe2(text: string): string {
  return text
    .replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (character) => `\\x{${hex(character)}}`);
}

const inClass = (character: string, special: RegExp) =>
  special.test(character) ? `\\${character}` : character;

const ranges = (items: readonly ClassItem[], write: (character: string) => string) =>
  items.map(([first, last]) => (first === last ? write(first) : `${write(first)}-${write(last)}`)).join('');

const NOTATION = { any: '.', open: '(', close: ')', or: '|', start: '^', end: '$' } as const;

/** Returns a regular expression in the notation of RE2, which matches anywhere in a text. */
export function re2Of({ tokens, flags }: Regex): string {
  const inRe2Class = (character: string) =>
    CONTROL.test(character) ? `\\x{${hex(character)}}` : inClass(character, /[\\\]^[&~-]/);
  const body = tokens.map((token) => {
    switch (token.kind) {
      case 'character':
        return escapeRe2(token.character);
      case 'class':
        return `[${token.isNegated ? '^' : ''}${ranges(token.items, inRe2Class)}]`;
      case 'boundary':
        return token.isNegated ? '\\B' : '\\b';
      case 'quantifier':
        return token.text + (token.isLazy ? '?' : '');
      default:
        return NOTATION[token.kind];
    }
  });
  return (flags.size === 0 ? '' : `(?${[...flags].sort().join('')})`) + body.join('');
}

/** Every character with a meaning in Lucene's regular expressions, with all of its optional operators. */
const LUCENE = /[.?+*|{}[\]()"\\#@&<>~^$-]/g;
const escapeLucene = (text: string) => text.replace(LUCENE, '\\$&');

/**
 * Returns a regular expression in the notation of Lucene, which matches whole values: `^` and `$` are left out and, where they are
 * missing, any text is allowed. Lucene's `.` also matches line breaks.
 */
export function luceneOf({ tokens, flags }: Regex): string {
  if (flags.has('m') && tokens.some(({ kind }) => kind === 'start' || kind === 'end'))
    throw new Unconvertible('regex', 'a regular expression with anchors of lines');
  const isCased = !flags.has('i');
  const parts: string[] = [];
  let depth = 0;
  let isEnded = false;
  if (tokens[0]?.kind !== 'start') parts.push('.*');
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1]?.kind;
    if (isEnded && !(token.kind === 'or' && depth === 0))
      throw new Unconvertible('regex', 'a regular expression with $ before its end');
    switch (token.kind) {
      case 'start':
        if (depth > 0 || (index > 0 && tokens[index - 1]?.kind !== 'or'))
          throw new Unconvertible('regex', 'a regular expression with ^ after its beginning');
        break;
      case 'end':
        if (depth > 0) throw new Unconvertible('regex', 'a regular expression with $ before its end');
        isEnded = true;
        break;
      case 'boundary':
        throw new Unconvertible('regex', 'a regular expression with \\b');
      case 'character':
        parts.push(luceneCharacter(token.character, isCased));
        break;
      case 'class':
        parts.push(luceneClass(token.items, token.isNegated, isCased));
        break;
      case 'quantifier':
        parts.push(token.text);
        break;
      case 'or':
        if (depth > 0) {
          parts.push('|');
          break;
        }
        parts.push(isEnded ? '|' : '.*|', next === 'start' ? '' : '.*');
        isEnded = false;
        break;
      default:
        if (token.kind === 'open') depth++;
        if (token.kind === 'close') depth--;
        parts.push(NOTATION[token.kind]);
    }
  }
  if (!isEnded) parts.push('.*');
  return parts.join('');
}

function luceneCharacter(character: string, isCased: boolean): string {
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
  if (isCased || lower === upper) return escapeLucene(character);
  return `[${escapeLucene(lower)}${escapeLucene(upper)}]`;
}

function luceneClass(items: readonly ClassItem[], isNegated: boolean, isCased: boolean): string {
  const all = isCased ? items : items.flatMap((item) => [item, ...otherCase(item)]);
  return `[${isNegated ? '^' : ''}${ranges(all, escapeLucene)}]`;
}

/** Returns the range of the same letters in the other case. */
function otherCase([first, last]: ClassItem): ClassItem[] {
  const isWithin = (from: string, to: string) => first >= from && last <= to;
  if (isWithin('a', 'z')) return [[first.toUpperCase(), last.toUpperCase()]];
  if (isWithin('A', 'Z')) return [[first.toLowerCase(), last.toLowerCase()]];
  const both = (character: string) => [character.toLowerCase(), character.toUpperCase()] as const;
  if (first === last) return both(first).map((character) => [character, character] as const);
  // A range without letters, such as digits, has no other case.
  if (last < 'A' || (first > 'Z' && last < 'a') || (first > 'z' && last <= '\x7f')) return [];
  throw new Unconvertible(
    'regex',
    'a regular expression without letter case that has a range of letters and others',
  );
}
