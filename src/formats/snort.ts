import type { ExportFormat, ExportIndicator, ExportOptions, FormatEntry } from './format.ts';
import { includesNamesBelow } from './listed-names.ts';
import { aboutIndicator, type RuleLanguage, ruleFormat } from './rules/rule-file.ts';
import { exactParts, pattern, type RuleRequest, ruleLine, ruleRequest } from './rules/rule-text.ts';
import { reputationFormat } from './snort-reputation.ts';

const TO_SERVER = 'flow:established,to_server';
/** The internal client is the affected host. */
const TARGET = 'target:src_ip';
/**
 * A rule on the IP header alone would alert on every packet; the flow bit limits it to one alert per flow. The last
 * acknowledgment of a TCP connection comes when the flow and its bits are gone, and none of these conditions matches it.
 */
const ONCE_A_FLOW = ['flowbits:isnotset,tipline.address', 'flowbits:set,tipline.address'];
const ADDRESS_CONDITIONS = [
  ['tcp', 'flags:+S'],
  // A connection that began before the sensor did.
  ['tcp', 'dsize:>0'],
  ['ip', 'ip_proto:!6'],
] as const;

const SNORT: RuleLanguage = {
  engine: 'Snort 3',
  rulesOf(row) {
    if (row.type === 'DOMAIN') return domainRules(row);
    if (row.type === 'URL') return urlRules(row);
    return row.type === 'USER_AGENT' ? [userAgentRule(row)] : [];
  },
  addressRules(_family, addresses, about) {
    const ends = `$HOME_NET any <> [${addresses.join(',')}] any`;
    return ADDRESS_CONDITIONS.map(([protocol, condition], rule) =>
      ruleLine(`alert ${protocol} ${ends}`, [condition, ...ONCE_A_FLOW], about(rule)),
    ).join('');
  },
};

/**
 * Rules for Snort 3: addresses (both directions), domains with their subdomains (DNS query, TLS SNI, HTTP
 * host), URLs and user agents, with the services that the stock configuration binds and finds.
 */
export function snortFormat({ archive = null }: Partial<Pick<ExportOptions, 'archive'>> = {}): ExportFormat {
  return archive === null ? ruleFormat(SNORT) : reputationFormat(SNORT.rulesOf);
}

export const snort: FormatEntry = {
  label: 'Snort rules',
  purpose: 'IDS sensors with Snort 3; with `style` an archive with a block list',
  options: ['style'],
  styles: ['reputation'],
  open: snortFormat,
};

function header(service: string): string {
  return `alert ${service} $HOME_NET any -> any any`;
}

function domainRules(row: ExportIndicator): string[] {
  const { value } = row;
  const isAlone = !includesNamesBelow(row);
  return [
    ruleLine(
      header('dns'),
      ['flow:to_server', ...queryIs(value, isAlone), TARGET],
      aboutIndicator(row, 0, 'in DNS query'),
    ),
    ruleLine(
      header('ssl'),
      [TO_SERVER, ...sniIs(value, isAlone), TARGET],
      aboutIndicator(row, 1, 'in TLS SNI'),
    ),
    ruleLine(
      header('http'),
      [
        TO_SERVER,
        `http_header:field host; content:${pattern(value)},nocase,fast_pattern`,
        `pcre:"/${isAlone ? '^' : '(?:^|\\.)'}${hostWithPort(value)}/i"`,
        TARGET,
      ],
      aboutIndicator(row, 2, 'in HTTP host'),
    ),
  ];
}

/**
 * Returns the conditions for a DNS query. Snort has no buffer for the queried name. On the wire it is labels,
 * each after its length, and the empty one at the end (RFC 1035 §3.1), so that both ends are exact; it
 * follows the header of 12 bytes, over TCP of 14.
 */
