import type { FastifyRequest } from 'fastify';
import { addressOf } from './admit.ts';
import { redactKeys } from './redact-keys.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the query is left out of the log: it grants access. */
    hasSecretQuery?: boolean;
  }
}

/**
 * Returns the function that makes the request of a line in the log, without headers and without API keys in its URL. It is called only
 * for lines that are written.
 */
export function requestSerializer(options: { trustedProxies: readonly string[] }) {
  return (request: FastifyRequest) => {
    const { method, url, routeOptions } = request;
    const shown = routeOptions.config?.hasSecretQuery ? url.split('?', 1)[0] : url;
    return { method, url: redactKeys(shown ?? ''), remoteAddress: addressOf(request, options) };
  };
}
