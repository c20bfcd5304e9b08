import { describe, expect, it } from 'vitest';
import { hasName, joinedNames, readNamePart, writeNamePart } from '../../src/model/name-parts.ts';

describe('parts of a domain', () => {
  it.each([
    ['a.example', { name: 'a.example', itself: true, below: true }],
    ['=a.example', { name: 'a.example', itself: true, below: false }],
    ['*.a.example', { name: 'a.example', itself: false, below: true }],
  ])('%s is read and written', (text, part) => {
    expect(readNamePart(text)).toEqual(part);
    expect(writeNamePart(part)).toBe(text);
  });

  it.each([
    ['a.example', ['a.example', 'b.a.example', 'c.b.a.example'], ['example', 'aa.example']],
    ['=a.example', ['a.example'], ['b.a.example', 'example']],
    ['*.a.example', ['b.a.example', 'c.b.a.example'], ['a.example', 'example', 'xa.example']],
  ])('%s includes %j, not %j', (part, included, others) => {
    expect([...included, ...others].filter((name) => hasName(new Set([part]), name))).toEqual(included);
  });

  it.each([
    [
      ['b.a.example', 'a.example', '=a.example', '*.a.example', '=c.b.a.example', 'x-a.example'],
      ['a.example', 'x-a.example'],
    ],
    [
      ['=a.example', '=b.a.example'],
      ['=a.example', '=b.a.example'],
    ],
    [['=a.example', '*.a.example', '=b.a.example'], ['a.example']],
    [
      ['*.a.example', 'b.a.example', '=c.example'],
      ['*.a.example', '=c.example'],
    ],
  ])('%j are joined to %j', (texts, joined) => {
    expect(joinedNames(texts)).toEqual(joined);
  });
});
