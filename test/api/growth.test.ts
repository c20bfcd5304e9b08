import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EMBEDDED } from '../support/engines.ts';
import { LONG, steepOnes } from '../support/growth.ts';
import { type Harness, startHarness } from '../support/harness.ts';

/** Node takes 16 KiB of headers. */
const HEADER_SIZES = [1_024, 16_384];

describe('headers', () => {
  let tipline: Harness;
  beforeAll(async () => {
    tipline = await startHarness(EMBEDDED);
  });
  afterAll(() => tipline.close());

  it.each([
    ['accept', '/api/v1/indicators'],
    ['accept', '/api/health'],
    ['accept-encoding', '/api/v1/indicators?format=csv'],
    ['authorization', '/api/v1/indicators'],
    ['cookie', '/app/indicators'],
  ])('a request takes time linear in the length of %s for %s', LONG, async (header, url) => {
    const ask = (text: string) => tipline.get(url, { headers: { [header]: text } });
    expect(await steepOnes(ask, HEADER_SIZES)).toEqual([]);
  });
});
