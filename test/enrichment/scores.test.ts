import { describe, expect, it } from 'vitest';
import { abuseipdb } from '../../src/enrichment/providers/abuseipdb.ts';
import { greynoise } from '../../src/enrichment/providers/greynoise.ts';
import { maltrail } from '../../src/enrichment/providers/maltrail.ts';
import { otx } from '../../src/enrichment/providers/otx.ts';
import { shodan } from '../../src/enrichment/providers/shodan.ts';
import { urlhaus } from '../../src/enrichment/providers/urlhaus.ts';
import { virustotal } from '../../src/enrichment/providers/virustotal.ts';

/** The provider answered and knows nothing. */
const noJudgement = { verdict: 'UNKNOWN', score: null, error: null };

function vtAnswer(malicious: number, suspicious: number, others: number) {
  const stats = { malicious, suspicious, harmless: 0, undetected: others, timeout: 50 };
  return { data: { attributes: { last_analysis_stats: stats } } };
}

describe('virustotal', () => {
  it.each([
    [0, 0, 90, 'BENIGN'],
    [1, 0, 89, 'BENIGN'],
    [3, 0, 87, 'SUSPICIOUS'],
    [0, 6, 84, 'SUSPICIOUS'],
    [10, 0, 80, 'MALICIOUS'],
    [90, 0, 0, 'MALICIOUS'],
  ])(
    'rates %i malicious, %i suspicious and %i other engines %s',
    (malicious, suspicious, others, verdict) => {
      expect(virustotal.assess(vtAnswer(malicious, suspicious, others)).verdict).toBe(verdict);
    },
  );

  it('counts two suspicious engines as one malicious engine', () => {
    const two = virustotal.assess(vtAnswer(0, 2, 88)).score;
    expect(two).toBe(virustotal.assess(vtAnswer(1, 0, 89)).score);
  });

  it('has no verdict without engine results', () => {
    expect(virustotal.assess(vtAnswer(0, 0, 0))).toMatchObject(noJudgement);
  });

  it('has no verdict for values unknown to VirusTotal', () => {
    const raw = { error: { code: 'NotFoundError', message: 'File "x" not found' } };
    expect(virustotal.assess(raw)).toMatchObject(noJudgement);
  });

  it('reports an exhausted quota as an error', () => {
    const raw = { error: { code: 'QuotaExceededError', message: 'Quota\nexceeded' } };
    expect(virustotal.assess(raw).error).toBe('QuotaExceededError: Quota exceeded');
  });

  it('truncates a long error', () => {
    const raw = { error: { code: 'x'.repeat(100_000) } };
    expect(virustotal.assess(raw).error).toHaveLength(200);
  });
});

describe('abuseipdb', () => {
  const check = (part: object) => ({ data: { abuseConfidenceScore: 80, totalReports: 4, ...part } });

  it('uses the confidence as the score', () => {
    expect(abuseipdb.assess(check({})).score).toBe(80);
  });
  it('uses the confidence also for a whitelisted address', () => {
    expect(abuseipdb.assess(check({ isWhitelisted: true })).score).toBe(80);
  });
  it('has no verdict for a whitelisted address without reports', () => {
    const raw = check({ abuseConfidenceScore: 0, totalReports: 0, isWhitelisted: true });
    expect(abuseipdb.assess(raw)).toMatchObject(noJudgement);
  });
  it('treats zero confidence despite reports as a verdict', () => {
    expect(abuseipdb.assess(check({ abuseConfidenceScore: 0 })).verdict).toBe('BENIGN');
  });
  it('has no verdict for an address without reports', () => {
    const raw = check({ abuseConfidenceScore: 0, totalReports: 0, isWhitelisted: null });
    expect(abuseipdb.assess(raw)).toMatchObject(noJudgement);
  });
  it("reports an error with AbuseIPDB's message", () => {
    const raw = { errors: [{ detail: 'Daily rate limit exceeded', status: 429 }] };
    expect(abuseipdb.assess(raw).error).toBe('Daily rate limit exceeded');
  });
});

describe('otx', () => {
  const general = (count: number, part: object = {}) => ({ pulse_info: { count }, ...part });

  it.each([
    [1, 40],
    [4, 70],
    [1_000, 90],
  ])('scores %i pulses as %i', (count, score) => {
    expect(otx.assess(general(count)).score).toBe(score);
  });
  it('has no verdict without a pulse', () => {
    expect(otx.assess(general(0))).toMatchObject(noJudgement);
  });
  it('scores values whitelisted by OTX as 0', () => {
    expect(otx.assess(general(50, { validation: [{ source: 'whitelist' }] })).score).toBe(0);
  });
  it('scores an accepted false positive as 0', () => {
    expect(otx.assess(general(2, { false_positive: [{ assessment: 'accepted' }] })).score).toBe(0);
  });
  it('has no verdict for merely popular values', () => {
    expect(otx.assess(general(5, { validation: [{ source: 'majestic' }] }))).toMatchObject(noJudgement);
  });
  it('reports an error', () => {
    expect(otx.assess({ detail: 'Authentication required' }).error).toBe('Authentication required');
  });
});

