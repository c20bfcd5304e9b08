import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { connectFailure, OutboundError } from './outbound-error.ts';
import { notAllowed, type Resolve } from './ssrf-guard.ts';

export interface ConnectorOptions {
  mayConnect: (address: string) => boolean;
  resolve?: Resolve;
  /** PEM of the authorities to trust instead of Node's. */
  certificateAuthorities?: string;
}

const CONNECT_TIMEOUT_MS = 10_000;
// Node allows 250 ms for each address of a name except the last: too short for a server on another continent.
const ADDRESS_TIMEOUT_MS = 1_500;

/**
 * Returns a connector that connects to allowed addresses only. It connects to the addresses that were
 * checked: the name is not resolved a second time, so a name that then resolves differently (DNS rebinding)
 * gains nothing.
 */
export function guardedConnector(options: ConnectorOptions): buildConnector.connector {
  const connect = buildConnector({
    lookup: guardedLookup(options.mayConnect, options.resolve ?? resolveBySystem),
    timeout: CONNECT_TIMEOUT_MS,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    ca: options.certificateAuthorities,
  });
  return (wanted, callback) => {
    // net.connect resolves names only; an address in the URL is checked here. The URL parser has normalized
    // 0x7f.1 to a dotted quad.
    if (isIP(wanted.hostname) !== 0 && !options.mayConnect(wanted.hostname))
      return callback(notAllowed(), null);
    // undici's connector returns the socket, though its types do not say so.
    const socket: unknown = connect(wanted, (error, connected) => {
      if (error === null) callback(null, connected);
      else callback(distrusted(socket) ?? connectFailure(error), null);
    });
  };
}

/**
 * The system's resolver, with the hosts file. Its threads cannot be cancelled; deadlines do not wait for
 * them.
 */
const resolveBySystem: Resolve = (hostname) => lookup(hostname, { all: true });

function guardedLookup(mayConnect: (address: string) => boolean, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const addresses = found.filter(({ address }) => mayConnect(address));
        const [first] = addresses;
        if (first === undefined) callback(found.length > 0 ? notAllowed() : noAddress(), '', 0);
        else if (options.all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, '', 0),
    );
  };
}

function noAddress(): OutboundError {
  return new OutboundError('unreachable', 'the name does not resolve');
}

function distrusted(socket: unknown): OutboundError | null {
  if (!(socket instanceof TLSSocket) || !socket.authorizationError) return null;
  // Typed as an Error, in fact a code such as CERT_HAS_EXPIRED.
  return new OutboundError(
    'bad_certificate',
    `the certificate is not accepted (${socket.authorizationError})`,
  );
}
