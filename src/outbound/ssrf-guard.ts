import { lookup } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { OutboundError } from './outbound-error.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = [Address, number];

// RFC 4291 §2.4 leaves the rest to special uses; IANA assigns global unicast addresses from this block only.
const GLOBAL_UNICAST: Network = ipaddr.parseCIDR('2000::/3');
// Both reach the IPv4 address in their last 32 bits: RFC 4291 §2.5.5.2, and RFC 6052 where the network has a
// NAT64.
const IPV4_INSIDE: Network[] = ['::ffff:0:0/96', '64:ff9b::/96'].map((text) => ipaddr.parseCIDR(text));
/**
 * Public by its form, but within Azure it leads to the host of the virtual machine, which hands out its
 * extensions' settings and certificates. The metadata services of other clouds have non-public addresses.
 */
const AZURE_PLATFORM = '168.63.129.16';

/**
 * Parses networks in CIDR notation and single addresses.
 * @throws {RangeError} naming the text that is neither
 */
export function parseNetworks(texts: readonly string[]): Network[] {
  return texts.map((text) => {
    const [, base = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
    const most = { 0: -1, 4: 32, 6: 128 }[isIP(base)] ?? -1;
    const prefix = Number(bits ?? most);
    // A mapped network would never match: addresses are unwrapped before they are compared.
    if (most < 0 || prefix > most || /^::ffff:/i.test(base))
      throw new RangeError(`not a network in CIDR notation: ${text}`);
    return [parse(base), prefix];
  });
}

/**
 * Returns whether a connection to the address is allowed: it is public, or in one of the networks.
 * IPv4-mapped and NAT64 addresses are judged as the IPv4 address they lead to. 6to4, Teredo, ISATAP and the
 * other transition forms are tunnels to an address inside them; no feed uses them, so none of them is public.
 */
export function mayConnect(address: string, allowedNetworks: readonly Network[]): boolean {
  if (isIP(address) === 0) return false;
  const parsed = parse(address);
  const target = unwrapped(parsed);
  const isAllowed = (candidate: Address) => allowedNetworks.some((network) => contains(network, candidate));
  return isAllowed(parsed) || isAllowed(target) || isPublic(target);
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || address.toString() === AZURE_PLATFORM) return false;
  return address instanceof ipaddr.IPv4 || (contains(GLOBAL_UNICAST, address) && !isIsatap(address));
}

/** RFC 5214 §6.1: an interface identifier of 0000:5efe or 0200:5efe and an IPv4 address, under any prefix. */
function isIsatap(address: ipaddr.IPv6): boolean {
  return ((address.parts[4] ?? 0) & ~0x200) === 0 && address.parts[5] === 0x5efe;
}

function unwrapped(address: Address): Address {
  if (!IPV4_INSIDE.some((network) => contains(network, address))) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

function contains([network, bits]: Network, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}

/** ipaddr.js reads ::1.2.3.4 as ::ffff:1.2.3.4, so the URL parser first writes IPv6 addresses in groups. */
function parse(address: string): Address {
  if (!isIPv6(address)) return ipaddr.parse(address);
  return ipaddr.parse(new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1));
}

const WAIT_MS = 2_000;

/**
 * Returns why nothing can ever be fetched from a URL; null if something may, or if its name does not resolve
 * now.
 */
export async function addressProblem(
  { hostname }: URL,
  allowedNetworks: readonly string[],
  resolve: Resolve = (name) => lookup(name, { all: true }),
): Promise<string | null> {
  const networks = parseNetworks(allowedNetworks);
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host) ? [{ address: host, family: 0 }] : await resolvedInTime(resolve(host));
  if (found.length === 0 || found.some(({ address }) => mayConnect(address, networks))) return null;
  return notAllowed().message;
}

/** Returns no addresses when the look-up fails or takes longer than an interactive user would wait. */
async function resolvedInTime(answer: ReturnType<Resolve>): ReturnType<Resolve> {
  const late = new Promise<[]>((done) => setTimeout(() => done([]), WAIT_MS).unref());
  return Promise.race([answer.catch(() => []), late]);
}

/**
 * Resolves a name to all of its addresses.
 * @throws with the codes of node:dns
 */
export type Resolve = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

export function notAllowed(): OutboundError {
  return new OutboundError('not_allowed', 'its address is neither public nor in an allowed network');
}
