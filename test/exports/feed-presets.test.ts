import { describe, expect, it } from 'vitest';
import { exportProblem } from '../../src/feeds/feed.ts';
import { PRESETS, type Preset } from '../../src/feeds/presets.ts';
import { TXT_STYLES } from '../../src/formats/format.ts';
import { withParameters } from '../../src/model/query-string.ts';

const all = Object.entries<Preset>(PRESETS);

describe('presets', () => {
  it.each(all)('%s is a valid feed, also with filters', (slug, { format, query }) => {
    expect(exportProblem({ slug, format, query })).toBeNull();
    const filtered = withParameters(query, 'minConfidence=70&limit=1000&order=newest');
    expect(exportProblem({ slug, format, query: filtered })).toBeNull();
  });

  it('exist for every style of a list', () => {
    const styles = all.map(([, { query }]) => new URLSearchParams(query).get('style') ?? 'plain');
    expect(TXT_STYLES.filter((style) => !styles.includes(style))).toEqual([]);
  });

  it('have no indicators that are not for detection', () => {
    const withContext = all.filter(([, { format }]) => ['csv', 'ndjson', 'stix', 'misp'].includes(format));
    expect(withContext.filter(([, { query }]) => !query.includes('forDetection=true'))).toEqual([]);
  });

  it('have a limit if a document states a number of entries', () => {
    const limits = all.filter(([, { limit }]) => limit && !limit.text.includes('MB'));
    expect(limits.filter(([, { query }]) => !query.includes('limit='))).toEqual([]);
  });
});

describe('the parameters of a query', () => {
  it.each([
    ['style=paloalto&types=IPV4&limit=5', 'limit=9&tag=a', 'style=paloalto&types=IPV4&limit=9&tag=a'],
    ['types=IPV4', 'type=DOMAIN', 'type=DOMAIN'],
    ['', 'tag=a&tag=b', 'tag=a&tag=b'],
    ['tag=a', '', 'tag=a'],
  ])('of %j with %j are %j', (query, others, expected) => {
    expect(withParameters(query, others)).toBe(expected);
  });
});
