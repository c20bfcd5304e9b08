import { describe, expect, it } from 'vitest';
import { isNetwork } from '../../src/config/kinds.ts';
import { clientAddress, networkOf } from '../../src/http/client-address.ts';
import { matchesEtag, parseRange } from '../../src/http/conditional.ts';
import { redactKeys } from '../../src/http/redact-keys.ts';
import { needsKey, readableUrl } from '../../src/http/routing.ts';
import { parseQuerystring } from '../../src/http/validation.ts';
import { parseInstant } from '../../src/model/dates.ts';
import { retryAfter } from '../../src/outbound/with-retry.ts';
import { LONG, steepOnes } from '../support/growth.ts';

/** Node takes 16 KiB of headers, the first line included. */
const HEADER_SIZES = [256, 2_048, 16_384];
const now = new Date('2026-06-01T12:00:00Z');

describe('parsing client input takes time linear in its length', LONG, () => {
  it.each<[string, (text: string) => unknown]>([
    ['query string', parseQuerystring],
    ['Range', (text) => parseRange(text, 1_000_000)],
    ['If-None-Match', (text) => matchesEtag(text, '"a"')],
    ['path', (text) => quietly(() => needsKey(text))],
    ['path in a log', (text) => quietly(() => readableUrl(text))],
    ['key in a log', redactKeys],
    ['instant', parseInstant],
    ['Retry-After', (text) => quietly(() => retryAfter({ 'retry-after': text }, undefined, now))],
    ['X-Forwarded-For', (text) => quietly(() => clientAddress('127.0.0.1', text, ['127.0.0.0/8']))],
    ['address', (text) => quietly(() => networkOf(text))],
    ['network', (text) => void isNetwork(text)],
  ])('%s', async (_, run) => {
    expect(await steepOnes(run, HEADER_SIZES)).toEqual([]);
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
