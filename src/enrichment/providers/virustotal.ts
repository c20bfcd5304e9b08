import type { IndicatorType } from '../../model/vocabulary.ts';
import {
  type Assessment,
  countOf,
  DAY,
  failed,
  judged,
  memberOf,
  objectOf,
  type QueryableProvider,
  textOf,
  unexpected,
} from './provider.ts';

/**
 * How fast the score rises with the share of engines that detect the value. With 11, 1 of 90 engines scores
 * 12 (one engine alone is often a false positive), 3 of 90 score 31, 10 of 90 score 73, and half of them 100.
 */
const STEEPNESS = 11;

/**
 * VirusTotal API v3: file, URL, domain and IP address objects, `data.attributes.last_analysis_stats`
 * (https://docs.virustotal.com/reference/files, /ip-object, /domains-object, /url-object). A suspicious
 * verdict counts half. Engines that timed out, failed or do not support the file type (`timeout`,
 * `confirmed-timeout`, `failure`, `type-unsupported`) gave no verdict and do not count.
 *
 * The public API allows 4 requests a minute and 500 a day
 * (https://docs.virustotal.com/reference/public-vs-premium-api). A used-up quota is a 429 without a header
 * that states until when; days end at 00:00 UTC
 * (https://docs.virustotal.com/docs/consumption-quotas-handled).
 */
export const virustotal: QueryableProvider = {
  name: 'virustotal',
  accepts: ['IPV4', 'IPV6', 'DOMAIN', 'URL', 'MD5', 'SHA1', 'SHA256'],
  defaultBaseUrl: 'https://www.virustotal.com/api/v3',
  requiresKey: true,
  quota: { perMinute: 4, perDay: 500 },
  request: (type, normalized, key) => ({
    path: pathOf(type, normalized),
    method: 'GET',
    credentials: { 'x-apikey': key },
  }),
  assess(raw) {
    const error = memberOf(raw, 'error');
    if (error !== undefined) return assessError(error);
    const stats = objectOf(memberOf(memberOf(memberOf(raw, 'data'), 'attributes'), 'last_analysis_stats'));
    return stats === null ? unexpected() : assessStats(stats);
  },
};

/**
 * A URL is identified by its unpadded base64url, not canonicalized
 * (https://docs.virustotal.com/reference/url).
 */
function pathOf(type: IndicatorType, normalized: string): string {
  if (type === 'URL') return `/urls/${Buffer.from(normalized).toString('base64url')}`;
  const value = encodeURIComponent(normalized);
  if (type === 'DOMAIN') return `/domains/${value}`;
  return type === 'IPV4' || type === 'IPV6' ? `/ip_addresses/${value}` : `/files/${value}`;
}

function assessStats(stats: Record<string, unknown>): Assessment {
  const malicious = countOf(memberOf(stats, 'malicious'));
  const suspicious = countOf(memberOf(stats, 'suspicious'));
  const harmless = countOf(memberOf(stats, 'harmless'));
  const undetected = countOf(memberOf(stats, 'undetected'));
  if (malicious === null || suspicious === null || harmless === null || undetected === null) {
    return unexpected();
  }
  const engines = malicious + suspicious + harmless + undetected;
  if (engines === 0) return judged(null, DAY);
  const share = (malicious + suspicious / 2) / engines;
  return judged(100 * (1 - (1 - share) ** STEEPNESS), DAY);
}

/** Errors are `{error: {code, message}}` (https://docs.virustotal.com/reference/errors). */
function assessError(error: unknown): Assessment {
  const code = textOf(memberOf(error, 'code'));
  if (code === null) return unexpected();
  // Unknown to VirusTotal: no judgement, and no failure either.
  if (code === 'NotFoundError') return judged(null, DAY);
  const message = textOf(memberOf(error, 'message'));
  return failed(message === null ? code : `${code}: ${message}`);
}
