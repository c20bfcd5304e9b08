import { countOf, listOf, memberOf, textOf } from './json.ts';
import { DAY, failed, judged, type Provider, unexpected } from './provider.ts';

/** Anybody may publish a pulse: one alone is a suspicion, four agree, and no number of them is certainty. */
const FIRST_PULSE = 40;
const EACH_FURTHER_PULSE = 10;
const MOST = 90;

/**
 * AlienVault OTX DirectConnect API v1, `indicators/{type}/{value}/general`
 * (https://otx.alienvault.com/api): `pulse_info.count` is the number of pulses that name the value.
 * A `validation` from `whitelist` or `false_positive`, or a `false_positive` entry, makes it harmless; the
 * other validations (`alexa`, `majestic`, `akamai`) say popular, which makes its pulses doubtful but does
 * not clear it: no judgement, as without pulses. Errors are `{detail}` or `{error}`.
 */
export const otx: Provider = {
  name: 'otx',
  accepts: ['IPV4', 'IPV6', 'DOMAIN', 'URL', 'MD5', 'SHA1', 'SHA256', 'CVE'],
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

function isAcquittal(validation: unknown): boolean {
  const source = memberOf(validation, 'source');
  return source === 'whitelist' || source === 'false_positive';
}