function queryIs(domain: string, isAlone: boolean): string[] {
  const labels = domain.split('.').map((label) => ({ label, length: hexByte(label.length) }));
  const content = `content:"${labels.map(({ label, length }) => `|${length}|${label}`).join('')}|00|",nocase`;
  if (!isAlone) return [`${content},offset 12`];
  // Alone, the name must begin where the question does. The number of questions, one,
  // distinguishes UDP from TCP: two bytes further, over UDP, is the number of answers, of which a query has
  // none.
  const name = labels.map(({ label, length }) => `\\x${length}${label}`).join('');
  return [
    `${content},offset 12,depth ${domain.length + 4}`,
    `pcre:"/^.{4}(?:..)?\\x00\\x01.{6}${name}\\x00/si"`,
  ];
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0').toUpperCase();
}

/**
 * Returns the conditions for a TLS server name, for which Snort has no buffer either. RFC 6066 §3: type 0
 * (two bytes), lengths of extension and list (two each), type of name (one), length of name (two), name. The
 * jump goes from a zero type over the name and back to before the domain: the preceding bytes are the name's
 * length, when it is the domain itself, or a label's end and a dot.
 */
function sniIs(domain: string, isAlone: boolean): string[] {
  const itself = `\\x00\\x${hexByte(domain.length)}`;
  return [
    'ssl_state:client_hello',
    `content:${pattern(domain)},nocase,fast_pattern`,
    'content:"|00 00|"',
    `byte_jump:2,5,relative,post_offset -${domain.length + 2}`,
    `pcre:"/\\G${isAlone ? itself : `(?:${itself}|[^\\x00]\\.)`}${expression(domain)}/Rsi"`,
  ];
}

/**
 * Returns the end of an expression for a host: clients send a dot at its end as they got it, and the header has a port where the server
 * is not on the scheme's own.
 */
function hostWithPort(host: string, port = '(?:\\x3a\\d*)?'): string {
  return `${expression(host)}\\.?${port}\\z`;
}

/** Escapes a host for an expression: a name, or an IPv6 address in brackets. Rules take colons and brackets as hex. */
function expression(host: string): string {
  return host
    .replaceAll('.', '\\.')
    .replace(/[[\]:]/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`);
}

/**
 * An https URL is found only where TLS is decrypted before the sensor, and there it may be HTTP/2. A rule on
 * its SNI alone would flag the whole host for one path.
 */
function urlRules(row: ExportIndicator): string[] {
  const request = ruleRequest(row.value);
  if (request === null) return [];
  const services = request.secure ? ['service:http,http2'] : [];
  const port = request.port === null ? undefined : `\\x3a${request.port}`;
  const host = `content:${pattern(request.host)},nocase; pcre:"/^${hostWithPort(request.host, port)}/i"`;
  const conditions = [
    ...[TO_SERVER, ...services, `http_header:field host; ${host}`],
    ...[targetIs(request), TARGET],
  ];
  return [ruleLine(header('http'), conditions, aboutIndicator(row, 0))];
}

/**
 * Compares the whole raw target. A proxy gets it in absolute-form, after scheme and host. Therefore a target
 * that normalizing does not change must be the end of the raw one and as long as the normalized one, which is
 * without scheme and host.
 */
function targetIs({ target, isNormal }: RuleRequest): string {
  const parts = exactParts(target);
  if (isNormal && parts.whole !== null) {
    const end = `content:${pattern(parts.whole)}; isdataat:!1,relative`;
    return `http_raw_uri; ${end}; http_uri; bufferlen:${parts.length}`;
  }
  return `http_raw_uri; ${equals(target)}`;
}

/** Letter case is no part of a user agent's identity. */
function userAgentRule(row: ExportIndicator): string {
  const conditions = [TO_SERVER, `http_header:field user-agent; ${equals(row.value, ',nocase')}`, TARGET];
  return ruleLine(header('http'), conditions, aboutIndicator(row, 0));
}

/** Requires the preceding buffer to be exactly this text. */
function equals(text: string, modifier = ''): string {
  const parts = exactParts(text);
  const length = `bufferlen:${parts.length}`;
  if (parts.whole !== null) return `content:${pattern(parts.whole)}${modifier}; ${length}`;
  const { head, tail } = parts;
  const start = `content:${pattern(head)}${modifier},depth ${head.length}`;
  return `${start}; content:${pattern(tail)}${modifier},offset ${parts.length - tail.length}; ${length}`;
}
