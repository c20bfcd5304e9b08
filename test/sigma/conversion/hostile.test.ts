import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { convertRule, QUERY_LANGUAGES, type QueryLanguage } from '../../../src/sigma/conversion/convert.ts';
import { Unconvertible } from '../../../src/sigma/conversion/unconvertible.ts';
import { runs } from '../../properties/runs.ts';

/** Parts of values that end literals, begin commands, comments, macros and wildcards, or look like operators. */
const PIECES = [
  ...[
    '"',
    "'",
    '`',
    '\\',
    '\\\\',
    '\\"',
    '""',
    "''",
    '*',
    '?',
    '\\*',
    '\\?',
    '|',
    '||',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
  ],
  ...[
    '\n',
    '\r\n',
    '\t',
    '\0',
    '\u0085',
    '\u2028',
    '\u2029',
    '\u00a0',
    '\u3000',
    '\u202e',
    '\ud800',
    '😀',
    'İ',
    'ß',
  ],
  ...[
    ' OR ',
    ' AND ',
    ' NOT ',
    ' or ',
    ' not(',
    ':',
    '=',
    '!=',
    '<',
    '>',
    '~',
    '^',
    '/',
    '//',
    '/*',
    '--',
    '#',
    '&',
  ],
  ...[
    '$',
    '$x$',
    '%',
    '@',
    ',',
    ';',
    '.',
    '.*',
    '+',
    '-',
    ' ',
    '_raw',
    'x',
    'X',
    '1',
    '| delete',
    '"""',
    '\\x22',
    '\\u0022',
  ],
];
const hostile = fc.string({ unit: fc.constantFrom(...PIECES), minLength: 1, maxLength: 12 });

/** Escapes a text so that Sigma reads it without wildcards. */
const literal = (text: string) => text.replace(/[\\*?]/g, '\\$&');

const queryOf = (key: string, value: unknown, language: QueryLanguage) =>
  convertRule(
    {
      logsource: { product: 'windows', category: 'process_creation' },
      detection: { a: { [key]: value }, b: { OriginalFileName: 'end' }, condition: 'a and not b' },
    },
    language,
  ).query;

/** Returns a string literal at an index and the index after it, by the escapes of SPL, KQL and ES|QL. */
function readQuoted(query: string, from: number): { text: string; end: number } {
  if (query[from] !== '"') throw new Error(`no literal: ${query.slice(from)}`);
  let text = '';
  for (let at = from + 1; at < query.length; at++) {
    const character = query.charAt(at);
    if (character === '"') return { text, end: at + 1 };
    if (character !== '\\') {
      text += character;
      continue;
    }
    const code = /^u([0-9a-f]{4})/.exec(query.slice(at + 1, at + 6));
    const escaped = query.charAt(++at);
    if (code) at += 4;
    text += code
      ? String.fromCharCode(Number.parseInt(String(code[1]), 16))
      : ({ n: '\n', t: '\t', r: '\r' }[escaped] ?? escaped);
  }
  throw new Error(`a literal without an end: ${query}`);
}

/** Returns the only literal at the place of `marker` in the same query of a benign value. */
function literalAt(query: string, benign: string, marker = '"marker"'): string {
  const [before = '', after = ''] = benign.split(marker);
  expect(query.startsWith(before)).toBe(true);
  const { text, end } = readQuoted(query, before.length);
  expect(query.slice(end)).toBe(after);
  return text;
}

/** Returns the value that a wildcard pattern of ES|QL stands for, where every wildcard is escaped. */
const unescapedLike = (pattern: string) => {
  expect(pattern.replace(/\\./gsu, '')).not.toMatch(/[*?\\]/);
  return pattern.replace(/\\([\\*?])/g, '$1');
};

