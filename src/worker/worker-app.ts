import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { isReadOnly, pingDatabase } from '../db/database.ts';
import { dependencyChecks } from '../health/deep-check.ts';
import { Health, healthRoutes } from '../health/health.routes.ts';
import { requireDeclaredAccess } from '../http/admit.ts';
import { registerErrorHandler } from '../http/error-handler.ts';
import { ApiError } from '../http/errors.ts';
import { openMetrics } from '../http/metrics.ts';
import { ErrorBody } from '../http/schema.ts';
import { serverOptions, type Tls } from '../http/tls.ts';
import { parseQuerystring, queryValidator } from '../http/validation.ts';
import { registerTlsMetrics, registerWorkerMetrics } from '../metrics/process-metrics.ts';
import type { JobStats } from '../metrics/state-metrics.ts';
import { registerStateMetrics } from '../metrics/state-metrics.ts';
import type { RateLimitStore } from '../rate-limit/store.ts';
import { VERSION } from '../version.ts';

export interface WorkerAppDeps {
  database: Pick<Database, 'db' | 'diskProblem'>;
  rateLimits: Pick<RateLimitStore, 'ping'>;
  clock: Clock;
  metricsToken: string | undefined;
  jobStats: JobStats;
  /** Absent: the worker serves plain HTTP. */
  tls?: Tls | undefined;
  /** Aborted when this process is about to stop. */
  stopping: AbortSignal;
  logger: FastifyBaseLogger;
}

/** Builds the HTTP service of a worker: health and metrics, by the handlers of a server, and nothing else. */
export async function buildWorkerApp(deps: WorkerAppDeps): Promise<FastifyInstance> {
  const { clock, rateLimits } = deps;
  const { db } = deps.database;
  const app = Fastify({
    loggerInstance: deps.logger,
    genReqId: () => randomUUID(),
    forceCloseConnections: 'idle',
    bodyLimit: 1024,
    // Health probes arrive every few seconds and would fill the log.
    logController: new LogController({ disableRequestLogging: true }),
    requestTimeout: 10_000,
    ...serverOptions({}, deps.tls),
    routerOptions: { querystringParser: parseQuerystring },
  });
  deps.tls?.applyTo(app.server);
  app.setValidatorCompiler(({ schema }) => queryValidator(schema as object));
  for (const schema of [ErrorBody, Health]) app.addSchema(schema);
  registerErrorHandler(app);
  requireDeclaredAccess(app, []);
  app.setNotFoundHandler(() => {
    throw new ApiError('not_found');
  });
  const metrics = openMetrics();
  metrics.observeResponses(app);
  registerStateMetrics(metrics.registry, { db, clock, log: app.log });
  registerWorkerMetrics(metrics.registry, deps.jobStats);
  if (deps.tls) registerTlsMetrics(metrics.registry, deps.tls);
  const checks = dependencyChecks(
    () => pingDatabase(db),
    () => rateLimits.ping(),
    async () => (await deps.database.diskProblem()) !== null,
    () => isReadOnly(db),
  );
  await app.register(healthRoutes, { clock, version: VERSION, checks, stopping: deps.stopping });
  metrics.serve(app, deps.metricsToken);
  return app;
}
