import type { IndicatorType } from '../../model/vocabulary.ts';
import {
  type Assessment,
  DAY,
  failed,
  judged,
  listOf,
  memberOf,
  type QueryableProvider,
  textOf,
  unexpected,
} from './provider.ts';

/** URLs appear and disappear within hours. */
const LIFETIME = DAY / 4;
const URL_ONLINE = 95;
/** It served malware: still malicious after it went offline. */
const URL_GONE = 75;
const HOST_ONLINE = 80;
/** A host that was cleaned, or changed hands. */
const HOST_GONE = 50;
/** A malware family was recognized in the file. */
const FILE_NAMED = 95;
/** A malware URL served it, but nothing was recognized: decoys and error pages are served as well. */
const FILE_SERVED = 70;

/**
 * abuse.ch URLhaus API v1, `/url/`, `/host/` and `/payload/` (https://urlhaus-api.abuse.ch/): `query_status`
 * is `ok`, `no_results` (not listed: no judgement) or the name of an error such as `invalid_url`. A listed
 * URL has `url_status` (online, offline, unknown) and `threat`; a listed host has `urls`, each with the same;
 * a file has its hashes, a `signature` (the malware family, or null) and `urls`. The documented answer for a
 * host misspells `query_status`. Without a known Auth-Key the answer is 401 or 403; no quota is documented.
 */
export const urlhaus: QueryableProvider = {
  name: 'urlhaus',
  accepts: ['URL', 'DOMAIN', 'IPV4', 'MD5', 'SHA256'],
  defaultBaseUrl: 'https://urlhaus-api.abuse.ch/v1',
  requiresKey: true,
  quota: { perMinute: null, perDay: null },
  request: (type, normalized, key) => {
    const [path, field] = requestFor(type);
    const body = new URLSearchParams({ [field]: normalized }).toString();
    return { path, method: 'POST', credentials: { 'auth-key': key }, body };
  },
  assess(raw) {
    const status =
      textOf(memberOf(raw, 'query_status')) ??
      textOf(memberOf(raw, 'query_staus')) ??
      textOf(memberOf(raw, 'error'));
    if (status === null) return unexpected();
    if (status === 'no_results') return judged(null, LIFETIME);
    if (status !== 'ok') return failed(status);
    if (textOf(memberOf(raw, 'sha256_hash')) !== null) return assessFile(raw);
    const urls = listOf(memberOf(raw, 'urls'));
    return urls === null ? assessUrl(raw) : assessHost(urls);
  },
};

function requestFor(type: IndicatorType): [path: string, field: string] {
  if (type === 'URL') return ['/url/', 'url'];
  if (type === 'MD5') return ['/payload/', 'md5_hash'];
  return type === 'SHA256' ? ['/payload/', 'sha256_hash'] : ['/host/', 'host'];
}

/** Assesses a file; its result is valid for a day, because the content behind a hash never changes. */
function assessFile(raw: unknown): Assessment {
  return judged(textOf(memberOf(raw, 'signature')) === null ? FILE_SERVED : FILE_NAMED, DAY);
}

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
