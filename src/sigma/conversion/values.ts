import ipaddr from 'ipaddr.js';
import { ANY, both, type Expression, either, negated, ONE, type Pattern, type Test } from './expression.ts';
import { own } from './own.ts';
import { Unconvertible } from './unconvertible.ts';

/** A field of Sigma's taxonomy; null: the whole event. */
export type SigmaField = string | null;

/** A query with more is refused by some products, and no rule of public collections has as many. */
export const MAX_COMPARISONS = 10_000;
export const tooLarge = () => new Unconvertible('size', `more than ${MAX_COMPARISONS} comparisons`);

const NUMERIC = { lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;
const ENCODINGS = { wide: 'utf16le', utf16le: 'utf16le', utf16: 'utf16le', utf16be: 'utf16be' } as const;
const FLAGS = { i: 'i', ignorecase: 'i', m: 'm', multiline: 'm', s: 's', dotall: 's' } as const;
const PLACES = ['contains', 'startswith', 'endswith'] as const;

/** The dashes that Windows programs accept in front of an option (Sigma specification, "windash"). */
const DASHES = ['-', '/', '\u2013', '\u2014', '\u2015'];
const OPTION = /(?<![\p{L}\p{N}_])[-/](?=[\p{L}\p{N}_])/gu;
/** Each option multiplies the patterns by the number of dashes. */
const MAX_OPTIONS = 3;

/**
 * Returns the expression of a field's values (Sigma specification 2.1, "Detection" and the appendix on modifiers).
 * @param key the field and its modifiers: `CommandLine|contains|all`
 */
export function fieldExpression(key: string, value: unknown): Expression<SigmaField> {
  const [name = '', ...modifiers] = key.split('|');
  const values: unknown[] = Array.isArray(value) ? value : [value];
  if (values.length === 0) throw new Unconvertible('detection', `${key} has no values`);
  const field = name === '' ? null : name;
  const parts: Expression<SigmaField>[] = [];
  let size = 0;
  for (const one of values) {
    const part = valueExpression(field, modifiers, one);
    parts.push(part);
    size += part.kind === 'or' ? part.parts.length : 1;
    if (size > MAX_COMPARISONS) throw tooLarge();
  }
  return modifiers.includes('all') ? both(parts) : either(parts);
}

/** Returns the expression of a word that the whole event contains. */
export function keywordExpression(value: unknown): Expression<SigmaField> {
  return valueExpression(null, [], value);
}

function valueExpression(
  field: SigmaField,
  modifiers: readonly string[],
  value: unknown,
): Expression<SigmaField> {
  const rest = new Set(modifiers);
  rest.delete('all');
  if (rest.has('expand'))
    throw new Unconvertible('placeholder', 'placeholders, whose values each site defines');
  const [first] = rest;
  const compare = (test: Test<SigmaField>): Expression<SigmaField> => ({ kind: 'comparison', field, test });
  const operator = first === undefined ? undefined : own(NUMERIC, first);
  if (operator && rest.size === 1)
    return compare({
      kind: 'number',
      operator,
      value: numberOf(value),
    });
  if (first === 'exists' && rest.size === 1) {
    if (typeof value !== 'boolean') throw new Unconvertible('detection', 'exists needs true or false');
    return value ? compare({ kind: 'exists' }) : negated(compare({ kind: 'exists' }));
  }
  if (value === null && rest.size === 0) return negated(compare({ kind: 'exists' }));
  const text = textOf(value);
  if (first === 'cidr' && rest.size === 1) return compare({ kind: 'network', network: networkOf(text) });
  if (first === 're') return compare({ kind: 'regex', regex: text, flags: flagsOf(rest) });
  const isCased = rest.delete('cased');
  if (rest.delete('fieldref') && rest.size === 0) return compare({ kind: 'sameAs', other: text, isCased });
  const patterns = placed(patternsOf(text, rest), rest, field === null);
  if (rest.size > 0) throw new Unconvertible('modifier', `modifiers ${modifiers.join('|')}`);
  return either(patterns.map((pattern) => compare(patternTest(pattern, isCased))));
}

function patternTest(pattern: Pattern, isCased: boolean): Test<SigmaField> {
  return pattern.length === 1 && pattern[0] === ANY
    ? { kind: 'exists' }
    : { kind: 'pattern', pattern, isCased };
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || (typeof value === 'number' && isExact(value))) return String(value);
  throw new Unconvertible('detection', 'a value that is no text, number or truth value');
}

const isExact = (value: number) => Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER;

