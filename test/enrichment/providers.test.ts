import { describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../src/enrichment/providers/catalogue.ts';
import { verdictOf } from '../../src/model/confidence.ts';
import { providerAnswer } from './fixture.ts';

const prototypeKey: unknown = JSON.parse('{"__proto__": {"data": {"abuseConfidenceScore": 0}}}');
const malformed: [string, unknown][] = [
  ['null', null],
  ['undefined', undefined],
  ['a string', '<html>502 Bad Gateway</html>'],
  ['a number', 42],
  ['an array', [{ data: {} }]],
  ['an empty object', {}],
  ['strings where objects belong', { data: 'x', pulse_info: 'x', noise: 'x', query_status: 7, error: 7 }],
  ['nulls where objects belong', { data: null, pulse_info: null, error: null, errors: null }],
  ['numbers out of range', { data: { abuseConfidenceScore: -1 }, pulse_info: { count: -1 } }],
  ['members of a prototype', prototypeKey],
];

describe.each(PROVIDERS.map((provider) => [provider.name, provider] as const))('%s', (_, provider) => {
  it.each(malformed)('returns an error and no verdict for %s', (_kind, raw) => {
    const { lifetimeSeconds: _lifetime, ...assessment } = provider.assess(raw);
    expect(assessment).toEqual({ verdict: 'UNKNOWN', score: null, error: expect.stringMatching(/./) });
  });

  it('retries soon after a failure', () => {
    expect(provider.assess(null).lifetimeSeconds).toBeLessThanOrEqual(3600);
  });

  it('supports at least one type', () => {
    expect(provider.accepts.length).toBeGreaterThan(0);
  });
});

describe('PROVIDERS', () => {
  it('have unique names', () => {
    const names = PROVIDERS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each([
    ['virustotal', 'virustotal-file', 100],
    ['virustotal', 'virustotal-domain', 52],
    ['virustotal', 'virustotal-ipv4', 38],
    ['abuseipdb', 'abuseipdb-check', 100],
    ['otx', 'otx-ipv4-general', 40],
    ['greynoise', 'greynoise-community', 0],
    ['shodan', 'shodan-host', null],
    ['urlhaus', 'urlhaus-url', 95],
    ['urlhaus', 'urlhaus-host', 80],
    ['urlhaus', 'urlhaus-payload', 70],
    ['tweetfeed-meta', 'tweetfeed-ipmeta-entry', null],
    ['tweetfeed-meta', 'tweetfeed-domainmeta-entry', null],
    ['maltrail', 'maltrail-trail', 80],
  ])('%s scores its response %s as %s', (name, file, score) => {
    const provider = PROVIDERS.find((candidate) => candidate.name === name);
    expect(provider?.assess(providerAnswer(file))).toMatchObject({
      score,
      verdict: verdictOf(score),
      error: null,
    });
  });
});
