import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refangedSearch, searchForms, searchText } from '../../src/model/text.ts';
import { runs } from '../properties/runs.ts';

const text = fc.string({ unit: fc.constantFrom(...'ab.[]()"\' :/hxtp', 'Σ', 'ς'), maxLength: 8 });

describe('the texts that a search looks for', () => {
  it.each([
    ['evil', ['evil']],
    ['evil[.]example', ['evil[.]example', 'evil.example']],
    ['a ', ['a']],
    [' a', ['a']],
    ['"a"', ['a']],
    [' ', [' ']],
  ])('%j: %j', (q, forms) => {
    expect(searchForms(q)).toEqual(forms);
  });

  it('are in a text if the search or its refanged form is', () => {
    const isIn = (whole: string, part: string) => searchText(whole).includes(searchText(part));
    const property = fc.property(text, fc.array(text), (q, others) => {
      const whole = [others[0] ?? '', q, ...others].join('');
      for (const one of [whole, others.join(''), q.trim(), `${others[0] ?? ''}${refangedSearch(q) ?? ''}`]) {
        const wanted = [q, refangedSearch(q)].some((form) => form !== null && isIn(one, form));
        expect(searchForms(q).some((form) => isIn(one, form))).toBe(wanted);
      }
    });
    fc.assert(property, runs(1_000));
  });
});
