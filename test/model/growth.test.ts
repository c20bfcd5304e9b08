import { describe, expect, it } from 'vitest';
import { detectType } from '../../src/model/detect-type.ts';
import { normalize } from '../../src/model/normalize.ts';
import { asciiName, httpUrl } from '../../src/model/normalize-url.ts';
import { defang, refang, refangHost, refangScheme, unwrap } from '../../src/model/refang.ts';
import { uniqueTags } from '../../src/model/statement.ts';
import { MAX_LENGTH, nameKey, readText, searchText, slugOf } from '../../src/model/text.ts';
import { INDICATOR_TYPES } from '../../src/model/vocabulary.ts';
import { LONG, steepOnes } from '../support/growth.ts';

/** Up to the longest value: a longer one is refused before it is looked at. */
const VALUE_SIZES = [MAX_LENGTH / 64, MAX_LENGTH / 8, MAX_LENGTH - 64];

describe('a repetitive value takes time linear in its length', LONG, () => {
  it.each(INDICATOR_TYPES)('normalized as %s', async (type) => {
    expect(await steepOnes((text) => normalize(type, text), VALUE_SIZES)).toEqual([]);
  });

  it.each(INDICATOR_TYPES)('defanged as %s', async (type) => {
    expect(await steepOnes((text) => defang(type, text), VALUE_SIZES)).toEqual([]);
  });

  it('when its type is detected', async () => {
    expect(await steepOnes(detectType, VALUE_SIZES)).toEqual([]);
  });
});

describe('a text takes time linear in its length', LONG, () => {
  it.each<[string, (text: string) => unknown]>([
    ['readText', readText],
    ['detectType', detectType],
    ['refang', refang],
    ['unwrap', unwrap],
    ['refangHost', refangHost],
    ['refangScheme', refangScheme],
    ['searchText', searchText],
    ['slugOf', slugOf],
    ['nameKey', nameKey],
    ['httpUrl', httpUrl],
    ['normalize', (text) => normalize('URL', text)],
    ['uniqueTags', (text) => uniqueTags(text.split(''))],
  ])('%s', async (_, run) => {
    expect(await steepOnes(run)).toEqual([]);
  });

  it('asciiName', async () => {
    expect(await steepOnes(asciiName, VALUE_SIZES)).toEqual([]);
  });
});
