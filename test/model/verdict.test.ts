import { describe, expect, it } from 'vitest';
import { type JudgedEnrichment, summarize, verdictOf } from '../../src/model/confidence.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = new Date('2026-03-01T12:00:01Z');
const earlier = new Date('2026-03-01T11:59:59Z');

function enrichment(part: Partial<JudgedEnrichment>): JudgedEnrichment {
  return { score: null, error: null, expiresAt: later, ...part };
}

describe('verdictOf', () => {
  it.each([
    [100, 'MALICIOUS'],
    [70, 'MALICIOUS'],
    [69, 'SUSPICIOUS'],
    [30, 'SUSPICIOUS'],
    [29, 'BENIGN'],
    [0, 'BENIGN'],
    [null, 'UNKNOWN'],
  ] as const)('maps a score of %s to %s', (score, verdict) => {
    expect(verdictOf(score)).toBe(verdict);
  });
});

describe('summarize', () => {
  it('returns UNKNOWN without enrichments', () => {
    expect(summarize([], now)).toEqual({
      verdict: 'UNKNOWN',
      maxScore: null,
      providerCount: 0,
      fresh: false,
    });
  });

  it('uses the verdict of the highest score', () => {
    const summary = summarize([enrichment({ score: 0 }), enrichment({ score: 85 })], now);
    expect(summary).toMatchObject({ verdict: 'MALICIOUS', maxScore: 85, providerCount: 2 });
  });

  it('ignores failed enrichments, including their score and expiry', () => {
    const broken = enrichment({ score: 90, error: 'quota', expiresAt: earlier });
    expect(summarize([broken, enrichment({ score: 10 })], now)).toEqual({
      verdict: 'BENIGN',
      maxScore: 10,
      providerCount: 1,
      fresh: true,
    });
  });

  it('counts a result without a score, but derives no verdict from it', () => {
    const summary = summarize([enrichment({})], now);
    expect(summary).toEqual({ verdict: 'UNKNOWN', maxScore: null, providerCount: 1, fresh: true });
  });

  it('is not fresh once one result has expired, but keeps the verdict', () => {
    const stale = enrichment({ score: 90, expiresAt: earlier });
    expect(summarize([stale, enrichment({ score: 1 })], now)).toMatchObject({
      verdict: 'MALICIOUS',
      fresh: false,
    });
  });

  it('treats the instant of expiry as expired', () => {
    expect(summarize([enrichment({ expiresAt: now })], now).fresh).toBe(false);
  });
});
