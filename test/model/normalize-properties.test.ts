import { isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { detectType } from '../../src/model/detect-type.ts';
import { normalize } from '../../src/model/normalize.ts';
import { defang } from '../../src/model/refang.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../../src/model/vocabulary.ts';
import { runs } from '../properties/runs.ts';
import { cpuTime } from '../support/cpu-time.ts';

/** Pieces that meet each other badly: what refanging, the URL parser and the unwrapping each act on. */
const PIECES = [
  ...'[](){}<>"\'`.:/\\@#?%*-_ aA1xü“”',
  ...['[.]', '[:]', '[://]', '[@]', '(dot)', 'hxxp', 'http://', 'ftps://', 'ws:', '//', '..', '/../', '%2e'],
  ...[
    'evil',
    '.com',
    'xn--',
    '0x7f',
    '127.1',
    '1.2.3.4',
    '::',
    ':80',
    '/24',
    'HKLM',
    'mailto:',
    'CVE-2021-',
    '12345',
  ],
  ...['\u200b', '\u200d', '\u00ad', '\u202e', 'ß', 'İ', '。', '１', '\u0000', '\t', '\ud800'],
];
const hostile = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary' }),
);
const plausible = fc.oneof(
  hostile,
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.ipV4Extended(),
  fc.ipV6(),
  fc.domain(),
  fc.emailAddress(),
);
const anyType = fc.constantFrom<IndicatorType>(...INDICATOR_TYPES);

describe('normalize', () => {
  it('is idempotent for any input', () => {
    fc.assert(
      fc.property(anyType, plausible, (type, raw) => {
        const first = normalize(type, raw);
        if ('type' in first) expect(normalize(first.type, first.value)).toEqual(first);
      }),
      runs(20_000),
    );
  });

  it('is idempotent for URLs of hostile parts', () => {
    fc.assert(
      fc.property(hostile, hostile, (host, path) => {
        const first = normalize('URL', `http://a${host}/${path}`);
        if ('type' in first) expect(normalize('URL', first.value)).toEqual(first);
      }),
      runs(20_000),
    );
  });

  it('accepts the IPv6 addresses that Node.js accepts, in the form of its URL parser', () => {
    const address = fc.oneof(
      fc.ipV6(),
      fc
        .array(fc.constantFrom(':', '::', '0', '1', 'ffff', '10ab', '1.2.3.4'), { maxLength: 12 })
        .map((p) => p.join('')),
    );
    fc.assert(
      fc.property(address, (text) => {
        const result = normalize('IPV6', text);
        expect('type' in result).toBe(isIPv6(text));
        if ('type' in result && result.type === 'IPV6') {
          expect(`[${result.value}]`).toBe(new URL(`http://[${text}]`).hostname);
        }
      }),
      runs(5_000),
    );
  });

  it('stays fast on nested or repeated brackets, quotes, spaces and dots', () => {
    const longRuns = ['[', '"', ' [', '[.]', 'a.', '\\ ', 'xn--', ':', 'a@', '<', '/..', 'ü', '!'].map((s) =>
      s.repeat(8192 / s.length),
    );
    const time = cpuTime(() => {
      for (const text of longRuns)
        for (const type of INDICATOR_TYPES) normalize(type, `${text.slice(0, 8191)}x`);
    });
    expect(time).toBeLessThan(2_000);
  });
});

describe('defang', () => {
  it('is reversed by normalize', () => {
    fc.assert(
      fc.property(anyType, plausible, (type, raw) => {
        const result = normalize(type, raw);
        if ('type' in result)
          expect(normalize(result.type, defang(result.type, result.value))).toEqual(result);
      }),
      runs(20_000),
    );
  });
});

describe('detectType', () => {
  it('returns only types that normalize accepts', () => {
    fc.assert(
      fc.property(plausible, (raw) => {
        const type = detectType(raw);
        if (type !== null) expect(normalize(type, raw)).toMatchObject({ type });
      }),
      runs(10_000),
    );
  });
});
