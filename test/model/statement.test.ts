import { describe, expect, it } from 'vitest';
import {
  decidingStatement,
  MAX_FILES,
  MAX_TAGS,
  mergeStatements,
  resolve,
  type SourceStatement,
  type Statement,
  withoutRecord,
} from '../../src/model/statement.ts';

const at = (day: string) => new Date(`${day}T00:00:00.000Z`);

const silent: Statement = {
  statedAt: null,
  firstSeen: null,
  lastSeen: null,
  importedAt: at('2026-05-01'),
  expiresAt: null,
  confidence: null,
  severity: null,
  tlp: 'CLEAR',
  tags: [],
  forDetection: true,
  ofCertificate: false,
  files: [],
  delistedAt: null,
  records: [],
  kev: null,
};

const says = (name: string, fields: Partial<SourceStatement> = {}): SourceStatement => ({
  ...silent,
  source: {
    id: name,
    name,
    defaults: { tlp: 'AMBER', confidence: 50, severity: 'MEDIUM' },
    lifetimes: {},
    isSnapshotList: false,
  },
  ...fields,
});

describe("resolving an indicator's statements", () => {
  it("uses the source's defaults for missing values", () => {
    expect(resolve('DOMAIN', [says('a')], [], null)).toEqual({
      confidence: 50,
      severity: 'MEDIUM',
      tlp: 'CLEAR',
      tags: [],
      sourceId: 'a',
      firstSeen: at('2026-05-01'),
      lastSeen: at('2026-05-01'),
      expiresAt: null,
      forDetection: true,
      ofCertificate: false,
      hasRecords: false,
      kev: null,
    });
  });

  it('has what CISA’s catalogue states by sources whose list still has it', () => {
    const kev = { dateAdded: '2026-05-01', dueDate: null, knownRansomware: false, requiredAction: null };
    const resolved = (...statements: SourceStatement[]) => resolve('CVE', statements, [], null).kev;
    expect(resolved(says('a'), says('b', { kev }))).toEqual(kev);
    expect(resolved(says('a'), says('b', { kev, delistedAt: at('2026-05-02') }))).toBeNull();
  });

  it("sets the expiry from the record, else from the type's TTL after the last sighting, else none", () => {
    const source = { ...says('a').source, lifetimes: { DOMAIN: 86_400 } };
    const seen = { source, lastSeen: at('2026-05-10') };
    expect(resolve('DOMAIN', [says('a', seen)], [], null).expiresAt).toEqual(at('2026-05-11'));
    expect(
      resolve('DOMAIN', [says('a', { ...seen, expiresAt: at('2027-01-01') })], [], null).expiresAt,
    ).toEqual(at('2027-01-01'));
    expect(resolve('IPV4', [says('a', seen)], [], null).expiresAt).toBeNull();
    expect(resolve('DOMAIN', [says('a', { source })], [], null).expiresAt).toEqual(at('2026-05-02'));
  });

  it('never expires what a lifetime keeps past the year 9999, which databases cannot store', () => {
    const expiry = (lifetime: number, fields: Partial<SourceStatement> = {}) => {
      const source = { ...says('a').source, lifetimes: { DOMAIN: lifetime } };
      return resolve('DOMAIN', [says('a', { ...fields, source })], [], null).expiresAt;
    };
    expect(expiry(86_400, { lastSeen: at('9999-12-30') })).toEqual(at('9999-12-31'));
    expect(expiry(86_400, { lastSeen: at('9999-12-31') })).toBeNull();
    expect(expiry(86_400, { delistedAt: at('9999-12-31') })).toBeNull();
    expect(expiry(Number.MAX_SAFE_INTEGER)).toBeNull();
  });

  it('keeps a listed member without expiry, and starts its TTL when it is delisted', () => {
    const source = { ...says('a').source, lifetimes: { DOMAIN: 86_400 }, isSnapshotList: true };
    expect(resolve('DOMAIN', [says('a', { source })], [], null).expiresAt).toBeNull();
    const left = { source, lastSeen: at('2026-05-10'), delistedAt: at('2026-05-11') };
    expect(resolve('DOMAIN', [says('a', left)], [], null).expiresAt).toEqual(at('2026-05-12'));
    expect(
      resolve('DOMAIN', [says('a', { ...left, source: { ...source, lifetimes: {} } })], [], null).expiresAt,
    ).toBeNull();
  });

  it('prefers the most confident source, then the earliest first sighting, then the name', () => {
    const early = { firstSeen: at('2020-01-01') };
    expect(resolve('DOMAIN', [says('a'), says('b', { confidence: 51 })], [], null).sourceId).toBe('b');
    expect(resolve('DOMAIN', [says('a'), says('b', early)], [], null).sourceId).toBe('b');
    expect(resolve('DOMAIN', [says('b'), says('a')], [], null).sourceId).toBe('a');
  });

  it("prefers a provider's highest score to the sources, and a pin to both", () => {
    const sources = [says('a', { confidence: 90 })];
    expect(resolve('DOMAIN', sources, [], null).confidence).toBe(90);
    expect(resolve('DOMAIN', sources, [10, 30], null).confidence).toBe(30);
    expect(resolve('DOMAIN', sources, [10, 30], 5).confidence).toBe(5);
    expect(resolve('DOMAIN', sources, [10, 30], 0).confidence).toBe(0);
  });

  it('prefers stated severities to defaults, and uses the highest stated', () => {
    expect(resolve('DOMAIN', [says('a'), says('b', { severity: 'LOW' })], [], null).severity).toBe('LOW');
    expect(
      resolve('DOMAIN', [says('a', { severity: 'HIGH' }), says('b', { severity: 'LOW' })], [], null).severity,
    ).toBe('HIGH');
  });

  it('leaves confidence, severity, source and detection to those that have not withdrawn their statement', () => {
    const statedAt = at('2026-05-03');
    const high = says('a', {
      confidence: 95,
      severity: 'CRITICAL',
      tlp: 'RED',
      tags: ['a'],
      statedAt,
      records: [{ id: 'indicator--1', statedAt: '2026-05-01T00:00:00.000Z' }],
    });
    const low = says('b', { confidence: 10, severity: 'LOW', tags: ['b'], forDetection: false });
    const ofLow = { confidence: 10, severity: 'LOW', sourceId: 'b', forDetection: false };
    const ofHigh = { confidence: 95, severity: 'CRITICAL', sourceId: 'a' };
    const withdrawal = { id: 'indicator--1', statedAt };
    for (const isWhole of [false, true]) {
      const withdrawn = { ...high, ...withoutRecord(high, withdrawal, isWhole) };
      expect(resolve('DOMAIN', [high, low], [], null)).toMatchObject(ofHigh);
      expect(resolve('DOMAIN', [withdrawn, low], [], null)).toMatchObject({
        ...ofLow,
        tlp: 'RED',
        tags: ['a', 'b'],
        expiresAt: null,
      });
      expect(decidingStatement([withdrawn, low])).toMatchObject({ confidence: 10, source: { name: 'b' } });
      expect(resolve('DOMAIN', [withdrawn], [], null)).toMatchObject({ ...ofHigh, expiresAt: statedAt });
      const again = {
        ...withdrawn,
        ...mergeStatements(withdrawn, {
          ...high,
          statedAt: at('2026-05-04'),
          records: [{ id: 'indicator--1', statedAt: '2026-05-04T00:00:00.000Z' }],
        }),
      };
      expect(resolve('DOMAIN', [again, low], [], null)).toMatchObject({ ...ofHigh, forDetection: true });
    }
    // What has ended otherwise still counts: only a recomputation at that time could tell.
    const ended = { ...high, expiresAt: at('2026-05-04') };
    const delisted = { ...high, delistedAt: at('2026-05-04') };
    for (const each of [ended, delisted])
      expect(resolve('DOMAIN', [each, low], [], null)).toMatchObject(ofHigh);
  });

  it('expires with the last source, and never while one source has no expiry', () => {
    const [a, b] = [says('a', { expiresAt: at('2027-01-01') }), says('b', { expiresAt: at('2028-01-01') })];
    expect(resolve('DOMAIN', [a, b], [], null).expiresAt).toEqual(at('2028-01-01'));
    expect(resolve('DOMAIN', [a, b, says('c')], [], null).expiresAt).toBeNull();
  });

  it('uses the most restrictive marking', () => {
    expect(
      resolve('DOMAIN', [says('a', { tlp: 'AMBER_STRICT' }), says('b', { tlp: 'AMBER' })], [], null).tlp,
    ).toBe('AMBER_STRICT');
  });
});

