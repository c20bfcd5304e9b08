import fc from 'fast-check';
import { expect, it } from 'vitest';
import { indentedJson } from '../../src/model/indented-json.ts';

it('keeps large integers as they are written', () => {
  expect(indentedJson('{"serial":9007199254740993,"x":[1.0,-2e400]}')).toBe(
    '{\n  "serial": 9007199254740993,\n  "x": [\n    1.0,\n    -2e400\n  ]\n}',
  );
});

it('has letters instead of their escapes', () => {
  expect(indentedJson('["\\u0444\\u002f\\/\\u0022"]')).toBe('[\n  "ф//\\""\n]');
});

it('has the lines of JSON.stringify', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, '\t', 1), (text, space) => {
      const value = JSON.parse(text);
      expect(indentedJson(JSON.stringify(value, null, space))).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

it('reads strings of any length', () => {
  const text = JSON.stringify(['\\"{'.repeat(1_000_000)]);
  expect(indentedJson(text)).toHaveLength(text.length + '\n  \n'.length);
});

it('does not grow with the square of the depth', () => {
  const depth = 20_000;
  const lines = indentedJson('['.repeat(depth) + ']'.repeat(depth)).split('\n');
  expect(lines).toHaveLength(2 * depth - 1);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(100);
});