/** Characters that the search command cannot hold. */
const UNSEARCHABLE = /[*`\p{Cc}\p{Zl}\p{Zp}]/u;

describe('no value changes the rest of a query', () => {
  it('in SPL', () => {
    fc.assert(
      fc.property(hostile, (value) => {
        const query = queryOf('CommandLine', literal(value), 'splunk-spl');
        if (!UNSEARCHABLE.test(value)) {
          const benign = queryOf('CommandLine', 'marker', 'splunk-spl');
          expect(literalAt(query, benign)).toBe(value);
          return;
        }
        const benign = queryOf('CommandLine|cased', 'marker', 'splunk-spl').replace('(?s)^marker$', 'marker');
        const regex = literalAt(query, benign);
        expect(query).not.toContain('`');
        const body = regex.replace(/^\(\?is\)/, '').replace(/\\x\{/g, '\\u{');
        expect(new RegExp(body, 'isu').test(value)).toBe(true);
        expect(new RegExp(body, 'isu').test(`${value}x`)).toBe(false);
      }),
      runs(300),
    );
  });

  it.each(['sentinel-kql', 'defender-kql'] as const)('in KQL (%s)', (language) => {
    const [whole, inside] = [
      queryOf('CommandLine', 'marker', language),
      queryOf('CommandLine|contains', 'marker', language),
    ];
    fc.assert(
      fc.property(hostile, (value) => {
        const query = queryOf('CommandLine', literal(value), language);
        expect(query.replaceAll('\n| where ', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        expect(literalAt(query, whole)).toBe(value);
        expect(literalAt(queryOf('CommandLine|contains', literal(value), language), inside)).toBe(value);
      }),
      runs(300),
    );
  });

  it('in ES|QL', () => {
    const [whole, inside] = [
      queryOf('CommandLine', 'marker', 'elastic-esql'),
      queryOf('CommandLine|contains', 'marker', 'elastic-esql'),
    ];
    fc.assert(
      fc.property(hostile, (value) => {
        expect(literalAt(queryOf('CommandLine', literal(value), 'elastic-esql'), whole)).toBe(
          value.toLowerCase(),
        );
        const query = queryOf('CommandLine|contains', literal(value), 'elastic-esql');
        const pattern = literalAt(query, inside, '"*marker*"');
        expect(pattern).toMatch(/^\*.*\*$/su);
        expect(unescapedLike(pattern.slice(1, -1))).toBe(value.toLowerCase());
      }),
      runs(300),
    );
  });

  it('in Lucene', () => {
    const [whole, inside] = [
      queryOf('CommandLine', 'marker', 'elastic-lucene'),
      queryOf('CommandLine|contains', 'marker', 'elastic-lucene'),
    ];
    const [before = '', after = ''] = inside.split('*marker*');
    fc.assert(
      fc.property(hostile, (value) => {
        const query = queryOf('CommandLine', literal(value), 'elastic-lucene');
        const [start = '', end = ''] = whole.split('"marker"');
        expect(query.startsWith(start) && query.endsWith(end)).toBe(true);
        const phrase = query.slice(start.length, query.length - end.length);
        // Within a phrase, a backslash takes the meaning from the character after it; without one, only a quote ends it.
        expect(phrase).toMatch(/^"(?:[^"\\]|\\.)*"$/su);
        expect(phrase.slice(1, -1).replace(/\\(.)/gsu, '$1')).toBe(value);

        const other = queryOf('CommandLine|contains', literal(value), 'elastic-lucene');
        expect(other.startsWith(`${before}*`) && other.endsWith(`*${after}`)).toBe(true);
        const term = other.slice(before.length + 1, other.length - after.length - 1);
        expect(term).toMatch(/^(?:[^-+=&|><!(){}[\]^"~*?:\\/\s]|\\.)*$/su);
        expect(term.replace(/\\(.)/gsu, '$1')).toBe(value);
      }),
      runs(300),
    );
  });
});

/** Regular expressions of others: in Lucene between slashes, elsewhere in a literal. */
const regex = fc.string({
  unit: fc.constantFrom(...PIECES, 'a', 'b', '(a)', '[b]', '[^c]', '\\d', '\\.', '\\/', '{2}', 'a|b'),
  minLength: 1,
  maxLength: 8,
});

describe('no regular expression changes the rest of a query', () => {
  it.each(QUERY_LANGUAGES)('in %s', (language) => {
    const isLucene = language === 'elastic-lucene';
    const benign = queryOf('CommandLine|re', '^marker$', language);
    const marker = isLucene ? '/marker/' : /"\^?marker\$?"/.exec(benign)?.[0];
    fc.assert(
      fc.property(regex, (value) => {
        let query: string;
        try {
          query = queryOf('CommandLine|re', value, language);
        } catch (error) {
          expect(error).toBeInstanceOf(Unconvertible);
          return;
        }
        if (!isLucene) {
          literalAt(query, benign, marker);
          return;
        }
        const [before = '', after = ''] = benign.split('/marker/');
        expect(query.startsWith(before) && query.endsWith(after)).toBe(true);
        expect(query.slice(before.length, query.length - after.length)).toMatch(/^\/(?:[^/\\]|\\.)*\/$/su);
      }),
      runs(300),
    );
  });
});

/** Names of fields that are no names. */
const name = fc.string({ unit: fc.constantFrom(...PIECES, 'a', 'b'), minLength: 1, maxLength: 6 });

it.each(QUERY_LANGUAGES)('no name of a field changes a query in %s', (language) => {
  fc.assert(
    fc.property(name, (field) => {
      try {
        const rule = { logsource: { product: 'x' }, detection: { a: { [field]: 'v' }, condition: 'a' } };
        const { query } = convertRule(rule, language);
        // `|` separates modifiers, and only words name a field.
        expect(field === '' || /^[\w.@-]+(?:\|.*)?$/.test(field) || /^(?:\|.*)?$/.test(field)).toBe(true);
        expect(query.length).toBeLessThan(60);
      } catch (error) {
        if (!(error instanceof Unconvertible)) throw error;
      }
    }),
    runs(200),
  );
});
