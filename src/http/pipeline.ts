import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticator, type KeyAuthenticationOptions } from './authenticate.ts';
import type { CachedUrls } from './cache/cached-urls.ts';
import { ApiError } from './errors.ts';
import { registerEtag } from './etag.ts';
import type { Metrics } from './metrics.ts';
import { needsKey, type RouteTable, refuseBadHeaders, refuseLongUrl } from './routing.ts';
import { registerSecurityHeaders } from './security-headers.ts';
import { isAppAccess, requireSession, type SessionOptions, trySession } from './session-gate.ts';

interface PipelineOptions extends KeyAuthenticationOptions {
  sessions: SessionOptions;
  routes: RouteTable;
  urls: CachedUrls;
  metrics: Pick<Metrics, 'observeResponses'>;
  /** Aborted: each connection is closed behind a response. */
  stopping: AbortSignal;
  /** Answers a mistyped path of a page; true: it has. */
  answerMistyped(request: FastifyRequest, reply: FastifyReply): boolean;
}

/** The way of every request, cached response or not. Hooks run in the order in which they stand here. */
export function registerPipeline(app: FastifyInstance, options: PipelineOptions): void {
  const { sessions, routes, urls, metrics, stopping, answerMistyped } = options;
  const [requireAccount, tryAccount] = [requireSession(sessions), trySession(sessions)];
  const requireKey = authenticator(options);

  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (stopping.aborted) reply.header('connection', 'close');
    // Parse.
    refuseLongUrl(request.url);
    refuseBadHeaders(request.raw);
    if (request.is404 && answerMistyped(request, reply)) return reply;
    // Authenticate and admit: session, origin and role, or key, rate, network and scope.
    const { config } = request.routeOptions;
    const { access, allowSession } = config;
    request.routeUrl = config.url;
    if (isAppAccess(access)) return requireAccount(request, reply, access);
    const scope = access === undefined || access === 'public' ? null : access;
    const hasAccount = allowSession && (await tryAccount(request, reply));
    if (!hasAccount && (scope || needsKey(request.url))) await requireKey(request, reply, config);
    if (request.is404) throw routes.reject(request.method, request.url);
    if (scope) requireAcceptable(request, config);
    // A cached response, or the route.
    if (scope && !stopping.aborted && urls.send(request, reply)) return reply;
  });
  registerEtag(app);
  registerSecurityHeaders(app);
  metrics.observeResponses(app);
}

/** Of clients that take anything. */
const ACCEPTS_ANY = new Set<string | undefined>([undefined, '*/*']);

/** @throws {ApiError} 406 (RFC 9110 §12.5.1) */
function requireAcceptable(request: FastifyRequest, config: FastifyContextConfig): void {
  if (ACCEPTS_ANY.has(request.headers.accept)) return;
  const { mediaTypes = ['application/json'], ignoresAccept } = config;
  if (!ignoresAccept?.(request) && !request.accepts().type([...mediaTypes]))
    throw new ApiError('not_acceptable');
}
