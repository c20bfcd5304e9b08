import { describe, expect, it } from 'vitest';
import { type JudgedEnrichment, summarize, verdictOf } from '../../src/model/verdict.ts';

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
  ] as const)('calls a score of %s %s', (score, verdict) => {
    expect(verdictOf(score)).toBe(verdict);
  });
});

describe('summarize', () => {
  it('knows nothing without enrichments', () => {
    expect(summarize([], now)).toEqual({
      verdict: 'UNKNOWN',
      maxScore: null,
      providerCount: 0,
      fresh: false,
    });
  });

  it('takes the verdict of the highest score', () => {
    const summary = summarize([enrichment({ score: 0 }), enrichment({ score: 85 })], now);
    expect(summary).toMatchObject({ verdict: 'MALICIOUS', maxScore: 85, providerCount: 2 });
  });

  it('ignores what failed, its score and its expiry included', () => {
    const broken = enrichment({ score: 90, error: 'quota', expiresAt: earlier });
    expect(summarize([broken, enrichment({ score: 10 })], now)).toEqual({
      verdict: 'BENIGN',
      maxScore: 10,
      providerCount: 1,
      fresh: true,
    });
  });

  it('counts an answer without a judgement, and judges nothing from it', () => {
    const summary = summarize([enrichment({})], now);
    expect(summary).toEqual({ verdict: 'UNKNOWN', maxScore: null, providerCount: 1, fresh: true });
  });

  it('is not fresh once one answer has expired, and keeps the verdict', () => {
    const stale = enrichment({ score: 90, expiresAt: earlier });
    expect(summarize([stale, enrichment({ score: 1 })], now)).toMatchObject({
      verdict: 'MALICIOUS',
      fresh: false,
    });
  });

  it('counts the instant of expiry as expired', () => {
    expect(summarize([enrichment({ expiresAt: now })], now).fresh).toBe(false);
  });
});
