import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import helmet from 'helmet';

/** The headers that helmet sets for a response that is not a page and loads no resources. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = readHeaders();

function readHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  const response = {
    setHeader(name: string, value: string) {
      headers[name.toLowerCase()] = value;
    },
    removeHeader: () => {},
  };
  const apply = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
  });
  apply({} as IncomingMessage, response as unknown as ServerResponse, () => {});
  return headers;
}

/** Registers a hook that adds these headers to each response, except to 304. Pages have their own policy. */
export function registerSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.statusCode !== 304) reply.headers({ ...SECURITY_HEADERS, ...reply.getHeaders() });
    done(null, payload);
  });
}
