import { isBlock } from '../model/address-ranges.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import { copiedRows } from './copied-rows.ts';
import {
  type ExportFormat,
  type ExportIndicator,
  type ExportOptions,
  type FormatEntry,
  indicatorPage,
  tlpName,
} from './format.ts';
import { createLineDeduplicator } from './line-deduplicator.ts';
import { listedBlocks } from './listed-blocks.ts';
import type { Skipped, SkipReason } from './skipped.ts';
import { hostForms, type UrlParts, urlParts } from './url-parts.ts';
import { zeekFromCopy } from './zeek-from-copy.ts';

/** Zeek compares User-Agent headers with SOFTWARE. */
const INTEL_TYPES: ReadonlyMap<IndicatorType, string> = new Map([
  ['IPV4', 'ADDR'],
  ['IPV6', 'ADDR'],
  ['DOMAIN', 'DOMAIN'],
  ['URL', 'URL'],
  ['MD5', 'FILE_HASH'],
  ['SHA1', 'FILE_HASH'],
  ['SHA256', 'FILE_HASH'],
  ['EMAIL', 'EMAIL'],
  ['FILENAME', 'FILE_NAME'],
  ['USER_AGENT', 'SOFTWARE'],
]);

const HEADER = '#fields\tindicator\tindicator_type\tmeta.source\tmeta.desc';
const COLUMNS = [
  'type',
  'value',
  'source',
  'severity',
  'confidence',
  'tlp',
  'tags',
  'ofCertificate',
  'whitelistedParts',
] as const;

/**
 * A file for Zeek's intelligence framework, in which no comment can follow the header. File names with a path are left
 * out, because Zeek sees base names, and URLs that are not fetched by HTTP.
 * URLs that Zeek cannot distinguish (by scheme, letter case, password) are written once, as the newest of
 * them.
 */
export function zeekFormat({ publicAddress }: Pick<ExportOptions, 'publicAddress'>): ExportFormat {
  const header = publicAddress === null ? `${HEADER}\n` : `${HEADER}\tmeta.url\n`;
  return {
    mediaType: 'text/plain; charset=utf-8',
    // As in Zeek's own documentation.
    extension: 'dat',
    types: [...INTEL_TYPES.keys()],
    detectionOnly: true,
    skipsValues: true,
    order: 'list',
    columns: publicAddress === null ? COLUMNS : [...COLUMNS, 'id'],
    reads: {},
    async *write(batches, _info, skipped) {
      const lines = lineWriter(skipped, publicAddress);
      yield header;
      for await (const batch of batches) {
        let text = '';
        for (const row of batch) text += lines.of(row);
        if (text !== '') yield text;
      }
    },
    async *writeCopied(pieces, toRow, _info, skipped) {
      const lines = lineWriter(skipped, publicAddress);
      yield header;
      yield* copiedRows(pieces, zeekFromCopy(lines.isFirst, publicAddress), (row) => lines.of(toRow(row)));
    },
  };
}

export const zeek: FormatEntry = {
  label: 'Zeek intel file',
  purpose: 'Zeek’s intelligence framework',
  options: [],
  open: zeekFormat,
};

function lineWriter(skipped: Skipped, publicAddress: string | null) {
  /** Returns whether a URL, without its scheme and in lower case, has not been written yet. */
  const isFirst = createLineDeduplicator();
  return {
    isFirst,
    of(row: ExportIndicator): string {
      const seen = seenAs(row);
      if ('skipped' in seen) {
        skipped.add(seen.skipped);
        return '';
      }
      if (isAddress(row)) {
        return listedBlocks(row, skipped)
          .map((block) => line(block, isBlock(block) ? 'SUBNET' : 'ADDR', row, publicAddress))
          .join('');
      }
      const type = row.ofCertificate ? 'CERT_HASH' : (INTEL_TYPES.get(row.type) ?? '');
      const written = row.type === 'URL' ? seen.filter(([form = '']) => isFirst(form.toLowerCase())) : seen;
      return written
        .flat()
        .map((indicator) => line(indicator, type, row, publicAddress))
        .join('');
    },
  };
}

