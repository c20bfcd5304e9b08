import { describe, expect, it } from 'vitest';
import { readValue } from '../../src/cli/named-indicator.ts';
import * as options from '../../src/cli/options.ts';
import { INDICATOR_TYPES } from '../../src/model/vocabulary.ts';
import { LONG, steepOnes } from '../support/growth.ts';

/** Linux takes 128 KiB an argument; growth shows before. */
const ARGUMENT_SIZES = [512, 32_768];

describe('parsing an argument takes time linear in its length', LONG, () => {
  it.each<[string, (text: string) => unknown]>([
    ['duration', options.duration],
    ['type', options.oneOf(INDICATOR_TYPES)],
    ['types', options.listOf(INDICATOR_TYPES)],
    ['id', options.uuid],
    ['time', options.instant],
    ['percent', options.percent],
    ['scope', (text) => options.scopes(text)],
    ['network', (text) => options.networks(text)],
    ['name', options.label],
    ['lifetime', (text) => options.lifetimes(`IPV4=${text}`)],
    ['quota', options.quota],
    ['value', (text) => readValue(text)],
  ])('%s', async (_, parse) => {
    expect(await steepOnes((text) => quietly(() => parse(text)), ARGUMENT_SIZES)).toEqual([]);
  });
});

/** Refusing takes time, too. */
function quietly(run: () => unknown): void {
  try {
    run();
  } catch {
    // Refused.
  }
}
