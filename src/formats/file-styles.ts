import type { ExportIndicator } from './format.ts';
import {
  ADDRESSES,
  kindsOf,
  type Lines,
  type ListStyle,
  NOT_OF_A_FILE,
  VALUES,
  WITH_HASHES,
} from './list-style.ts';
import { exceptionsBelow, includesNamesBelow } from './listed-names.ts';
import type { Skipped } from './skipped.ts';
import { isPublicSuffix } from './url-parts.ts';

/** For lists of addresses and networks alone. */
const BLOCKS = {
  ...VALUES,
  ...kindsOf(ADDRESSES),
  networks: true,
  lines: ({ value }: ExportIndicator): Lines => [value],
  comments: true,
} as const;

/** For lists of names alone. */
const NAMES = { ...VALUES, ...kindsOf(['DOMAIN']), networks: false, comments: true } as const;

/** The sets of ipset(8) and their families. */
const IPSETS = [
  ['tipline4', 'inet'],
  ['tipline6', 'inet6'],
] as const;

function createIpset([set, family]: (typeof IPSETS)[number]): string[] {
  // The largest number. Memory grows with the content.
  const parameters = `hash:net family ${family} maxelem 4294967295`;
  return [`create ${set} ${parameters}`, `create ${set}-new ${parameters}`, `flush ${set}-new`];
}

/** Lists that programs on a host load as files: packet filters, resolvers, proxies and web servers. */
export const FILE_STYLES = {
  /**
   * A file for `nft -f`, which applies all of a file or nothing. A list of elements cannot be empty, and one command for
   * each element takes the kernel ten times as long. With `auto-merge`, entries may overlap, as without `collapse`.
   */
  nftables: {
    ...BLOCKS,
    header: () =>
      [
        'table inet tipline {',
        '  set ipv4 { type ipv4_addr; flags interval; auto-merge; }',
        '  set ipv6 { type ipv6_addr; flags interval; auto-merge; }',
        '}',
        'flush set inet tipline ipv4',
        'flush set inet tipline ipv6',
      ].join('\n'),
    blockLines: (block, previous) => {
      const isFirst = previous === null || familyOf(previous) !== familyOf(block);
      const end = previous === null ? [] : ['}'];
      return [...(isFirst ? [...end, `add element inet tipline ip${familyOf(block)} {`] : []), `${block},`];
    },
    footer: (last) => (last === null ? [] : ['}']),
    extension: 'nft',
  },
  /**
   * A file for `ipset restore -!`: new sets, which are swapped with the old ones at the end, so that a file without its
   * end changes nothing. `create` accepts an existing set with the same parameters only, so `maxelem` cannot follow
   * from the content.
   */
  ipset: {
    ...BLOCKS,
    header: () => IPSETS.flatMap(createIpset).join('\n'),
    blockLines: (block) =>
      halvesOfAll(block).map((part) => `add tipline${familyOf(part).slice(1)}-new ${part}`),
    footer: () => IPSETS.flatMap(([set]) => [`swap ${set}-new ${set}`, `destroy ${set}-new`]),
    extension: 'ipset',
  },
  /**
   * A script for `/import` of RouterOS, with full paths, so that no line depends on another. RouterOS has no
   * transactions: the list is filled while the script runs.
   */
  mikrotik: {
    ...BLOCKS,
    rejectsRepeated: true,
    header: () =>
      ['ip', 'ipv6'].map((menu) => `/${menu} firewall address-list remove [find list=tipline]`).join('\n'),
    blockLines: (block) => [
      `/${familyOf(block) === 'v6' ? 'ipv6' : 'ip'} firewall address-list add list=tipline address=${block}`,
    ],
    extension: 'rsc',
  },
  /**
   * Directives of nginx's ngx_http_access_module, for `include`. nginx reads no 255.255.255.255 ("invalid parameter"); no
   * client has the address before it either (RFC 6890, 240.0.0.0/4).
   */
  nginx: {
    ...BLOCKS,
    blockLines: (block) => [`deny ${block === '255.255.255.255' ? '255.255.255.254/31' : block};`],
    extension: 'conf',
  },
  /** hosts(5): a line matches one name, not those below it. */
  hosts: { ...NAMES, lines: ({ value }) => [`0.0.0.0 ${value}`] },
  /**
   * A file for dnsmasq's `--servers-file`, which takes `server=` only and is read again on SIGHUP. A domain without a
   * server is never forwarded: the answer for it and all names below it is NXDOMAIN. `#` stands for the standard servers.
   */
  dnsmasq: {
    ...NAMES,
    lines: (row, _, skipped) =>
      namesBelow(
        row,
        (name) => `server=/${name}/`,
        (name) => `server=/${name}/#`,
        skipped,
      ),
    extension: 'conf',
  },
  /** Zones for `include` in unbound.conf(5). A zone has all names below it. */
  unbound: {
    ...NAMES,
    header: () => 'server:',
    lines: (row, _, skipped) =>
      namesBelow(
        row,
        (name) => `local-zone: "${name}" always_nxdomain`,
        (name) => `local-zone: "${name}" always_transparent`,
        skipped,
      ),
    extension: 'conf',
  },
  /**
   * A file for Squid's `acl … dstdomain`, in which a leading dot adds the names below. Squid 5 does not start
   * if a name comes before one above it ("ERROR: … is a subdomain of …").
   */
  squid: {
    ...NAMES,
    rejectsNested: true,
    lines(row, _, skipped) {
      skipped.addParts(row.whitelistedParts.length);
      return [includesNamesBelow(row) ? `.${row.value}` : row.value];
    },
  },
  /**
   * Tables of Postfix with the action of access(5): `cidr:` for addresses, `texthash:` for domains, whose lookup includes the
   * names below (`parent_domain_matches_subdomains`), and for senders. Keys are compared in lower case.
   */
  postfix: {
    ...VALUES,
    ...kindsOf(ADDRESSES, ['DOMAIN'], ['EMAIL']),
    networks: true,
    blockLines: (block) => [`${block} REJECT`],
    lines: postfixLines,
    comments: true,
  },
  /**
   * Hash signatures of ClamAV (docs.clamav.net, File hash signatures) for files of any size: functionality level 73. A list of
   * MD5 is a file `.hdb`, one of SHA-1 and SHA-256 a file `.hsb`. The name of a signature ends with the id of the indicator.
   * ClamAV rejects a file without a line ("Empty database file"), so that the first one is a comment.
   */
  clamav: {
    ...WITH_HASHES,
    ...kindsOf(['MD5'], ['SHA1', 'SHA256']),
    columns: [...WITH_HASHES.columns, 'id'],
    networks: false,
    header: () => '# Hash signatures of Tipline',
    lines: ({ id, value, ofCertificate }) =>
      ofCertificate ? NOT_OF_A_FILE : [`${value}:*:Tipline.${id}:73`],
    comments: true,
    extension: 'hsb',
  },
} as const satisfies Record<string, ListStyle>;

