import { describe, expect, it } from 'vitest';
import { MAX_NAMES, mergeEntities, type StatedObject } from '../../src/entities/resolution/merge-entities.ts';
import { mergeStatements, type Statement } from '../../src/model/statement.ts';
import { LONG, steepGrowth } from '../support/growth.ts';

const DAY = new Date('2026-05-01T00:00:00Z');
const statement = (tag: string): Statement => ({
  statedAt: DAY,
  firstSeen: null,
  lastSeen: null,
  importedAt: DAY,
  expiresAt: null,
  confidence: null,
  severity: null,
  tlp: 'CLEAR',
  tags: [tag],
  forDetection: true,
  ofCertificate: false,
  files: [],
  delistedAt: null,
  records: [],
  kev: null,
});
const campaign = (day: number, aliases: string[]): StatedObject => ({
  externalIds: ['campaign--1'],
  state: {
    id: '1',
    sourceId: '1',
    statedAt: new Date(DAY.getTime() + day),
    tlp: 'CLEAR',
    confidence: 50,
    columns: { name: 'Storm', aliases, description: null },
  },
});
/** In no order. */
const wordsOf = (count: number) => Array.from({ length: count }, (_, n) => `w${(n * 7919) % count}`);

describe('merging many records', LONG, () => {
  it('of one indicator with other tags takes time linear in their number', async () => {
    const growth = await steepGrowth(
      (count) => {
        const all = wordsOf(count).map(statement);
        return () => all.reduce(mergeStatements);
      },
      [1_024, 16_384],
    );
    expect(growth).toBeNull();
  });
});

describe('merging versions of a campaign', () => {
  const names = Array.from({ length: MAX_NAMES + 500 }, (_, n) => `name ${10_000 + n}`);
  const versions = [names.slice(700), names.slice(0, 800), names.slice(300, 1_200)].map((some, day) =>
    campaign(day, some),
  );

  it.each([[[0, 1, 2]], [[2, 0, 1]], [[1, 2, 0]], [[2, 1, 0, 1, 2]]])(
    'stores the first of too many names in the order %j',
    (order) => {
      const merged = order.map((n) => versions[n] as StatedObject).reduce(mergeEntities);
      expect(merged.state.columns.aliases).toEqual(names.slice(0, MAX_NAMES));
      for (const version of versions) expect(mergeEntities(merged, version)).toEqual(merged);
    },
  );
});
