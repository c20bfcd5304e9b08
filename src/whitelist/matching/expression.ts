import { RE2JS } from 're2js';
import type { IndicatorType } from '../../model/vocabulary.ts';

const MAX_PATTERN_LENGTH = 1000;
/**
 * Instructions of the compiled program. Matching costs at most this number times the length of the value:
 * some 10 ms for the longest possible value.
 */
const MAX_PROGRAM_SIZE = 500;
/**
 * Limit on the length of the pattern times its repetitions, an upper bound of the program size: RE2 unrolls
 * counted repetitions, so ten characters become thousands of instructions before the size can be checked.
 */
const MAX_UNROLLED = 20_000;
const REPETITION = /\{(\d{1,6})?(?:,(\d{1,6})?)?\}/g;

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
  ['<', '>'],
]);
/** PCRE allows any character but letters, digits, backslash and space. */
const DELIMITER = /^[!-/:-@[\]-`{-~]$/;

const FLAGS: ReadonlyMap<string, number> = new Map([
  ['i', RE2JS.CASE_INSENSITIVE],
  ['m', RE2JS.MULTILINE],
  ['s', RE2JS.DOTALL],
  // These have no effect on whether a value matches: RE2 reads characters, not bytes; its $ is the very end;
  // greediness changes the matched text only; S asks for optimization.
  ['u', 0],
  ['D', 0],
  ['U', 0],
  ['S', 0],
]);

/**
 * Parses a regular expression in the form of PHP's preg_match: delimiters, then modifiers (`/^abuse@/i`). It
 * runs on RE2, whose time is linear in the value. Constructs that need a backtracking engine (look-around,
 * back references, possessive and atomic groups) are rejected, and so are expressions that match every value
 * of one of the types.
 */
export function readExpression(
  text: string,
  types: readonly IndicatorType[],
): { expression: RE2JS } | { rejected: string } {
  if (text.length > MAX_PATTERN_LENGTH) {
    return { rejected: `an expression longer than ${MAX_PATTERN_LENGTH} characters` };
  }
  const parts = withoutDelimiters(text);
  if ('rejected' in parts) return parts;
  if (parts.pattern.length * repetitions(parts.pattern) > MAX_UNROLLED)
    return { rejected: 'an expression too large' };
  const expression = compile(parts.pattern, parts.flags);
  if (expression === null) return { rejected: 'an expression that RE2 cannot run' };
  if (expression.programSize() > MAX_PROGRAM_SIZE) return { rejected: 'an expression too large' };
  if (matchesEverything(expression, types)) return { rejected: 'an expression that matches everything' };
  return { expression };
}

function withoutDelimiters(text: string): { pattern: string; flags: number } | { rejected: string } {
  const open = text.charAt(0);
  const end = DELIMITER.test(open) ? text.lastIndexOf(CLOSING.get(open) ?? open) : -1;
  if (end < 1) return { rejected: 'an expression without delimiters' };
  let flags = 0;
  for (const modifier of text.slice(end + 1)) {
    const flag = FLAGS.get(modifier);
    if (flag === undefined) return { rejected: 'an expression with a modifier not supported' };
    flags |= flag;
  }
  return { pattern: text.slice(1, end), flags };
}

function repetitions(pattern: string): number {
  let sum = 1;
  for (const [, least = '0', most = '0'] of pattern.matchAll(REPETITION))
    sum += Math.max(Number(least), Number(most));
  return sum;
}

function compile(pattern: string, flags: number): RE2JS | null {
  try {
    return RE2JS.compile(pattern, flags);
  } catch {
    return null;
  }
}

function matchesEverything(expression: RE2JS, types: readonly IndicatorType[]): boolean {
  if (expression.test('')) return true;
  return types.some((type) => SAMPLE_VALUES[type].every((value) => expression.test(value)));
}

/**
 * Two normalized values of each type that share little but the type: an expression that matches both matches
 * nearly all values. Names and addresses are reserved ones (RFC 2606, RFC 5737, RFC 3849, RFC 5398).
 */
const SAMPLE_VALUES: Readonly<Record<IndicatorType, readonly [string, string]>> = {
  IPV4: ['203.0.113.77', '198.51.100.9'],
  IPV6: ['2001:db8::7:1', '3fff:0:9c::b'],
  DOMAIN: ['zq7.example', 'k-3w.b.test'],
  URL: ['http://zq7.example/', 'https://203.0.113.77:8443/a?b=C'],
  MD5: ['0f1e2d3c4b5a69788796a5b4c3d2e1f0', '7777777aaaaaaa7777777aaaaaaa7777'],
  SHA1: ['0f1e2d3c4b5a69788796a5b4c3d2e1f001234567', '7777777aaaaaaa7777777aaaaaaa7777777aaaaa'],
  SHA256: [
    '0f1e2d3c4b5a69788796a5b4c3d2e1f00123456789abcdef0123456789abcdef',
    '7777777aaaaaaa7777777aaaaaaa7777777aaaaaaa7777777aaaaaaa7777777a',
  ],
  EMAIL: ['zq7@k-3w.test', 'a.b@c.example'],
  CVE: ['CVE-1999-0001', 'CVE-2024-7654321'],
  BTC_ADDRESS: ['1ZQ7zq7ZQ7zq7ZQ7zq7ZQ7zq7ZQ7zq7Z', 'bc1qk3wk3wk3wk3wk3wk3wk3wk3wk3wk3w'],
  REGISTRY_KEY: ['hkey_local_machine\\zq7', 'hkey_users\\.default\\k-3w'],
  MUTEX: ['Global\\zq7', '{8761-K}'],
  FILENAME: ['zq7.dll', '/tmp/k-3w'],
  USER_AGENT: ['mozilla/5.0 (zq7)', 'curl/8.0'],
  ASN: ['AS64496', 'AS65551'],
};
