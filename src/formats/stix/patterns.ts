import type { ExportIndicator } from '../format.ts';

/**
 * Returns the STIX pattern (§9) that matches the value; null for a CVE, which is an object of its own: a
 * vulnerability.
 */
export function patternOf({ type, value }: Pick<ExportIndicator, 'type' | 'value'>): string | null {
  switch (type) {
    case 'IPV4':
      return equals('ipv4-addr:value', value);
    case 'IPV6':
      return equals('ipv6-addr:value', value);
    case 'DOMAIN':
      return equals('domain-name:value', value);
    case 'URL':
      return equals('url:value', value);
    case 'EMAIL':
      return equals('email-addr:value', value);
    case 'MD5':
      return equals("file:hashes.'MD5'", value);
    case 'SHA1':
      return equals("file:hashes.'SHA-1'", value);
    case 'SHA256':
      return equals("file:hashes.'SHA-256'", value);
    case 'REGISTRY_KEY':
      return equals('windows-registry-key:key', value);
    case 'MUTEX':
      return equals('mutex:name', value);
    case 'FILENAME':
      // A path is written whole, too, as in MISP. From name and directory MISP would read the name alone, and
      // then match every file of that name.
      return equals('file:name', value);
    case 'USER_AGENT':
      return equals("network-traffic:extensions.'http-request-ext'.request_header.'User-Agent'", value);
    case 'ASN':
      return `[autonomous-system:number = ${value.slice('AS'.length)}]`;
    case 'BTC_ADDRESS':
      // STIX has no observable for it; this is OpenCTI's, which Tipline's extension defines. The observable
      // itself is not written: python-stix2 rejects a bundle for one object of an unknown type.
      return equals('cryptocurrency-wallet:value', value);
    case 'CVE':
      return null;
  }
}

/** In a string literal `\` and `'` are escaped, and nothing else (§9). */
function equals(path: string, value: string): string {
  return `[${path} = '${value.replace(/[\\']/g, '\\$&')}']`;
}
