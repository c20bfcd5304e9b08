import { BACKSLASH, copiedRows, LAST_PRINTABLE, LF, placeOf, put, TAB } from './copied-rows.ts';
import type { ExportFormat, ExportIndicator, ExportInfo, FormatEntry } from './format.ts';
import { listedBlocks } from './listed-blocks.ts';
import { exceptionsBelow, includesNamesBelow } from './listed-names.ts';
import type { Skipped, SkipReason } from './skipped.ts';

const NXDOMAIN = Buffer.from(' CNAME .\n');
const PASSTHRU = ' CNAME rpz-passthru.\n';
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
 * and for each name that resolves to one of the addresses, except for whitelisted names. Owner names are relative, so the zone's
 * name is the operator's choice, up to 64 characters. The serial rises with every change (RFC 1982 arithmetic, as it
 * wraps).
 *
 * A wildcard matches no name that exists, and a name exists if there is one below it (RFC 4592 §2.2.2, §3.3.1): with
 * `a.b.evil.example` in the zone, `*.evil.example` does not match `b.evil.example`. Therefore the zone has no names that a
 * wildcard covers.
 */
export function rpzFormat(): ExportFormat {
  return {
    // RFC 4027 §4
    mediaType: 'text/dns',
    extension: 'rpz',
    types: TYPES,
    detectionOnly: true,
    skipsValues: true,
    order: 'host',
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
      yield* copiedRows(pieces, writer.fromCopy, (row) => writer.linesOf(toRow(row)));
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

/** Returns a writer that takes rows in the format's order, one after the other. */
function zoneWriter(skipped: Skipped) {
  /** The end of all names below the last domain with a wildcard; null: there is none. */
  let covered: string | null = null;
  const isCovered = (name: string) => covered !== null && name.endsWith(covered);
  return {
    linesOf(row: ExportIndicator): string {
      if (row.type !== 'DOMAIN') return recordsOf(listedBlocks(row, skipped).map(addressTrigger));
      if (isCovered(row.value)) return '';
      const reason = misfit(row.value);
      if (reason !== null) {
        skipped.add(reason);
        return '';
      }
      skipped.addParts(row.whitelistedParts.length);
      const exceptions = exceptionsOf(row);
      if (exceptions === null) return recordsOf([row.value]);
      covered = `.${row.value}`;
      return recordsOf([row.value, `*.${row.value}`]) + exceptions;
    },
    /**
     * Writes the records of an IPv4 address, or of an ASCII name that also covers all names below it, from the
     * bytes of COPY's text format.
     */
    fromCopy(source: Buffer, from: number, target: Buffer, to: number): number {
      const valueAt = placeOf(TAB, source, from) + 1;
      if (source[from] !== LETTER_D)
        return source[valueAt - 2] === DIGIT_4 ? ofAddress(source, valueAt, target, to) : -1;
      let end = valueAt;
      for (let byte = source[end] as number; byte !== TAB; byte = source[++end] as number)
        if (byte === BACKSLASH || byte > LAST_PRINTABLE) return -1;
      // Of a domain, names may be excepted.
      if (source[end + 1] !== LF) return -1;
      const value = source.toString('latin1', valueAt, end);
      if (isCovered(value)) return to;
      if (misfit(value) !== null || !includesNamesBelow({ value, whitelistedParts: [] })) return -1;
      covered = `.${value}`;
      let o = put(NXDOMAIN, target, copied(source, valueAt, end, target, to));
      o = put(UNDER, target, o);
      return put(NXDOMAIN, target, copied(source, valueAt, end, target, o));
    },
    end: () => skipped.comment(';'),
  };
}

/**
 * Returns the records of the whitelisted names below a domain. The names between them and the domain exist, so that they need
 * records of their own, as the names below an excepted one.
 * @returns null: no name below the domain may be blocked, or an exception does not fit
 */
function exceptionsOf(row: ExportIndicator): string | null {
  const exceptions = exceptionsBelow(row);
  if (exceptions === null || exceptions.some(({ name }) => misfit(name) !== null)) return null;
  const records = new Map<string, string>();
  const add = (name: string, itself: string, below: string) => {
    if (!records.has(name)) records.set(name, itself);
    if (!records.has(`*.${name}`)) records.set(`*.${name}`, below);
  };
  const [passed, blocked] = [PASSTHRU, NXDOMAIN.toString()];
  for (const { name, itself, below } of exceptions)
    add(name, itself ? passed : blocked, below ? passed : blocked);
  for (const { name } of exceptions)
    for (const between of namesBetween(name, row.value)) add(between, blocked, blocked);
  return [...records].map(([owner, record]) => owner + record).join('');
}

function namesBetween(name: string, domain: string): string[] {
  const labels = name.slice(0, -domain.length - 1).split('.');
  return labels.slice(1).map((_, index) => [...labels.slice(index + 1), domain].join('.'));
}

function recordsOf(owners: readonly string[]): string {
  return owners.map((owner) => owner + NXDOMAIN).join('');
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
