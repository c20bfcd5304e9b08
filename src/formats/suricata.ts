import type { ExportFormat, ExportIndicator, ExportOptions, FormatEntry } from './format.ts';
import { exceptionsBelow } from './listed-names.ts';
import { aboutIndicator, partialNetworkRules, type RuleLanguage, ruleFormat } from './rules/rule-file.ts';
import { exactParts, pattern, type RuleRequest, ruleLine, ruleRequest } from './rules/rule-text.ts';
import { datasetsFormat } from './suricata-datasets.ts';

const TO_SERVER = 'flow:established,to_server';
/** The internal client is the affected host. */
const TARGET = 'target:src_ip';
/**
 * libhtp lower-cases the host only if no port follows it, and `nocase` is not allowed on http.host; hence the
 * transform.
 */
const LOWER_HOST = 'http.host; to_lowercase';
/**
 * The end of a host after the content before it: clients send a dot at the end of a name as they got it. A transform that removes it
 * would make a buffer of its own for each rule.
 */
const HOST_END = 'pcre:"/^\\.?$/R"';

const SURICATA: RuleLanguage = {
  engine: 'Suricata 7 and newer',
  moreTypes: ['SHA1'],
  rulesOf(row) {
    if (row.type === 'DOMAIN') return domainRules(row);
    if (row.type === 'URL') return urlRules(row);
    if (row.type === 'SHA1') return row.ofCertificate ? [certificateRule(row)] : [];
    return row.type === 'USER_AGENT' ? [userAgentRule(row)] : [];
  },
  /**
   * Without other conditions the engine evaluates such a rule once per flow and direction, not on every
   * packet.
   */
  addressRules(family, addresses, about) {
    // The stock HOME_NET has IPv4 networks only: with it no IPv6 flow would ever match.
    const home = family === 'IPV4' ? '$HOME_NET' : 'any';
    return ruleLine(`alert ip ${home} any <> [${addresses.join(',')}] any`, [], about(0));
  },
};

/**
 * Rules for Suricata 7: addresses (both directions), domains with their subdomains (DNS query, TLS SNI, HTTP
 * host), URLs, user agents and fingerprints of certificates. The file loads alone, strictly, with the stock configuration.
 */
export function suricataFormat({
  archive = null,
  publicAddress = null,
}: Partial<Pick<ExportOptions, 'archive' | 'publicAddress'>> = {}): ExportFormat {
  if (archive === null) return ruleFormat(SURICATA);
  return datasetsFormat({
    ndjson: archive === 'datasets-ndjson',
    publicAddress,
    rulesOf: SURICATA.rulesOf,
    networkRules: (row, skipped) => partialNetworkRules(SURICATA, row, skipped),
  });
}

export const suricata: FormatEntry = {
  label: 'Suricata rules',
  purpose: 'IDS sensors with Suricata 7 or newer; with `style` an archive with lists',
  options: ['style'],
  styles: ['datasets', 'datasets-ndjson'],
  open: suricataFormat,
};

function header(protocol: string): string {
  return `alert ${protocol} $HOME_NET any -> any any`;
}

function domainRules(row: ExportIndicator): string[] {
  return [
    ruleLine(
      header('dns'),
      [`dns.query; ${nameIs(row, ANY_CASE)}`, TARGET],
      aboutIndicator(row, 0, 'in DNS query'),
    ),
    ruleLine(
      header('tls'),
      [TO_SERVER, `tls.sni; ${nameIs(row, ANY_CASE)}`, TARGET],
      aboutIndicator(row, 1, 'in TLS SNI'),
    ),
    ruleLine(
      header('http'),
      [TO_SERVER, `${LOWER_HOST}; ${nameIs(row, IN_HOST)}`, TARGET],
      aboutIndicator(row, 2, 'in HTTP host'),
    ),
  ];
}

/** The maximum length of the exceptions of a rule; Suricata reads lines of up to 8,192 characters. */
const MAX_EXCEPTIONS = 6_000;

