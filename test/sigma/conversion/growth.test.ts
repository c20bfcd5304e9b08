import { describe, expect, it } from 'vitest';
import { convertRule, QUERY_LANGUAGES } from '../../../src/sigma/conversion/convert.ts';
import { Unconvertible } from '../../../src/sigma/conversion/unconvertible.ts';
import { LONG, steepGrowth, steepOnes, upTo } from '../../support/growth.ts';

const logsource = { product: 'windows', category: 'process_creation' };

/** Converts to every language; a refusal is a result as well. */
function convert(detection: object): void {
  for (const language of QUERY_LANGUAGES)
    try {
      convertRule({ logsource, detection }, language);
    } catch (error) {
      if (!(error instanceof Unconvertible)) throw error;
    }
}

const SIZES = upTo(8_192);
const NOTHING_AROUND = [['', '']] as const;

describe('converting takes time linear in the size of a rule', LONG, () => {
  it.each([
    ['CommandLine'],
    ['CommandLine|contains'],
    ['CommandLine|windash'],
    ['CommandLine|re'],
    ['CommandLine|wide|base64offset'],
    ['User|contains'],
    ['Hashes|contains'],
  ])('with a repetitive value of %s', async (key) => {
    const run = (text: string) => convert({ a: { [key]: text }, condition: 'a' });
    expect(await steepOnes(run, [SIZES[1] / 16, SIZES[1] / 4], NOTHING_AROUND)).toEqual([]);
  });

  const numbered = (size: number, of: (index: number) => string) =>
    Array.from({ length: size }, (_, index) => of(index));
  const both = (size: number, key: (index: number) => string) =>
    Object.fromEntries(numbered(size, key).map((name) => [name, { Image: name }]));

  it.each<[string, (size: number) => object]>([
    ['values', (size) => ({ a: { Image: numbered(size, (index) => `v${index}`) }, condition: 'a' })],
    [
      'values with wildcards',
      (size) => ({ a: { 'Image|contains|all': numbered(size, (i) => `v${i}?`) }, condition: 'a' }),
    ],
    [
      'selections',
      (size) => ({ ...both(size, (index) => `s${index}`), condition: '1 of s* and not all of them' }),
    ],
    ['names in the condition', (size) => ({ a: { Image: 'x' }, condition: `${'a or '.repeat(size)}a` })],
    [
      'patterns in the condition',
      (size) => ({
        ...both(size, (i) => `s${i}x`),
        condition: numbered(size, (i) => `1 of s${i}*`).join(' or '),
      }),
    ],
    ['negations', (size) => ({ a: { Image: 'x' }, condition: `${'not '.repeat(size)}a` })],
    ['parentheses', (size) => ({ a: { Image: 'x' }, condition: `${'('.repeat(size)}a${')'.repeat(size)}` })],
    [
      'wildcards in a pattern of names',
      (size) => ({ [`s${'a'.repeat(size)}`]: { Image: 'x' }, condition: `1 of s${'a*'.repeat(size)}b` }),
    ],
    [
      'groups of a regular expression',
      (size) => ({ a: { 'Image|re': `${'(a|'.repeat(size)}b${')'.repeat(size)}` }, condition: 'a' }),
    ],
  ])('with many %s', async (_, detectionOf) => {
    const growth = await steepGrowth((size) => {
      const detection = detectionOf(size);
      return () => convert(detection);
    }, upTo(4_096));
    expect(growth).toBeNull();
  });
});
