import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Span } from '../tracing/span.ts';
import { currentTracing } from '../tracing/tracing.ts';
import { addressOf } from './admit.ts';
import { redactKeys } from './redact-keys.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of the request; undefined: tracing is off. */
    span?: Span;
  }
}

/** The methods of which OpenTelemetry has the names; any other is `_OTHER`, because clients may send any. */
const METHODS = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'QUERY',
  'TRACE',
  'CONNECT',
]);

/**
 * Registers the hooks that make a span of each request, by OpenTelemetry's semantic conventions for HTTP; none if tracing is off. The query
 * is left out: it has values that are looked up.
 */
export function traceRequests(app: FastifyInstance, options: { trustedProxies: readonly string[] }): void {
  const tracing = currentTracing();
  if (tracing === null) return;
  app.addHook('onRequest', (request, _reply, done) => {
    request.span = tracing.start({
      name: methodOf(request),
      kind: 'server',
      caller: request.headers,
      attributes: {
        'http.request.method': methodOf(request),
        'url.path': redactKeys(request.url.split('?', 1)[0] ?? '/'),
        'url.scheme': 'encrypted' in request.socket ? 'https' : 'http',
        'client.address': addressOf(request, options),
        'network.protocol.version': request.raw.httpVersion,
        'tipline.request_id': request.id,
      },
    });
    request.span.run(done);
  });
  // After a body has been read, the connection calls the next hooks, which is outside of the span.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.span) request.span.run(done);
    else done();
  });
  app.addHook('onResponse', (request, { statusCode }, done) => {
    const { span, routeUrl: route } = request;
    span?.setAttributes({ 'http.response.status_code': statusCode, ...(route && { 'http.route': route }) });
    if (route) span?.setName(`${methodOf(request)} ${route}`);
    if (statusCode >= 500) span?.fail(String(statusCode));
    span?.end();
    done();
  });
}

const methodOf = ({ method }: FastifyRequest) => (METHODS.has(method) ? method : '_OTHER');
