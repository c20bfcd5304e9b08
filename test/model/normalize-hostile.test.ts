import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { detectType } from '../../src/model/detect-type.ts';
import { normalize } from '../../src/model/normalize.ts';
import { refang } from '../../src/model/refang.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../../src/model/vocabulary.ts';
import { runs } from '../properties/runs.ts';
import { cpuTime } from '../support/cpu-time.ts';

const MEGABYTE = 1_048_576;
const LONGEST = 8192;
const REASON = /^[A-Za-z0-9 ,-]{5,60}$/;

/** 8,192 different ideographs: Punycode takes quadratic time for such a label. */
const IDEOGRAPHS = Array.from({ length: LONGEST }, (_, i) =>
  String.fromCharCode(0x4e00 + ((i * 7919) % 20_000)),
).join('');
const UNITS = [
  ...[
    '[',
    '(',
    '"',
    ' [',
    '[.',
    '[.]',
    '\\[',
    '\\.',
    '\\',
    '/',
    '\\/',
    '.',
    'a.',
    ' dot ',
    ' at ',
    ' ',
    '(a',
    '(a) ',
    ' (',
  ],
  ...[
    '@',
    'a@',
    '＠',
    '<',
    '<a>',
    ',',
    'xn--',
    'xn--a.',
    ':',
    '[::]',
    '[:]',
    '0:',
    'http://',
    'hxxp[:]//',
    'hx',
    '1.',
    '1-',
  ],
  ...[
    '*',
    '*.',
    'HKLM\\',
    'ü',
    'u\u0308',
    '\u200c',
    'ا\u200c',
    'क\u094d\u200d',
    '%2e',
    '/..',
    '?',
    'mailto:',
    '{.}',
    '“',
    'İ',
  ],
  ...['\ud83d\ude00', IDEOGRAPHS],
];
const HEADS = ['', 'http://', 'http://u@', 'http://a.example/', 'a@', '[', '"'];

const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  // UTF-16 units one by one: lone surrogates, NUL, anything.
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
    .map((units) => String.fromCharCode(...units)),
);

function expectAnswer(type: IndicatorType, raw: string): void {
  const result = normalize(type, raw);
  if ('rejected' in result) expect(result.rejected).toMatch(REASON);
  else expect(result.normalized).not.toBe('');
}

describe.each(INDICATOR_TYPES)('%s', (type) => {
  it('returns a value or a fixed reason for any string', () => {
    fc.assert(
      fc.property(anything, (raw) => expectAnswer(type, raw)),
      runs(2000),
    );
  });

  it.each([
    ['letters', 'a'.repeat(MEGABYTE)],
    ['spaces', ' '.repeat(MEGABYTE)],
    ['brackets', '['.repeat(MEGABYTE)],
    ['defanged dots', 'a[.]'.repeat(MEGABYTE / 4)],
    ['NUL', '\u0000'.repeat(MEGABYTE)],
    ['lone surrogates', '\ud800'.repeat(MEGABYTE)],
  ])('returns a value or a fixed reason for a megabyte of %s', (_, raw) => expectAnswer(type, raw));
});

it.each(['a', ' ', '[', 'a[.]', '\u0000', '\ud800', IDEOGRAPHS])(
  'detects no type for a megabyte of %j',
  (unit) => {
    expect(detectType(unit.repeat(MEGABYTE / unit.length))).toBeNull();
  },
);

it('detectType returns a type or null for any string', () => {
  fc.assert(
    fc.property(anything, (raw) => {
      expect([...INDICATOR_TYPES, null]).toContain(detectType(raw));
    }),
    runs(5000),
  );
});

it('refanging is idempotent', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        anything,
        fc
          .array(fc.constantFrom(...UNITS.slice(0, -1), ...HEADS), { maxLength: 12 })
          .map((units) => units.join('')),
      ),
      (raw) => {
        const once = refang(raw);
        if (once !== null) expect(refang(once)).toBe(once);
      },
    ),
    runs(10_000),
  );
});

describe.each(HEADS)('the longest value that starts with %j', (head) => {
  it('takes milliseconds, for any repeated unit', () => {
    const slow: string[] = [];
    for (const unit of UNITS) {
      for (const end of ['', 'x', '>', '.com']) {
        const text = head + unit.repeat(Math.ceil(LONGEST / unit.length));
        const value = text.slice(0, LONGEST - end.length) + end;
        const started = performance.now();
        for (const type of INDICATOR_TYPES) normalize(type, value);
        detectType(value);
        // Quadratic time was 300 ms and more; all sixteen together take about ten.
        if (performance.now() - started > 80) {
          const time = cpuTime(() => [
            ...INDICATOR_TYPES.map((type) => normalize(type, value)),
            detectType(value),
          ]);
          if (time > 80) slow.push(`${unit.slice(0, 8)}…${end}: ${time} ms`);
        }
      }
    }
    expect(slow).toEqual([]);
  });
});
