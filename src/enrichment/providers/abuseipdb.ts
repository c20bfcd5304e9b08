import {
  countOf,
  DAY,
  failed,
  judged,
  listOf,
  memberOf,
  type QueryableProvider,
  textOf,
  unexpected,
} from './provider.ts';

/** As in the documentation's examples; the default of 30 days drops reports that are still of interest. */
const REPORTS_OF_DAYS = 90;

/**
 * AbuseIPDB API v2, `check` (https://docs.abuseipdb.com/#check-endpoint): `data.abuseConfidenceScore` is
 * already 0 to 100. `isWhitelisted` is ignored: by the documentation it is no basis for action, and the score
 * is more informative. AbuseIPDB answers 0 for an address without reports in the requested period: that is
 * the absence of a judgement, so a 0 counts only when there are reports. Errors are `{errors: [{detail,
 * status}]}`.
 *
 * A free account may check 1,000 addresses a day; a 429 states until when
 * (https://docs.abuseipdb.com/#api-daily-rate-limits), and is HTML unless JSON is requested.
 */
export const abuseipdb: QueryableProvider = {
  name: 'abuseipdb',
  accepts: ['IPV4', 'IPV6'],
  defaultBaseUrl: 'https://api.abuseipdb.com/api/v2',
  requiresKey: true,
  quota: { perMinute: null, perDay: 1_000 },
  resetHeader: 'x-ratelimit-reset',
  request: (_type, normalized, key) => ({
    path: `/check?ipAddress=${encodeURIComponent(normalized)}&maxAgeInDays=${REPORTS_OF_DAYS}`,
    method: 'GET',
    credentials: { key },
  }),
  assess(raw) {
    const errors = listOf(memberOf(raw, 'errors'));
    if (errors !== null) return failed(textOf(memberOf(errors[0], 'detail')) ?? 'unnamed error');
    const data = memberOf(raw, 'data');
    const score = countOf(memberOf(data, 'abuseConfidenceScore'));
    if (score === null || score > 100) return unexpected();
    if (score === 0 && memberOf(data, 'totalReports') === 0) return judged(null, DAY);
    return judged(score, DAY);
  },
};