describe('greynoise', () => {
  const community = (part: object) => ({ noise: true, riot: false, ...part });

  it.each([
    ['malicious', 'MALICIOUS'],
    ['suspicious', 'SUSPICIOUS'],
    ['benign', 'BENIGN'],
    ['unknown', 'UNKNOWN'],
  ])('maps the classification %s to %s', (classification, verdict) => {
    expect(greynoise.assess(community({ classification })).verdict).toBe(verdict);
  });
  it('scores a common business service as 0', () => {
    expect(greynoise.assess(community({ riot: true })).score).toBe(0);
  });
  it('has no verdict for an unseen address', () => {
    const raw = { ip: '192.0.2.1', noise: false, riot: false, message: 'IP not observed' };
    expect(greynoise.assess(raw)).toMatchObject(noJudgement);
  });
  it('reports an error', () => {
    expect(greynoise.assess({ message: 'You have hit your rate limit' }).error).toMatch(/rate limit/);
  });
});

describe('shodan', () => {
  it.each([
    [['cloud', 'c2'], 90],
    [['compromised'], 75],
    [['honeypot', 'vpn'], null],
    [['__proto__', 7, null], null],
  ])('scores the tags %j as %s', (tags, score) => {
    expect(shodan.assess({ ip_str: '192.0.2.1', tags }).score).toBe(score);
  });
  it('has no verdict for a host that is merely vulnerable', () => {
    expect(shodan.assess({ ip_str: '192.0.2.1', vulns: ['CVE-2014-0160'] })).toMatchObject(noJudgement);
  });
  it('has no verdict for an unseen host', () => {
    expect(shodan.assess({ error: 'No information available for that IP.' })).toMatchObject(noJudgement);
  });
  it('reports an error', () => {
    expect(shodan.assess({ error: 'Invalid API key' }).error).toBe('Invalid API key');
  });
});

describe('urlhaus', () => {
  const listed = (part: object) => ({ query_status: 'ok', threat: 'malware_download', ...part });

  it.each([
    ['online', 95],
    ['offline', 75],
    ['unknown', 75],
  ])('scores a listed URL that is %s as %i', (url_status, score) => {
    expect(urlhaus.assess(listed({ url_status })).score).toBe(score);
  });
  it('rates a host that currently serves malware malicious', () => {
    const urls = [{ url_status: 'offline' }, { url_status: 'online' }];
    expect(urlhaus.assess(listed({ urls })).verdict).toBe('MALICIOUS');
  });
  it('rates a host that formerly served malware suspicious', () => {
    expect(urlhaus.assess(listed({ urls: [{ url_status: 'offline' }, null] })).verdict).toBe('SUSPICIOUS');
  });
  it.each([{ query_status: 'no_results' }, { query_status: 'ok', urls: [] }])(
    'has no verdict for %j',
    (raw) => {
      expect(urlhaus.assess(raw)).toMatchObject(noJudgement);
    },
  );
  it.each([
    ['Heodo', 95],
    [null, 70],
  ])('scores a file with the signature %s as %i, whatever the status of its URLs', (signature, score) => {
    const raw = listed({ sha256_hash: 'a', signature, urls: [{ url_status: 'offline' }] });
    expect(urlhaus.assess(raw).score).toBe(score);
  });
  it('accepts the documented typo in the response for a host', () => {
    const raw = { query_staus: 'ok', urls: [{ url_status: 'online' }] };
    expect(urlhaus.assess(raw).score).toBe(80);
  });
  it.each([{ error: 'Unauthorized' }, { query_status: 'unknown_auth_key' }])(
    'reports the error in %j',
    (raw) => {
      expect(urlhaus.assess(raw)).toMatchObject({ score: null, error: Object.values(raw)[0] });
    },
  );
  it('reports an error', () => {
    expect(urlhaus.assess({ query_status: 'invalid_url' }).error).toBe('invalid_url');
  });
});

describe('maltrail', () => {
  const listed = (file: unknown) => ({ trail: '192.0.2.1:445', file, reference: [] });

  it.each([
    ['trails/static/malware/apt_sofacy.txt', 80, 'MALICIOUS'],
    ['trails/static/suspicious/dns_tunneling_service.txt', 40, 'SUSPICIOUS'],
    ['trails/static/mass_scanner.txt', 30, 'SUSPICIOUS'],
  ])('scores a line of %s as %i, %s', (file, score, verdict) => {
    expect(maltrail.assess(listed(file))).toMatchObject({ score, verdict, error: null });
  });
  it('has no verdict for values on no list', () => {
    expect(maltrail.assess({ trail: null })).toMatchObject(noJudgement);
  });
  it('keeps a result for seven days', () => {
    expect(maltrail.assess({ trail: null }).lifetimeSeconds).toBe(7 * 86_400);
  });
  it.each([
    ['a list in an unknown place', listed('trails/custom/mine.txt')],
    ['a path that only ends as known', listed('x/trails/static/malware/apt_sofacy.txt')],
    ['no list', { trail: '192.0.2.1' }],
    ['a list that is no text', listed(['trails/static/malware/apt_sofacy.txt'])],
    ['an empty line', { ...listed('trails/static/malware/apt_sofacy.txt'), trail: '' }],
    ['a line that is no text', { ...listed('trails/static/malware/apt_sofacy.txt'), trail: 7 }],
    ['no line', { file: 'trails/static/malware/apt_sofacy.txt' }],
  ])('reports an error for %s', (_what, raw) => {
    expect(maltrail.assess(raw).error).toBe('unexpected answer');
  });
});
