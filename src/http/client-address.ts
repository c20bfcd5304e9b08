import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

const MAPPED_BITS = 96;

/** @throws on what is neither an address nor a network */
function parseNetwork(text: string): Network {
  const [address, bits] = text.includes('/') ? ipaddr.parseCIDR(text) : [ipaddr.parse(text), 128];
  if (address instanceof ipaddr.IPv4) return [address, Math.min(bits, 32)];
  // IPv4-mapped networks are the IPv4 network they map, as addresses are.
  if (!address.isIPv4MappedAddress() || bits < MAPPED_BITS) return [address, bits];
  return [address.toIPv4Address(), bits - MAPPED_BITS];
}

export function inNetworks(address: string, networks: readonly string[]): boolean {
  const parsed = parseAddress(address);
  return parsed !== null && networks.some((network) => contains(parseNetwork(network), parsed));
}

function contains([network, bits]: Network, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}

/** IPv4-mapped IPv6 addresses are the IPv4 address they map. */
function parseAddress(text: string): Address | null {
  const bare = text.trim().replace(/%.*$/, '');
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}

/**
 * The client's address: the socket's, unless that is a trusted proxy; then the rightmost hop of X-Forwarded-For
 * that is not one. A hop that is not an address ends the search: what stands left of it proves nothing.
 */
export function clientAddress(
  socketAddress: string,
  forwardedFor: string | undefined,
  trustedProxies: readonly string[],
): string {
  let client = parseAddress(socketAddress)?.toString() ?? socketAddress;
  if (trustedProxies.length === 0 || forwardedFor === undefined) return client;
  for (const hop of forwardedFor.split(',').reverse()) {
    if (!inNetworks(client, trustedProxies)) return client;
    const address = parseAddress(hop);
    if (address === null) return client;
    client = address.toString();
  }
  return client;
}

/** Whom attempts are counted for: an IPv4 address, or the /64 of an IPv6 address, which one customer has whole. */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.parse(address).toNormalizedString().split(':').slice(0, 4).join(':');
}
