import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { normalize } from '../../src/model/normalize.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { REAL_DATA } from '../support/real-data.ts';

function lines(file: string): string[] {
  return readFileSync(`${REAL_DATA}/feeds/${file}`, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function countRejections(type: IndicatorType, values: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) {
    const result = normalize(type, value);
    if ('rejected' in result) counts[result.rejected] = (counts[result.rejected] ?? 0) + 1;
  }
  return counts;
}

describe.skipIf(!existsSync(REAL_DATA))('the values of public feeds', () => {
  it('includes only valid addresses in ipsum', () => {
    expect(
      countRejections(
        'IPV4',
        lines('text/ipsum.txt').map((line) => line.split('\t')[0] ?? ''),
      ),
    ).toEqual({});
  });

  it('includes only valid URLs in URLhaus', () => {
    const urls = lines('abusech/urlhaus-csv-online-2026-02-07.csv').map((line) => line.split('","')[2] ?? '');
    expect(countRejections('URL', urls)).toEqual({});
  });

  it('includes only two invalid domains in TweetFeed, each two names run together', () => {
    const rows = lines('tweetfeed/month.csv').map((line) => line.split(','));
    const domains = rows.filter((row) => row[2] === 'domain').map((row) => row[3] ?? '');
    expect(countRejections('DOMAIN', domains)).toEqual({ 'domain longer than 253 characters': 2 });
  });
});
