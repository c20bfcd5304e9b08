import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Histogram, type Metric, Registry } from 'prom-client';
import { ApiError } from './errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The URL pattern of the route, read once: each access to `routeOptions` creates an object. */
    routeUrl?: string;
  }
}

/** The Prometheus metrics of this process, and their route. */
export interface Metrics {
  /** The metrics of this process; features add their own. */
  registry: Registry;
  /** Measures the duration of all responses. */
  observeResponses(app: FastifyInstance): void;
  /**
   * Registers /metrics for requests with the token. Client addresses do not suffice: behind a proxy on the same
   * machine every request comes from loopback.
   * @param token undefined: every request is rejected
   */
  serve(app: FastifyInstance, token: string | undefined): void;
}

/** Returns a function that writes the metrics. @param own the metrics of this process */
export type CollectMetrics = (own: Registry) => () => Promise<string>;

/** The histogram of one method, route and status. */
type Child = ReturnType<Histogram['labels']>;

/**
 * Durations wait until there are this many, or until a scrape: the library needs less time for each when it gets
 * many at once.
 */
const BATCH_SIZE = 1_000;

let ofProcess: Metric[] | undefined;

/** Returns the metrics of Node.js and the process. They are made once: they observe the process until its end. */
function processMetrics(): Metric[] {
  ofProcess ??= defaultMetrics();
  return ofProcess;
}

function defaultMetrics(): Metric[] {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry.getMetricsAsArray().map(({ name }) => registry.getSingleMetric(name) as Metric);
}

export function openMetrics(collect: CollectMetrics = (own) => () => own.metrics()): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  for (const metric of processMetrics()) registry.registerMetric(metric);
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
  /** Caches the look-up of labels; the combinations of routes and statuses are few. */
  const children = new Map<string, Child>();
  const observe = (method: string, route: string, status: number, seconds: number) => {
    const name = `${method} ${status} ${route}`;
    const child = children.get(name) ?? duration.labels({ method, route, status });
    children.set(name, child);
    if (waiting.push({ child, seconds }) === BATCH_SIZE) observeAll();
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
          if (!hasToken(request.headers.authorization, token))
            throw new ApiError('invalid_metrics_token', undefined, { 'www-authenticate': 'Bearer' });
          reply.type(registry.contentType).header('cache-control', 'no-store');
          return text();
        },
      );
    },
  };
}

/** Compares digests: they have equal lengths, and the time does not depend on how many characters agree. */
function hasToken(authorization: string | undefined, token: string | undefined): boolean {
  const given = authorization?.match(/^Bearer +(\S+) *$/i)?.[1];
  if (given === undefined || token === undefined) return false;
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', token, 'buffer'));
}