function numberOf(value: unknown): number {
  if (typeof value === 'number' && isExact(value)) return value;
  throw new Unconvertible('detection', 'a comparison with a value that is no number');
}

function networkOf(text: string): string {
  if (!ipaddr.isValidCIDR(text)) throw new Unconvertible('value', 'a value of cidr that is no network');
  return text;
}

function flagsOf(rest: Set<string>): string {
  const flags = new Set<string>();
  for (const modifier of rest) {
    if (modifier === 're') continue;
    const flag = own(FLAGS, modifier);
    if (flag === undefined) throw new Unconvertible('modifier', `modifiers re|${modifier}`);
    flags.add(flag);
  }
  return [...flags].sort().join('');
}

/** Takes the modifiers that change the value itself from `rest`. */
function patternsOf(text: string, rest: Set<string>): Pattern[] {
  const [encoding, ...others] = Object.entries(ENCODINGS).filter(([modifier]) => rest.has(modifier));
  const isBase64 = rest.delete('base64');
  const isOffset = rest.delete('base64offset');
  if (isBase64 || isOffset) {
    if (others.length > 0 || (isBase64 && isOffset))
      throw new Unconvertible('modifier', 'two encodings at once');
    if (encoding) rest.delete(encoding[0]);
    const bytes = bytesOf(literal(text), encoding);
    return (isOffset ? base64Offsets(bytes) : [bytes.toString('base64')]).map((encoded) => [encoded]);
  }
  const texts = rest.delete('windash') ? withEachDash(text) : [text];
  return texts.map(patternOf);
}

/** Takes the modifiers that say where the value is from `rest`. */
function placed(patterns: Pattern[], rest: Set<string>, isKeyword: boolean): Pattern[] {
  const places = PLACES.filter((place) => rest.delete(place));
  if (places.length > 1) throw new Unconvertible('modifier', `modifiers ${places.join('|')}`);
  const place = isKeyword ? 'contains' : places[0];
  return patterns.map((pattern) => {
    const start = place === 'contains' || place === 'endswith' ? ([ANY] as const) : [];
    const end = place === 'contains' || place === 'startswith' ? ([ANY] as const) : [];
    return withoutRepeats([...start, ...pattern, ...end]);
  });
}

const withoutRepeats = (pattern: Pattern) =>
  pattern.filter((part, index) => part !== ANY || pattern[index - 1] !== ANY);

/**
 * Reads wildcards and escapes: a backslash takes the meaning from a wildcard or a backslash that follows it, and is
 * itself elsewhere (Sigma specification, "Escaping").
 */
function patternOf(text: string): Pattern {
  const parts: (string | typeof ANY | typeof ONE)[] = [];
  let current = '';
  const end = () => {
    if (current !== '') parts.push(current);
    current = '';
  };
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    const next = text.charAt(index + 1);
    if (character === '\\' && (next === '*' || next === '?' || next === '\\')) {
      current += next;
      index++;
    } else if (character === '*' || character === '?') {
      end();
      parts.push(character === '*' ? ANY : ONE);
    } else {
      current += character;
    }
  }
  end();
  return withoutRepeats(parts);
}

function literal(text: string): string {
  const [first = '', ...others] = patternOf(text);
  if (typeof first === 'string' && others.length === 0) return first;
  throw new Unconvertible('modifier', 'an encoding of a value with wildcards');
}

function bytesOf(text: string, encoding: [string, string] | undefined): Buffer {
  if (encoding === undefined) return Buffer.from(text, 'utf8');
  const bytes = Buffer.from(encoding[0] === 'utf16' ? `\ufeff${text}` : text, 'utf16le');
  return encoding[1] === 'utf16be' ? bytes.swap16() : bytes;
}

/** Returns the base64 texts that do not depend on the bytes around a value, one for each of its three possible positions. */
function base64Offsets(bytes: Buffer): string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset, ' '), bytes]).toString('base64');
    return encoded.slice([0, 2, 3][offset], [undefined, -3, -2][(bytes.length + offset) % 3]);
  });
}

/** Returns a text with each dash in front of each of its options. */
function withEachDash(text: string): string[] {
  const pieces = text.split(OPTION);
  if (pieces.length - 1 > MAX_OPTIONS) throw new Unconvertible('size', 'windash with more than 3 options');
  const [first = '', ...others] = pieces;
  return others.reduce(
    (texts, piece) => texts.flatMap((one) => DASHES.map((dash) => one + dash + piece)),
    [first],
  );
}
