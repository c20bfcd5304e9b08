import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptedType } from './accept.ts';
import {
  authenticator,
  isAppAccess,
  type KeyAuthenticationOptions,
  type RouteAccess,
  requireSession,
  type SessionOptions,
  trySession,
} from './admit.ts';
import type { CachedUrls } from './cache/send-cached.ts';
import { registerEtag } from './conditional.ts';
import { type Deprecation, deprecationHeaders } from './deprecation.ts';
import { ApiError } from './errors.ts';
import type { Metrics } from './metrics.ts';
import { lengthProblem, needsKey, type RouteTable, refuseBadHeaders } from './routing.ts';
import { registerSecurityHeaders, type SecurityHeaders } from './security-headers.ts';
import { traceRequests } from './trace-requests.ts';

interface PipelineOptions extends KeyAuthenticationOptions {
  sessions: SessionOptions;
  routes: RouteTable;
  urls: CachedUrls;
  metrics: Pick<Metrics, 'observeResponses'>;
  securityHeaders: SecurityHeaders;
  deprecations: readonly Deprecation[];
  /** Once aborted, each connection is closed after its response. */
  stopping: AbortSignal;
  /** Sends a page with status 404 if a browser requests an unknown path. @returns whether it was sent */
  sendNotFoundPage(request: FastifyRequest, reply: FastifyReply): boolean;
}

/** Registers the hooks of all requests, also of those with a cached response. Hooks run in this order. */
export function registerPipeline(app: FastifyInstance, options: PipelineOptions): void {
  const { sessions, routes, urls, metrics, stopping, sendNotFoundPage } = options;
  const [requireAccount, tryAccount] = [requireSession(sessions), trySession(sessions)];
  const requireKey = authenticator(options);
  const deprecated = deprecationHeaders(app, options.deprecations);

  traceRequests(app, options);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (stopping.aborted) reply.header('connection', 'close');
    const { config } = request.routeOptions;
    const { access, allowSession } = config;
    const scope = scopeOf(access);
    const isKeyed = scope !== null || needsKey(request.url);
    // Validate the headers and the lengths. Where a key is required, 414 and 431 follow its check, so that they have the rate-limit headers.
    refuseBadHeaders(request.raw);
    const tooLong = lengthProblem(request);
    if (tooLong && !isKeyed) throw tooLong;
    if (request.is404 && !tooLong && sendNotFoundPage(request, reply)) return reply;
    // Authenticate and authorize: origin, session and role; or key, rate limit, network and scope.
    const notice = deprecated(config.url, request);
    if (notice) reply.headers(notice);
    request.routeUrl = config.url;
    if (isAppAccess(access)) return requireAccount(request, reply, access);
    const hasAccount = allowSession && (await tryAccount(request, reply));
    if (!hasAccount && isKeyed) await requireKey(request, reply, config);
    if (tooLong) throw tooLong;
    if (request.is404) throw routes.reject(request.method, request.url);
    if (scope) requireAcceptable(request, config);
    // Send the cached response, or continue to the route.
    if (scope && !stopping.aborted && urls.send(request, reply)) return reply;
  });
  registerEtag(app);
  registerSecurityHeaders(app, options.securityHeaders);
  metrics.observeResponses(app);
}

/** Returns the scope that a route requires; null: none. */
function scopeOf(access: RouteAccess = 'public') {
  return access === 'public' || isAppAccess(access) ? null : access;
}

/** Accept headers of clients that accept any media type. */
const ACCEPTS_ANY = new Set<string | undefined>([undefined, '*/*']);

/** @throws {ApiError} 406 when Accept allows no media type of the route (RFC 9110 §12.5.1) */
function requireAcceptable(request: FastifyRequest, config: FastifyContextConfig): void {
  if (ACCEPTS_ANY.has(request.headers.accept)) return;
  const { mediaTypes = ['application/json'], ignoresAccept } = config;
  if (ignoresAccept?.(request) || acceptedType(request, mediaTypes)) return;
  const message = `The header accept allows no media type of the response. Available: ${mediaTypes.join(', ')}.`;
  throw new ApiError('not_acceptable', message);
}
