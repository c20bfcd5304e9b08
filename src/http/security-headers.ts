import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import helmet from 'helmet';

const DAY_SECONDS = 86_400;

export type SecurityHeaders = Readonly<Record<string, string>>;

/**
 * Returns the headers of helmet for a response that is not a page and loads no resources.
 * @param hstsDays for which browsers use HTTPS only; 0: no Strict-Transport-Security, which RFC 6797 §7.2 forbids without TLS. Hosts
 *   below this one may be of others, so that they are not included.
 */
export function securityHeaders(hstsDays: number): SecurityHeaders {
  const headers: Record<string, string> = {};
  const response = {
    setHeader(name: string, value: string) {
      headers[name.toLowerCase()] = value;
    },
    removeHeader: () => {},
  };
  const apply = helmet({
    strictTransportSecurity: hstsDays > 0 && { maxAge: hstsDays * DAY_SECONDS, includeSubDomains: false },
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
  });
  apply({} as IncomingMessage, response as unknown as ServerResponse, () => {});
  return headers;
}

/** Registers a hook that adds these headers to each response, except to 304. Pages have their own policy. */
export function registerSecurityHeaders(app: FastifyInstance, headers: SecurityHeaders): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    // Headers that are set stay: Fastify would add a second Set-Cookie.
    if (reply.statusCode !== 304)
      for (const name in headers) if (!reply.hasHeader(name)) reply.header(name, headers[name]);
    done(null, payload);
  });
}