describe('merging two statements of one source', () => {
  it('prefers the later values, and spans both sightings', () => {
    const older = {
      ...silent,
      statedAt: at('2026-01-01'),
      confidence: 90,
      expiresAt: at('2026-09-01'),
      lastSeen: at('2026-04-01'),
      tags: ['a'],
    };
    const newer = {
      ...silent,
      statedAt: at('2026-02-01'),
      confidence: 10,
      firstSeen: at('2025-01-01'),
      tags: ['b'],
      tlp: 'GREEN' as const,
    };
    expect(mergeStatements(older, newer)).toMatchObject({
      confidence: 10,
      expiresAt: null,
      firstSeen: at('2025-01-01'),
      lastSeen: at('2026-04-01'),
      tags: ['a', 'b'],
      tlp: 'GREEN',
    });
  });

  it('unites the files, and stores those with the smallest ids', () => {
    const files = Array.from({ length: MAX_FILES + 1 }, (_, n) => String(100 + n));
    const merged = mergeStatements(
      { ...silent, files: files.slice(5) },
      { ...silent, files: files.slice(0, 10) },
    );
    expect(merged.files).toEqual(files.slice(0, MAX_FILES));
  });

  it('unites the tags, and stores the first of too many, in any order', () => {
    const tags = Array.from({ length: MAX_TAGS + 500 }, (_, n) => `tag ${10_000 + n}`);
    const [a, b, c] = [tags.slice(700), tags.slice(0, 800), tags.slice(300, 1200)].map((some) => ({
      ...silent,
      tags: some,
    })) as [Statement, Statement, Statement];
    for (const merged of [
      mergeStatements(mergeStatements(a, b), c),
      mergeStatements(mergeStatements(c, a), b),
      mergeStatements(mergeStatements(b, c), mergeStatements(a, b)),
    ])
      expect(merged.tags).toEqual(tags.slice(0, MAX_TAGS));
  });
});
