import { createServer, type IncomingMessage, type Server } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { handleClientError } from './error-handler.ts';
import { ApiError } from './errors.ts';
import type { Tls } from './tls.ts';

/** No request has a reason to take longer: nothing is read or computed. */
const TIMEOUT_MS = 10_000;

interface RedirectOptions {
  tls: Pick<Tls, 'certificate'>;
  /** The port of the server with TLS. */
  port: number;
  /** The address of the application for users; null: not configured. */
  publicAddress: string | null;
}

/**
 * Returns the server of plain HTTP, which redirects each request to HTTPS (308, RFC 9110 §15.4.9). It answers nothing else: a response
 * without TLS could be changed on its way.
 */
export function redirectServer(options: RedirectOptions): Server {
  const server = createServer(
    { headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_MS / 2 },
    (request, response) => {
      const origin = secureOrigin(request.headers.host, options);
      response.setHeader('connection', 'close').setHeader('cache-control', 'no-store');
      if (origin !== null) {
        response.writeHead(308, { location: origin + pathOf(request), 'content-length': 0 }).end();
        return;
      }
      const error = new ApiError(
        'bad_request',
        'The certificate of this server is not for the host of the request.',
      );
      response.writeHead(error.statusCode, { 'content-type': 'application/json; charset=utf-8' });
      response.end(JSON.stringify(error.body));
    },
  );
  server.on('clientError', (error, socket) => handleClientError(error, socket as Socket));
  server.setTimeout(TIMEOUT_MS);
  return server;
}

/** A host with an optional port (RFC 9110 §7.2), without user info or anything else that a URL may have. */
const HOST = /^(?:([a-z\d](?:[a-z\d.-]*[a-z\d])?\.?)|\[([\da-f:.]+)\])(?::\d{1,5})?$/i;

/**
 * Returns the origin to redirect to: the public address, else the host of the request if the certificate is for it, so that nobody can
 * make this server redirect to another; null: it is for another host.
 */
function secureOrigin(
  host: string | undefined,
  { tls, port, publicAddress }: RedirectOptions,
): string | null {
  if (publicAddress?.startsWith('https:')) return new URL(publicAddress).origin;
  const [, name, ipv6] = host?.match(HOST) ?? [];
  const own = ipv6 ?? name;
  if (own === undefined) return null;
  const certificate = tls.certificate();
  if ((isIP(own) ? certificate.checkIP(own) : certificate.checkHost(own)) === undefined) return null;
  return `https://${ipv6 === undefined ? own : `[${ipv6}]`}${port === 443 ? '' : `:${port}`}`;
}

/** Returns path and query of the request, also of the absolute form (RFC 9112 §3.2.2). Node rejects all but visible ASCII in them. */
function pathOf({ url = '/' }: IncomingMessage): string {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}
