import { listOf, memberOf, textOf } from './json.ts';
import { type Assessment, DAY, failed, judged, type Provider, unexpected } from './provider.ts';

/** URLs come and go within hours. */
const LIFETIME = DAY / 4;
const URL_ONLINE = 95;
/** It did serve malware: still malicious after it went away. */
const URL_GONE = 75;
const HOST_ONLINE = 80;
/** A host that was cleaned, or changed hands. */
const HOST_GONE = 50;

/**
 * abuse.ch URLhaus API v1, `/url/` and `/host/` (https://urlhaus-api.abuse.ch/): `query_status` is `ok`,
 * `no_results` (not listed: no judgement) or the name of an error such as `invalid_url`. A listed URL has
 * `url_status` (online, offline, unknown) and `threat`; a listed host has `urls`, each with the same.
 */
export const urlhaus: Provider = {
  name: 'urlhaus',
  accepts: ['URL', 'DOMAIN', 'IPV4'],
  assess(raw) {
    const status = textOf(memberOf(raw, 'query_status')) ?? textOf(memberOf(raw, 'error'));
    if (status === null) return unexpected();
    if (status === 'no_results') return judged(null, LIFETIME);
    if (status !== 'ok') return failed(status);
    const urls = listOf(memberOf(raw, 'urls'));
    return urls === null ? assessUrl(raw) : assessHost(urls);
  },
};

function assessUrl(raw: unknown): Assessment {
  const status = textOf(memberOf(raw, 'url_status'));
  if (status === null) return unexpected();
  return judged(status === 'online' ? URL_ONLINE : URL_GONE, LIFETIME);
}

function assessHost(urls: readonly unknown[]): Assessment {
  if (urls.length === 0) return judged(null, LIFETIME);
  const online = urls.some((url) => memberOf(url, 'url_status') === 'online');
  return judged(online ? HOST_ONLINE : HOST_GONE, LIFETIME);
}