/** Returns the forms in which Zeek sees a value, in groups as those of `zeekUrls`. */
function seenAs({ type, value, ofCertificate }: ExportIndicator): string[][] | { skipped: SkipReason } {
  // Zeek sees a file without its path, and its base name alone is too unspecific.
  if (type === 'FILENAME' && /[/\\]/.test(value)) return { skipped: 'path' };
  // Zeek compares the SHA-1 fingerprint only.
  if (ofCertificate) return type === 'SHA1' ? [[value]] : { skipped: 'certificate' };
  if (type !== 'URL') return [[value]];
  const forms = zeekUrls(value);
  return forms.length === 0 ? { skipped: 'not-http' } : forms;
}

const isAddress = ({ type }: ExportIndicator) => type === 'IPV4' || type === 'IPV6';

function line(indicator: string, type: string, row: ExportIndicator, publicAddress: string | null): string {
  const fields = [indicator, `Intel::${type}`, oneLine(row.source) || 'unnamed', description(row)];
  if (publicAddress !== null) fields.push(indicatorPage(publicAddress, row.id));
  return `${fields.map(field).join('\t')}\n`;
}

function description({ severity, confidence, tlp, tags }: ExportIndicator): string {
  const marks = `severity ${severity.toLowerCase()}, confidence ${confidence}, TLP:${tlpName(tlp)}`;
  return tags.length === 0 ? marks : `${marks}, tags: ${tags.map(oneLine).join(', ')}`;
}

/** Most texts: printable ASCII with single blanks within. */
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/;

/**
 * Returns free text for people on one line: no blanks at the ends, which Zeek would keep, and nothing that
 * breaks a line of a log.
 */
function oneLine(text: string): string {
  return PLAIN_LINE.test(text) ? text : text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

/**
 * Escapes a field. Zeek's reader has one escape, `\xHH`. It reads `-` as unset, `(empty)` as an empty set,
 * and a line that starts with `#` as a comment.
 */
function field(text: string): string {
  const literal = text.includes('\\') ? text.replace(/\\(?=x[0-9a-f]{2})/gi, '\\x5c') : text;
  return /^(?:#|-$|\(empty\)$)/.test(literal) ? `${escaped(literal.charAt(0))}${literal.slice(1)}` : literal;
}

function escaped(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16)}`;
}

const HTTP_PORT = 80;
const HTTP_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss']);

/**
 * Returns the forms in which Zeek sees one URL, each compared whole and without regard to case, without the
 * scheme. Referrers and mail bodies keep it as written. The HTTP analyzer decodes `%xx` in the URI, and since
 * 4.2 (HTTP::build_url) appends the connection's port to the Host header, which already contains it for any
 * but 80; before 4.2, and for clients that omit it there, the port appears once. User name and password are
 * never on the wire.
 * @returns groups: another URL that shares the first form of a group also shares the others
 */
function zeekUrls(url: string): string[][] {
  const parts = urlParts(url);
  // Without its scheme it would match requests for the same host and path by HTTP.
  if (!HTTP_SCHEMES.has(parts.scheme)) return [];
  return hostForms(parts.host).flatMap((host) => formsAt(host, parts));
}

function formsAt(host: string, { port, path, query }: UrlParts): string[][] {
  const uri = path + query;
  const authority = port === null || port === HTTP_PORT ? host : `${host}:${port}`;
  const decoded = unescaped(uri);
  if (decoded === null) return [[authority + uri]];
  const inHttp = [authority + decoded, ...(authority === host ? [] : [`${authority}:${port}${decoded}`])];
  return decoded === uri ? [inHttp] : [[authority + uri], inHttp];
}

/**
 * Decodes a URI; null if the result is not UTF-8 text of one line, or contains characters that a URL cannot
 * (blanks, a fragment).
 */
function unescaped(uri: string): string | null {
  try {
    const text = decodeURIComponent(uri);
    return /[\s\p{Cc}#]/u.test(text) ? null : text;
  } catch {
    return null;
  }
}