/** How a buffer has a name. */
interface NameForm {
  modifier: string;
  /** The end of the buffer after the name. */
  end: string;
  /** What may follow a name. */
  ends: readonly string[];
}

const ANY_CASE: NameForm = { modifier: '; nocase', end: 'endswith', ends: [''] };
const IN_HOST: NameForm = { modifier: '', end: HOST_END, ends: ['', '.'] };

/**
 * Matches a name and the names below it, unless those belong to others; an excepted name includes those below it. With too many
 * exceptions the name is matched alone.
 */
function nameIs(row: ExportIndicator, { modifier, end, ends }: NameForm): string {
  const { value } = row;
  const exceptions = exceptionsBelow(row)?.flatMap(({ name }) =>
    ends.map((last) => `content:!${pattern(`.${name}${last}`)}${modifier}; endswith`),
  );
  if (exceptions === undefined || exceptions.join().length > MAX_EXCEPTIONS)
    return `content:${pattern(value)}${modifier}; startswith; ${end}`;
  return ['dotprefix', `content:${pattern(`.${value}`)}${modifier}`, end, ...exceptions].join('; ');
}

/**
 * An https URL is found only where TLS is decrypted before the sensor, and there it may be HTTP/2, which is
 * not used in the clear (`http` is both, `http1` the old one). A rule on its SNI alone would flag the whole
 * host for one path.
 */
function urlRules(row: ExportIndicator): string[] {
  const request = ruleRequest(row.value);
  if (request === null) return [];
  const conditions = [TO_SERVER, hostIs(request), targetIs(request), TARGET];
  return [ruleLine(header(request.secure ? 'http' : 'http1'), conditions, aboutIndicator(row, 0))];
}

/** http.host is without the port, http.host.raw with it. */
function hostIs({ host, port }: RuleRequest): string {
  const name = `${LOWER_HOST}; content:${pattern(host)}; startswith; ${HOST_END}`;
  return port === null ? name : `${name}; http.host.raw; content:${pattern(`:${port}`)}; endswith`;
}

/**
 * Compares the whole raw target. A proxy gets it in absolute-form, after scheme and host. Therefore a target
 * that normalizing does not change must be the end of the raw one and as long as the normalized one, which is
 * without scheme and host.
 */
function targetIs({ target, isNormal }: RuleRequest): string {
  const parts = exactParts(target);
  if (isNormal && parts.whole !== null) {
    return `http.uri.raw; content:${pattern(parts.whole)}; endswith; http.uri; bsize:${parts.length}`;
  }
  return `http.uri.raw; ${equals(target)}`;
}

/** The engine compares SHA-1 fingerprints, as pairs of digits in lower case with colons between them. */
function certificateRule(row: ExportIndicator): string {
  const fingerprint = row.value.replace(/..(?=.)/g, '$&:');
  return ruleLine(
    'alert tls any any -> $HOME_NET any',
    [
      'flow:established,to_client',
      `tls.cert_fingerprint; content:${pattern(fingerprint)}; bsize:${fingerprint.length}`,
      'target:dest_ip',
    ],
    aboutIndicator(row, 0, 'of a certificate'),
  );
}

/** Letter case is no part of a user agent's identity. */
function userAgentRule(row: ExportIndicator): string {
  const conditions = [TO_SERVER, `http.user_agent; ${equals(row.value, '; nocase')}`, TARGET];
  return ruleLine(header('http'), conditions, aboutIndicator(row, 0));
}

/** Requires the preceding sticky buffer to be exactly this text. */
function equals(text: string, modifier = ''): string {
  const parts = exactParts(text);
  if (parts.whole !== null) return `content:${pattern(parts.whole)}${modifier}; bsize:${parts.length}`;
  const head = `content:${pattern(parts.head)}${modifier}; startswith`;
  return `${head}; content:${pattern(parts.tail)}${modifier}; endswith; bsize:${parts.length}`;
}
