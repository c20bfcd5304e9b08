import { countOf, listOf, memberOf, textOf } from './json.ts';
import { DAY, failed, judged, type Provider, unexpected } from './provider.ts';

/**
 * AbuseIPDB API v2, `check` (https://docs.abuseipdb.com/#check-endpoint): `data.abuseConfidenceScore` is
 * already 0 to 100. A whitelisted address scores 0. AbuseIPDB answers 0 for an address nobody reported in
 * the period asked for: that is the absence of a judgement, so a 0 counts only when there are reports.
 * Errors are `{errors: [{detail, status}]}`.
 */
export const abuseipdb: Provider = {
  name: 'abuseipdb',
  accepts: ['IPV4', 'IPV6'],
  assess(raw) {
    const errors = listOf(memberOf(raw, 'errors'));
    if (errors !== null) return failed(textOf(memberOf(errors[0], 'detail')) ?? 'unnamed error');
    const data = memberOf(raw, 'data');
    const score = countOf(memberOf(data, 'abuseConfidenceScore'));
    if (score === null || score > 100) return unexpected();
    if (memberOf(data, 'isWhitelisted') === true) return judged(0, DAY);
    if (score === 0 && memberOf(data, 'totalReports') === 0) return judged(null, DAY);
    return judged(score, DAY);
  },
};
