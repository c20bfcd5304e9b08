import { INDICATOR_TYPES, type IndicatorType } from '../model/vocabulary.ts';
import type { ExportIndicator, TxtStyle } from './format.ts';
import { isPublicSuffix } from './public-suffix.ts';
import { type UrlParts, urlParts } from './url-parts.ts';

/** How the external lists of one make of firewall are written. */
export interface ListStyle {
  types: readonly IndicatorType[];
  /** The lines of one value that is no address; none when the list cannot say it. */
  lines(row: ExportIndicator): string[];
  /** Whether lines that start with `#` are comments to it. */
  comments: boolean;
}

const ADDRESSES = ['IPV4', 'IPV6'] as const;
const HASHES = ['MD5', 'SHA1', 'SHA256'] as const;

/** What a web filter sees; the scheme is no part of what it compares. */
const WEB_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss']);

export const LIST_STYLES: Readonly<Record<TxtStyle, ListStyle>> = {
  /** Values as they are shown. Few readers take `#` at the start for anything but a comment. */
  plain: {
    types: INDICATOR_TYPES,
    lines: ({ value }) => (value.startsWith('#') ? [] : [value]),
    comments: false,
  },
  /**
   * PAN-OS external dynamic lists (Formatting Guidelines for an External Dynamic List; Guidelines for URL Category
   * Exceptions): entries of up to 255 characters. A name stands for itself and `*.` for what is under it. Since 10.2
   * the firewall itself puts the ending slash behind names in URL lists; a domain list takes none.
   */
  paloalto: { types: [...ADDRESSES, 'DOMAIN', 'URL'], lines: paloAltoLines, comments: false },
  /** FortiOS external resources: lines of up to 4K characters, `*` as a wildcard, schemes cut off by the firewall. */
  fortinet: { types: [...ADDRESSES, 'DOMAIN', 'URL', ...HASHES], lines: fortinetLines, comments: false },
  /**
   * Check Point network feeds (addresses) and custom intelligence feeds (sk132193: one column of comma-separated
   * values, `#` for comments).
   */
  checkpoint: {
    types: [...ADDRESSES, 'DOMAIN', 'URL', ...HASHES, 'EMAIL'],
    lines: checkPointLines,
    comments: true,
  },
};

function paloAltoLines({ type, value }: ExportIndicator): string[] {
  if (type !== 'URL') return withSubdomains(value);
  const url = webUrl(value);
  // `*` and `^` are wildcards. An entry has no port: a path is told apart without it, a whole site is not.
  if (url === null || /[*^]/.test(value) || (url.port !== null && url.path + url.query === '/')) return [];
  // Entries are compared without regard to case.
  const line = `${url.host}${url.path}${url.query}`.toLowerCase();
  return line.length <= 255 ? [line] : [];
}

function fortinetLines({ type, value }: ExportIndicator): string[] {
  if (type === 'DOMAIN') return withSubdomains(value);
  if (type !== 'URL') return [value];
  const url = webUrl(value);
  if (url === null || value.includes('*')) return [];
  const line = withoutScheme(url);
  return line.length < 4000 ? [line] : [];
}

function checkPointLines({ type, value }: ExportIndicator): string[] {
  const url = type === 'URL' ? webUrl(value) : null;
  if (type === 'URL' && url === null) return [];
  const line = url === null ? value : withoutScheme(url);
  if (line.startsWith('#')) return [];
  return [/[",]/.test(line) ? `"${line.replaceAll('"', '""')}"` : line];
}

/** What is below a public suffix is other people's. */
function withSubdomains(name: string): string[] {
  return isPublicSuffix(name) ? [name] : [name, `*.${name}`];
}

function webUrl(value: string): UrlParts | null {
  const url = urlParts(value);
  return WEB_SCHEMES.has(url.scheme) ? url : null;
}

/** Nor user name and password, which are in no request line. */
function withoutScheme({ host, port, path, query }: UrlParts): string {
  return `${port === null ? host : `${host}:${port}`}${path}${query}`;
}
