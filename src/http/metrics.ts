import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { ApiError } from './errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** As it was declared, read once: each access to `routeOptions` makes an object. */
    routeUrl?: string;
  }
}

/** Prometheus metrics. */
export interface Metrics {
  /** Those of this process; features add theirs. */
  registry: Registry;
  /** Observes all responses. */
  observeResponses(app: FastifyInstance): void;
  /**
   * Serves the metrics to requests that bring the token. Addresses prove nothing:
   * behind a proxy on the same machine everybody comes from loopback.
   * @param token undefined: nobody may read the metrics
   */
  serve(app: FastifyInstance, token: string | undefined): void;
}

/** @param own those of this process */
export type CollectMetrics = (own: Registry) => () => Promise<string>;

/** Of one method, route and status. */
type Child = ReturnType<Histogram['labels']>;

/** What the library needs for each is less when it gets many at once; they wait for as many, or for somebody who asks. */
const AT_ONCE = 1_000;

export function openMetrics(collect: CollectMetrics = (own) => () => own.metrics()): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  collectDefaultMetrics({ register: registry });
  const waiting: { child: Child; seconds: number }[] = [];
  const observeAll = () => {
    for (const { child, seconds } of waiting) child.observe(seconds);
    waiting.length = 0;
  };
  const duration = new Histogram({
    name: 'tipline_http_request_duration_seconds',
    help: 'Time to answer, by route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
    collect: observeAll,
  });
  const limited = new Counter({
    name: 'tipline_rate_limited_total',
    help: 'Requests answered with 429.',
    registers,
  });
  const text = collect(registry);
  /** Labels are looked up once: routes and statuses are few. */
  const children = new Map<string, Child>();
  const observe = (method: string, route: string, status: number, seconds: number) => {
    const name = `${method} ${status} ${route}`;
    const child = children.get(name) ?? duration.labels({ method, route, status });
    children.set(name, child);
    if (waiting.push({ child, seconds }) === AT_ONCE) observeAll();
    if (status === 429) limited.inc();
  };
  return {
    registry,
    observeResponses(app) {
      app.addHook('onResponse', (request, reply, done) => {
        const route = request.routeUrl ?? request.routeOptions.url ?? 'none';
        observe(request.method, route, reply.statusCode, reply.elapsedTime / 1000);
        done();
      });
    },
    serve(app, token) {
      app.get(
        '/metrics',
        { config: { access: 'public' }, schema: { hide: true } },
        async (request, reply) => {
          if (!bringsToken(request.headers.authorization, token))
            throw new ApiError('invalid_metrics_token', undefined, { 'www-authenticate': 'Bearer' });
          reply.type(registry.contentType).header('cache-control', 'no-store');
          return text();
        },
      );
    },
  };
}

/** Compared as digests: they are of one length, and how many characters agree takes no longer to find out. */
function bringsToken(authorization: string | undefined, token: string | undefined): boolean {
  const given = authorization?.match(/^Bearer +(\S+) *$/i)?.[1];
  if (given === undefined || token === undefined) return false;
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', token, 'buffer'));
}
