import { BACKSLASH, copiedRows, LAST_PRINTABLE, placeOf, put, TAB } from './copied-rows.ts';
import type { ExportFormat, ExportIndicator, ExportInfo, FormatEntry } from './format.ts';
import { listedBlocks } from './listed-blocks.ts';
import type { Skipped, SkipReason } from './skipped.ts';
import { isPublicSuffix } from './url-parts.ts';

const NXDOMAIN = Buffer.from(' CNAME .\n');
const UNDER = Buffer.from('*.');
const SINGLE = Buffer.from('32.');
const IP_TRIGGER = Buffer.from('rpz-ip');
const [POINT, SLASH, DIGIT_4, LETTER_D] = [0x2e, 0x2f, 0x34, 0x44] as const;
const TYPES = ['IPV4', 'IPV6', 'DOMAIN'] as const;
const TTL = 300;
const REFRESH = 3600;
const RETRY = 600;
/** A week: how long a secondary goes on answering from its copy without a primary. */
const EXPIRE = 604_800;

/**
 * The longest name for which `*.` before it and an origin of up to 64 characters after it fit into 253
 * characters.
 */
const MAX_NAME = 253 - '*.'.length - '.'.length - 64;
/**
 * The zones below an origin that hold other triggers: a name that ends in one would become such a trigger.
 */
const TRIGGER_ZONE = /\.rpz-(?:client-ip|ip|nsdname|nsip)$/;

/**
 * A DNS response policy zone (draft-vixie-dnsop-dns-rpz): NXDOMAIN for each domain and everything under it,
 * and for each name that resolves to one of the addresses. Owner names are relative, so the zone's name is
 * the operator's choice, up to 64 characters. The serial rises with every change (RFC 1982 arithmetic, as it
 * wraps).
 */
export function rpzFormat(): ExportFormat {
  return {
    // RFC 4027 §4
    mediaType: 'text/dns',
    extension: 'rpz',
    types: TYPES,
    detectionOnly: true,
    skipsValues: true,
    order: 'number',
    columns: ['type', 'value', 'whitelistedParts'],
    reads: { changedAt: true },
    async *write(batches, info, skipped) {
      const writer = zoneWriter(skipped);
      yield head(info);
      for await (const batch of batches) {
        const text = batch.map(writer.linesOf).join('');
        if (text !== '') yield text;
      }
      yield writer.end();
    },
    async *writeCopied(pieces, toRow, info, skipped) {
      const writer = zoneWriter(skipped);
      yield head(info);
      yield* copiedRows(pieces, recordsFromCopy, (row) => writer.linesOf(toRow(row)));
      yield writer.end();
    },
  };
}

export const rpz: FormatEntry = {
  label: 'DNS RPZ',
  purpose: 'DNS servers: a response policy zone (RPZ)',
  options: [],
  example: `$TTL 300
@ SOA localhost. hostmaster.localhost. 1795523179 3600 600 604800 300
@ NS localhost.
32.160.17.132.185.rpz-ip CNAME .
`,
  open: rpzFormat,
};

function zoneWriter(skipped: Skipped) {
  return {
    linesOf(row: ExportIndicator): string {
      const reason = row.type === 'DOMAIN' ? misfit(row.value) : null;
      if (reason === null) return recordsOf(triggers(row, skipped));
      skipped.add(reason);
      return '';
    },
    end: () => skipped.comment(';'),
  };
}

function recordsOf(owners: readonly string[]): string {
  return owners.map((owner) => owner + NXDOMAIN).join('');
}

/**
 * Writes the records of an IPv4 address, or of an ASCII name that also covers all names below it, from the
 * bytes of COPY's text format.
 */
function recordsFromCopy(source: Buffer, from: number, target: Buffer, to: number): number {
  const valueAt = placeOf(TAB, source, from) + 1;
  if (source[from] !== LETTER_D)
    return source[valueAt - 2] === DIGIT_4 ? ofAddress(source, valueAt, target, to) : -1;
  let end = valueAt;
  for (let byte = source[end] as number; byte !== TAB; byte = source[++end] as number)
    if (byte === BACKSLASH || byte > LAST_PRINTABLE) return -1;
  const name = source.toString('latin1', valueAt, end);
  if (misfit(name) !== null || isPublicSuffix(name)) return -1;
  let o = put(NXDOMAIN, target, copied(source, valueAt, end, target, to));
  o = put(UNDER, target, o);
  return put(NXDOMAIN, target, copied(source, valueAt, end, target, o));
}

function ofAddress(source: Uint8Array, from: number, target: Uint8Array, to: number): number {
  let o = put(SINGLE, target, to);
  const valueEnd = placeOf(TAB, source, from);
  for (let i = from; i < valueEnd; i++) if (source[i] === SLASH) return -1;
  for (let end = valueEnd; end > from; ) {
    let start = end;
    while (start > from && source[start - 1] !== POINT) start--;
    o = copied(source, start, end, target, o);
    target[o++] = POINT;
    end = start - 1;
  }
  return put(NXDOMAIN, target, put(IP_TRIGGER, target, o));
}

function copied(source: Uint8Array, from: number, end: number, target: Uint8Array, to: number): number {
  for (let i = from; i < end; i++) target[to + i - from] = source[i] as number;
  return to + end - from;
}

function head(info: ExportInfo): string {
  const soa = `localhost. hostmaster.localhost. ${serial(info)} ${REFRESH} ${RETRY} ${EXPIRE} ${TTL}`;
  return `$TTL ${TTL}\n@ SOA ${soa}\n@ NS localhost.\n`;
}

/** Returns Unix seconds in 32 bits; never 0, which some secondaries treat as no serial at all. */
function serial({ changedAt }: ExportInfo): number {
  return Math.floor(Number(changedAt ?? 0) / 1000) % 2 ** 32 || 1;
}

/** Returns why the zone cannot hold a name. */
function misfit(name: string): SkipReason | null {
  if (name.length > MAX_NAME) return 'length';
  return TRIGGER_ZONE.test(name) ? 'reserved-name' : null;
}

function triggers(row: ExportIndicator, skipped: Skipped): string[] {
  const { type, value } = row;
  if (type === 'IPV4' || type === 'IPV6') return listedBlocks(row, skipped).map(addressTrigger);
  return isPublicSuffix(value) ? [value] : [value, `*.${value}`];
}

/** Returns the trigger of an address or a CIDR block: the length of its prefix, then its parts in reverse. */
function addressTrigger(block: string): string {
  const [address = '', bits] = block.split('/');
  return address.includes(':')
    ? `${bits ?? 128}.${reversedGroups(address)}.rpz-ip`
    : `${bits ?? 32}.${address.split('.').reverse().join('.')}.rpz-ip`;
}

/**
 * Returns the groups of an RFC 5952 address from the last to the first; `zz` stands for `::`, which occurs at
 * most once.
 */
function reversedGroups(address: string): string {
  const groups = address.replace('::', ':zz:').split(':');
  return groups
    .filter((group) => group !== '')
    .reverse()
    .join('.');
}
