import { DAY, failed, judged, memberOf, type QueryableProvider, textOf, unexpected } from './provider.ts';

/**
 * GreyNoise has observed attacks, but a scanner of the whole Internet is not a targeted threat: below 100.
 */
const MALICIOUS = 85;
const SUSPICIOUS = 50;

/**
 * GreyNoise Community API v3, `/v3/community/{ip}` (https://docs.greynoise.io/reference/getcommunityip):
 * `noise` (seen scanning), `riot` (a common business service) and `classification`. An address it has not
 * seen comes as 404 with `noise` and `riot` false and no classification: no judgement, as is `unknown`.
 * Errors carry a `message` and no `noise`. IPv6 is refused (400).
 *
 * A free account has 50 look-ups a week (https://www.greynoise.io/pricing); a seventh of it each day never
 * runs out.
 */
export const greynoise: QueryableProvider = {
  name: 'greynoise',
  accepts: ['IPV4'],
  defaultBaseUrl: 'https://api.greynoise.io',
  requiresKey: true,
  quota: { perMinute: null, perDay: 7 },
  request: (_type, normalized, key) => ({
    path: `/v3/community/${encodeURIComponent(normalized)}`,
    method: 'GET',
    credentials: { key },
  }),
  assess(raw) {
    const noise = memberOf(raw, 'noise');
    const riot = memberOf(raw, 'riot');
    if (typeof noise !== 'boolean' || typeof riot !== 'boolean') {
      const message = textOf(memberOf(raw, 'message'));
      return message === null ? unexpected() : failed(message);
    }
    const classification = memberOf(raw, 'classification');
    if (classification === 'malicious') return judged(MALICIOUS, DAY);
    if (classification === 'suspicious') return judged(SUSPICIOUS, DAY);
    if (classification === 'benign' || riot) return judged(0, DAY);
    return judged(null, DAY);
  },
};
