import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

const MAPPED_BITS = 96;

/** @throws when the text is neither an address nor a network */
function parseNetwork(text: string): Network {
  const [address, bits] = text.includes('/') ? ipaddr.parseCIDR(text) : [ipaddr.parse(text), 128];
  if (address instanceof ipaddr.IPv4) return [address, Math.min(bits, 32)];
  // IPv4-mapped networks are treated as the IPv4 network they map, like addresses.
  if (!address.isIPv4MappedAddress() || bits < MAPPED_BITS) return [address, bits];
  return [address.toIPv4Address(), bits - MAPPED_BITS];
}

const parsedNetworks = new WeakMap<readonly string[], Network[]>();

/** Lists of networks belong to the configuration or to a key, so each is parsed once. */
function parseNetworks(networks: readonly string[]): Network[] {
  const parsed = parsedNetworks.get(networks) ?? networks.map(parseNetwork);
  parsedNetworks.set(networks, parsed);
  return parsed;
}

export function inNetworks(address: string, networks: readonly string[]): boolean {
  const parsed = parseAddress(address);
  return parsed !== null && parseNetworks(networks).some((network) => contains(network, parsed));
}

function contains([network, bits]: Network, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}

/** Returns the address, without a zone; an IPv4-mapped IPv6 address becomes the IPv4 address it maps. */
function parseAddress(text: string): Address | null {
  const bare = text.trim().replace(/%.*$/, '');
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}

/** Of a client whose address is not known: it is in no network. */
const UNKNOWN = 'unknown';

/**
 * Returns the client's address: the socket's, unless that is a trusted proxy; then the rightmost hop of
 * X-Forwarded-For that is not a trusted proxy. A hop that is no address ends the search with `unknown`: hops to the left of
 * it cannot be trusted, and the proxy is not the client.
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
    client = addressOfHop(hop.trim()) ?? UNKNOWN;
  }
  return client;
}

/** Reads an address written in full, perhaps with a port, as Azure Application Gateway and IIS send it: `192.0.2.1:443`, `[2001:db8::1]:443`. */
function addressOfHop(hop: string): string | null {
  const [, ipv4] = /^([\d.]+)(?::\d{1,5})?$/.exec(hop) ?? [];
  if (ipv4 !== undefined) return ipaddr.IPv4.isValidFourPartDecimal(ipv4) ? ipv4 : null;
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop) ?? [];
  const ipv6 = bracketed ?? hop;
  return ipaddr.IPv6.isValid(ipv6) ? (parseAddress(ipv6)?.toString() ?? null) : null;
}

/**
 * Returns the network for which attempts are counted: an IPv4 address, or the /64 of an IPv6 address, because one
 * customer has a whole /64.
 */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.parse(address).toNormalizedString().split(':').slice(0, 4).join(':');
}
