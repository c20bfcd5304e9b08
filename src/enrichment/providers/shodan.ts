import {
  DAY,
  failed,
  judged,
  listOf,
  memberOf,
  type QueryableProvider,
  textOf,
  unexpected,
} from './provider.ts';

/** Tags that state what a host does, not what it runs. */
const TAG_SCORES = new Map<unknown, number>([
  ['c2', 90],
  ['malware', 90],
  ['compromised', 75],
  ['doublepulsar', 75],
]);

/**
 * Shodan REST API, `/shodan/host/{ip}` (https://developer.shodan.io/api): the results of a scan of a host,
 * which are context and no judgement. Open ports and `vulns` do not count: being vulnerable is not being
 * hostile. Only the tags above give a score. `{error}` with "No information available" (404) is a host that
 * Shodan has not scanned.
 *
 * `minify` leaves out the banners, which may be megabytes and carry no judgement. The key can only be given
 * in the query. Whatever the plan, there is one request a second; look-ups of addresses cost no credits
 * (https://book.shodan.io/developer-apis/shodan-api).
 */
export const shodan: QueryableProvider = {
  name: 'shodan',
  accepts: ['IPV4', 'IPV6'],
  defaultBaseUrl: 'https://api.shodan.io',
  requiresKey: true,
  quota: { perMinute: 60, perDay: null },
  perSecond: 1,
  request: (_type, normalized, key) => ({
    path: `/shodan/host/${encodeURIComponent(normalized)}?minify=true&key=${encodeURIComponent(key)}`,
    method: 'GET',
    credentials: {},
  }),
  assess(raw) {
    const error = textOf(memberOf(raw, 'error'));
    if (error?.startsWith('No information available')) return judged(null, 7 * DAY);
    if (error !== null) return failed(error);
    if (textOf(memberOf(raw, 'ip_str')) === null) return unexpected();
    const scores = (listOf(memberOf(raw, 'tags')) ?? []).map((tag) => TAG_SCORES.get(tag) ?? 0);
    const highest = scores.reduce((a, b) => Math.max(a, b), 0);
    return judged(highest === 0 ? null : highest, 7 * DAY);
  },
};
