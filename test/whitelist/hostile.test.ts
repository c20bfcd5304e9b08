import { describe, expect, it } from 'vitest';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { buildMatcher, type ListsMatcher } from '../../src/whitelist/matching/matcher.ts';
import type { ListKind } from '../../src/whitelist/matching/rule.ts';
import { parsed } from './lists.ts';

/** Far more than it takes, far less than a scan of all entries for each value would. */
const BOUND_MS = 2000;

function matcherOf(type: ListKind, list: readonly string[]): ListsMatcher {
  return buildMatcher([{ id: 'hostile', list: parsed({ name: 'hostile', type, list }) }]);
}

/** Of this process, in ms, so that others on the machine do not count. */
function timeOf(matcher: ListsMatcher, type: IndicatorType, value: string, times: number): number {
  const start = process.cpuUsage();
  for (let n = 0; n < times; n++) matcher.find(type, value);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** All words of two letters of that length. */
function words(length: number): string[] {
  return Array.from({ length: 2 ** length }, (_, n) =>
    n.toString(2).padStart(length, '0').replaceAll('0', 'a').replaceAll('1', 'b'),
  );
}

describe('a hostile list', () => {
  it('of very many names is compiled and matched fast', () => {
    const matcher = matcherOf(
      'hostname',
      Array.from({ length: 200_000 }, (_, n) => `host-${n}.example`),
    );
    expect(matcher.find('DOMAIN', 'www.host-199999.example')?.entry).toBe('host-199999.example');
    expect(timeOf(matcher, 'DOMAIN', `${'a.'.repeat(120)}example`, 1000)).toBeLessThan(BOUND_MS);
  });

  it('of a hundred thousand substrings with a common prefix is matched fast', () => {
    const matcher = matcherOf(
      'substring',
      words(16).map((word) => `${word}c`),
    );
    expect(matcher.find('DOMAIN', `${'ab'.repeat(9)}c.example`)?.entry).toBe(`${'ab'.repeat(8)}c`);
    expect(timeOf(matcher, 'DOMAIN', `${`${'ab'.repeat(30)}.`.repeat(4)}example`, 1000)).toBeLessThan(
      BOUND_MS,
    );
  });

  it('of nested substrings is matched fast', () => {
    const matcher = matcherOf(
      'substring',
      Array.from({ length: 250 }, (_, n) => 'a'.repeat(n + 4)),
    );
    expect(timeOf(matcher, 'USER_AGENT', 'a'.repeat(8192), 1)).toBeLessThan(BOUND_MS);
  });

  it('of nested networks is matched fast', () => {
    const networks = Array.from({ length: 25 }, (_, n) => `10.0.0.0/${n + 8}`);
    expect(timeOf(matcherOf('cidr', networks), 'IPV4', '10.0.0.0', 10_000)).toBeLessThan(BOUND_MS);
  });

  it('of expressions that make a backtracking engine hang is matched fast', () => {
    const expressions = ['/^(a+)+$/', '/^(a|aa)+$/', '/(x+x+)+y/', '/^(?:a?){30}a{30}b$/', '/\\b(a*)*\\bq/'];
    const matcher = matcherOf('regex', expressions);
    expect(timeOf(matcher, 'MUTEX', `${'a'.repeat(8000)}!`, 1)).toBeLessThan(BOUND_MS);
  });
});
