import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalize } from '../../src/model/normalize.ts';
import { defang } from '../../src/model/refang.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../../src/model/vocabulary.ts';
import { runs } from '../properties/runs.ts';
import { VALID } from './valid-values.ts';

const DOTS = [
  '.',
  '[.]',
  '(.)',
  '{.}',
  '[dot]',
  '(DOT)',
  '{dot}',
  '<.>',
  ' [.] ',
  '\\.',
  '\\[.\\]',
  '[.',
  '.]',
  ' dot ',
  '。',
];
const ATS = ['@', '[@]', '(@)', '[at]', '(AT)', '{at}', '<at>', ' [at] ', '\\[@\\]', ' @ '];
const SEPARATORS = [
  '://',
  '[:]//',
  '(:)//',
  '[://]',
  '(://)',
  '[:/]/',
  ':[/][/]',
  '[://',
  ' ://',
  ':// ',
  '\\[:\\]//',
];
const SCHEMES = ['http', 'HTTP', 'hxxp', 'hXXp', 'hxtp', 'htxp', 'h**p', 'hxp', 'hxxxp'];
const AROUND = [
  ['', ''],
  [' ', '\t'],
  ['"', '"'],
  ['“', '”'],
  ['<', '>'],
  ['`', '`'],
  ['\u202a', '\u202c'],
];

/** Each dot written in its own way. */
function disguised(host: string, dots: string[]): string {
  const parts = host.split('.');
  return parts.map((part, i) => (i === 0 ? part : (dots[i % dots.length] ?? '.') + part)).join('');
}

const dots = fc.array(fc.constantFrom(...DOTS), { minLength: 1, maxLength: 4 });
// IPv4 has no ideographic dots, and defanging never lets the last dot of a name go alone.
const asciiDots = fc.array(fc.constantFrom(...DOTS.slice(0, -1)), { minLength: 1, maxLength: 4 });
const around = fc.constantFrom(...AROUND);

describe.each(INDICATOR_TYPES)('%s', (type: IndicatorType) => {
  it('is accepted, and its defanged form normalizes to the same value', () => {
    let tried = 0;
    let accepted = 0;
    fc.assert(
      fc.property(VALID[type], (raw) => {
        tried++;
        const result = normalize(type, raw);
        if (!('type' in result)) return;
        accepted++;
        expect(result.type).toBe(type);
        expect(normalize(type, defang(type, result.value))).toEqual(result);
        expect(normalize(type, result.value)).toEqual(result);
      }),
      runs(1000),
    );
    expect(accepted / tried).toBeGreaterThan(0.8);
  });
});

describe('arbitrary defanging', () => {
  it('is reversed in addresses', () => {
    fc.assert(
      fc.property(VALID.IPV4, asciiDots, around, (address, ways, [before, after]) => {
        expect(normalize('IPV4', before + disguised(address, ways) + after)).toEqual(
          normalize('IPV4', address),
        );
      }),
    );
  });

  it('is reversed in domains', () => {
    fc.assert(
      fc.property(VALID.DOMAIN, dots, around, (name, ways, [before, after]) => {
        expect(normalize('DOMAIN', before + disguised(name, ways) + after)).toEqual(
          normalize('DOMAIN', name),
        );
      }),
    );
  });

  it('is reversed in URLs', () => {
    const scheme = fc.tuple(
      fc.constantFrom(...SCHEMES),
      fc.constantFrom('', 's'),
      fc.constantFrom(...SEPARATORS),
    );
    fc.assert(
      fc.property(scheme, VALID.DOMAIN, dots, around, ([word, s, separator], name, ways, [before, after]) => {
        const raw = `${before}${word}${s}${separator}${disguised(name, ways)}/x?y=z${after}`;
        expect(normalize('URL', raw)).toEqual(normalize('URL', `http${s}://${name}/x?y=z`));
      }),
      runs(1000),
    );
  });

  it('is reversed in email addresses', () => {
    fc.assert(
      fc.property(VALID.DOMAIN, dots, fc.constantFrom(...ATS), around, (name, ways, at, [before, after]) => {
        const raw = `${before}Bob.Smith+x${at}${disguised(name, ways)}${after}`;
        expect(normalize('EMAIL', raw)).toEqual(normalize('EMAIL', `Bob.Smith+x@${name}`));
      }),
    );
  });
});
