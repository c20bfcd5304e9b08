import { parse } from 'tldts';
import type { IndicatorType } from '../model/vocabulary.ts';
import { urlParts } from './url-parts.ts';

const HIVES: ReadonlyMap<string, string> = new Map([
  ['HKEY_LOCAL_MACHINE', 'HKLM'],
  ['HKEY_CURRENT_USER', 'HKCU'],
  ['HKEY_CLASSES_ROOT', 'HKCR'],
  ['HKEY_USERS', 'HKU'],
  ['HKEY_CURRENT_CONFIG', 'HKCC'],
]);

/**
 * Returns `threat.indicator.type` and the fields that hold the value, which indicator match rules compare
 * with events.
 * @throws for a type without an ECS indicator type
 */
export function ecsObservable(
  type: IndicatorType,
  value: string,
): { type: string } & Record<string, unknown> {
  switch (type) {
    case 'IPV4':
      return { type: 'ipv4-addr', ip: value };
    case 'IPV6':
      return { type: 'ipv6-addr', ip: value };
    case 'DOMAIN':
      return { type: 'domain-name', url: domainFields(value) };
    case 'URL':
      return { type: 'url', url: urlFields(value) };
    case 'MD5':
    case 'SHA1':
    case 'SHA256':
      return { type: 'file', file: { hash: { [type.toLowerCase()]: value } } };
    case 'FILENAME':
      return { type: 'file', file: fileFields(value) };
    case 'EMAIL':
      return { type: 'email-addr', email: { address: value } };
    case 'REGISTRY_KEY':
      return { type: 'windows-registry-key', registry: registryFields(value) };
    case 'MUTEX':
      // ECS has the type, but no field for its value except threat.indicator.name.
      return { type: 'mutex' };
    case 'USER_AGENT':
      // ECS has no field for it within an indicator: the document holds `user_agent.original`.
      return { type: 'software' };
    case 'ASN':
      return { type: 'autonomous-system', as: { number: Number(value.slice(2)) } };
    default:
      throw new Error(`no ECS indicator type for ${type}`);
  }
}

/** ECS leaves an IPv6 address in its brackets. */
function domainFields(host: string) {
  const { isIp, domain, publicSuffix, subdomain } = parse(host, { validateHostname: false });
  if (isIp === true || !domain) return { domain: host };
  return {
    domain: host,
    registered_domain: domain,
    top_level_domain: publicSuffix,
    ...(subdomain && { subdomain }),
  };
}

function urlFields(url: string) {
  const { scheme, host, port, path, query } = urlParts(url);
  const extension = extensionOf(path.slice(path.lastIndexOf('/') + 1));
  return {
    original: url,
    full: url,
    scheme,
    ...domainFields(host),
    ...(port !== null && { port }),
    path,
    ...(query.length > 1 && { query: query.slice(1) }),
    ...(extension && { extension }),
  };
}

/** A Windows or a POSIX path, or a base name. */
function fileFields(value: string) {
  const name = value.slice(Math.max(value.lastIndexOf('/'), value.lastIndexOf('\\')) + 1);
  const extension = extensionOf(name);
  return {
    ...(name && { name }),
    ...(name !== value && { path: value }),
    ...(extension && { extension }),
  };
}

/** Returns the last extension, without its dot; '' for none. */
function extensionOf(name: string): string {
  return /.\.([A-Za-z0-9]+)$/.exec(name)?.[1] ?? '';
}

/** Events abbreviate the hive, also in the path. */
function registryFields(value: string) {
  const end = `${value}\\`.indexOf('\\');
  const hive = HIVES.get(value.slice(0, end)) ?? value.slice(0, end);
  const key = value.slice(end + 1);
  return { hive, ...(key && { key }), path: `${hive}${value.slice(end)}` };
}
