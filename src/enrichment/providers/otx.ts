import { parse } from 'tldts';
import type { IndicatorType } from '../../model/vocabulary.ts';
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

/**
 * Anybody may publish a pulse: a single one is a suspicion, four corroborate it, and no number of them is
 * certainty.
 */
const FIRST_PULSE = 40;
const EACH_FURTHER_PULSE = 10;
const MOST = 90;

/**
 * AlienVault OTX DirectConnect API v1, `indicators/{type}/{value}/general`
 * (https://otx.alienvault.com/assets/static/external_api.html): `pulse_info.count` is the number of pulses
 * that name the value. A `validation` from `whitelist` or `false_positive`, or a `false_positive` entry,
 * makes it harmless; the other validations (`alexa`, `majestic`, `akamai`) mean that it is popular, which
 * makes its pulses doubtful but does not clear it: no judgement, as without pulses. Values unknown to OTX
 * have no pulses either. Errors are `{detail}` or `{error}`.
 *
 * With a key there are 10,000 requests an hour (https://otx.alienvault.com/api); a 429 has no header that
 * states when to retry.
 */
export const otx: QueryableProvider = {
  name: 'otx',
  accepts: ['IPV4', 'IPV6', 'DOMAIN', 'URL', 'MD5', 'SHA1', 'SHA256', 'CVE'],
  defaultBaseUrl: 'https://otx.alienvault.com/api/v1',
  requiresKey: true,
  quota: { perMinute: 166, perDay: null },
  request: (type, normalized, key) => ({
    path: `/indicators/${sectionOf(type, normalized)}/${encodeURIComponent(normalized)}/general`,
    method: 'GET',
    credentials: { 'x-otx-api-key': key },
  }),
  assess(raw) {
    const error = textOf(memberOf(raw, 'detail')) ?? textOf(memberOf(raw, 'error'));
    if (error !== null) return failed(error);
    const pulses = countOf(memberOf(memberOf(raw, 'pulse_info'), 'count'));
    if (pulses === null) return unexpected();
    const validations = listOf(memberOf(raw, 'validation')) ?? [];
    const falsePositives = listOf(memberOf(raw, 'false_positive')) ?? [];
    if (falsePositives.length > 0 || validations.some(isAcquittal)) return judged(0, DAY);
    if (pulses === 0 || validations.length > 0) return judged(null, DAY);
    return judged(Math.min(MOST, FIRST_PULSE + EACH_FURTHER_PULSE * (pulses - 1)), DAY);
  },
};

/**
 * Returns the type's name in OTX's paths, where case counts. A name below a registered domain is a
 * `hostname`, and unknown as a `domain`.
 */
function sectionOf(type: IndicatorType, normalized: string): string {
  if (type === 'IPV4') return 'IPv4';
  if (type === 'IPV6') return 'IPv6';
  if (type === 'URL') return 'url';
  if (type === 'CVE') return 'cve';
  if (type === 'DOMAIN') return parse(normalized).domain === normalized ? 'domain' : 'hostname';
  return 'file';
}

function isAcquittal(validation: unknown): boolean {
  const source = memberOf(validation, 'source');
  return source === 'whitelist' || source === 'false_positive';
}
