import { expect, it } from 'vitest';
import { withoutParameters, withParameters } from '../../src/model/query-string.ts';

it('parameters of another query replace those with the same names', () => {
  expect(withParameters('minConfidence=70&types=URL&limit=5', 'type=IPV4&limit=9')).toBe(
    'minConfidence=70&type=IPV4&limit=9',
  );
  expect(withParameters('', 'a=1')).toBe('a=1');
});

it('parameters of another query are taken out, unless they have been changed', () => {
  expect(withoutParameters('minConfidence=70&style=squid&limit=5', 'style=squid&limit=9')).toBe(
    'minConfidence=70&limit=5',
  );
  expect(withoutParameters('a=1', '')).toBe('a=1');
});
