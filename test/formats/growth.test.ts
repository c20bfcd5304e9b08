import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS, FORMAT_NAMES, formatOf } from '../../src/formats/catalogue.ts';
import type { ExportIndicator } from '../../src/formats/format.ts';
import { domainComparisons } from '../../src/formats/sigma/kinds.ts';
import { fileComparison, literal } from '../../src/formats/sigma/paths.ts';
import { registryComparisons } from '../../src/formats/sigma/registry.ts';
import { normalize } from '../../src/model/normalize.ts';
import { MAX_LENGTH } from '../../src/model/text.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { LONG, steepOnes } from '../support/growth.ts';
import { exportIndicator, written } from './input.ts';

const VALUE_SIZES = [MAX_LENGTH / 64, MAX_LENGTH / 8, MAX_LENGTH - 64];
/** Those types that the text may be a value of. */
function rowsOf(text: string): ExportIndicator[] {
  const values: [IndicatorType, string][] = [
    ['MUTEX', text],
    ['FILENAME', text],
    ['USER_AGENT', text],
    ['URL', `http://evil.example/${text}`],
  ];
  return values.flatMap(([type, value], i) =>
    'rejected' in normalize(type, value) ? [] : [exportIndicator(i + 1, type, value)],
  );
}

const NOTHING_AROUND = [['', '']] as const;

describe('writing a repetitive value takes time linear in its length', LONG, () => {
  it.each(FORMAT_NAMES)('as %s', async (name) => {
    const format = formatOf(name, DEFAULT_OPTIONS);
    const write = (text: string) => written(format, rowsOf(text));
    expect(await steepOnes(write, VALUE_SIZES, NOTHING_AROUND)).toEqual([]);
  });

  it.each<[string, (text: string) => unknown]>([
    ['literal', literal],
    ['file name', fileComparison],
    ['domain', (text) => domainComparisons('f', { value: text, whitelistedParts: [] })],
    ['registry key', registryComparisons],
  ])('in a Sigma rule, as a %s', async (_, run) => {
    expect(await steepOnes(run, VALUE_SIZES)).toEqual([]);
  });
});