/** White space ends a key, and `#` begins a comment. */
function postfixLines(row: ExportIndicator, _: unknown, skipped: Skipped): Lines {
  const reject = (value: string) => `${value.toLowerCase()} REJECT`;
  if (row.type === 'DOMAIN') return namesBelow(row, reject, (name) => `${name} DUNNO`, skipped);
  return /[\s"#]/.test(row.value) ? { skipped: 'characters' } : [reject(row.value)];
}

function familyOf(block: string): 'v4' | 'v6' {
  return block.includes(':') ? 'v6' : 'v4';
}

/** Returns a block, or the halves of all addresses: `hash:net` has no prefix length of zero. No indicator is `::/0`. */
function halvesOfAll(block: string): string[] {
  return block === '0.0.0.0/0' ? ['0.0.0.0/1', '128.0.0.0/1'] : [block];
}

/**
 * Returns the line of a domain and all names below it, and those of its exceptions, which also include the names below them; a
 * domain below which no name may be blocked is skipped.
 */
function namesBelow(
  row: ExportIndicator,
  line: (name: string) => string,
  exception: (name: string) => string,
  skipped: Skipped,
): Lines {
  const exceptions = exceptionsBelow(row);
  if (exceptions === null)
    return { skipped: isPublicSuffix(row.value) ? 'public-suffix' : 'whitelisted-parts' };
  skipped.addParts(exceptions.length);
  return [line(row.value), ...new Set(exceptions.map(({ name }) => exception(name)))];
}
