import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import accepts from '@fastify/accepts';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { accountRoutes } from './accounts/accounts.routes.ts';
import { type Authentication, authentication } from './accounts/authentication.ts';
import type { OidcProvider } from './accounts/oidc.ts';
import { apiKeyRoutes } from './api-keys/api-keys.routes.ts';
import type { LastUsed } from './api-keys/known-keys.ts';
import { knownKeys } from './api-keys/known-keys.ts';
import { auditRoutes } from './audit/audit.routes.ts';
import { catalogueRoutes } from './catalogues/catalogues.routes.ts';
import { openChangeFeed } from './changes/change-feed.ts';
import type { Clock } from './clock.ts';
import { CROWDSEC_ERRORS, crowdsecRoutes } from './crowdsec/crowdsec.routes.ts';
import type { Database } from './db/database.ts';
import { isReadOnly, pingDatabase } from './db/database.ts';
import type { AccessTracker } from './enrichment/access-tracker.ts';
import { enrichmentRoutes } from './enrichment/enrichments.routes.ts';
import { actorPageRoutes, actorRoutes } from './entities/actors/actors.routes.ts';
import { Actor, ActorChanges, ActorDetail, ActorItem, ActorList } from './entities/actors/actors.schema.ts';
import { campaignPageRoutes, campaignRoutes } from './entities/campaigns/campaigns.routes.ts';
import {
  Campaign,
  CampaignChanges,
  CampaignItem,
  CampaignList,
} from './entities/campaigns/campaigns.schema.ts';
import { linkedRoutes } from './entities/linked/linked.routes.ts';
import { LINKED_SCHEMAS } from './entities/linked/linked.schema.ts';
import { navigatorRoutes } from './entities/navigator/navigator.routes.ts';
import { NavigatorLayer } from './entities/navigator/navigator.schema.ts';
import { reportRoutes } from './entities/reports/reports.routes.ts';
import {
  exportFormat,
  exportIds,
  exportStyle,
  MispEvent,
  MispExport,
  MispManifest,
  mispGroup,
  StixBundle,
} from './exports/exports.schema.ts';
import { exporter } from './exports/exports.service.ts';
import { openReadingSlots } from './exports/reading-slots.ts';
import type { Spool } from './exports/spool.ts';
import { feedPageRoutes } from './feeds/feeds.app.routes.ts';
import { feedRoutes } from './feeds/feeds.routes.ts';
import { FEED_SCHEMAS } from './feeds/feeds.schema.ts';
import { webhookSecrets } from './feeds/webhooks/webhooks.service.ts';
import { dependencyChecks } from './health/deep-check.ts';
import { Health, healthRoutes, healthStatus } from './health/health.routes.ts';
import { requireDeclaredAccess } from './http/admit.ts';
import { createResponseCache, type ResponseCache } from './http/cache/response-cache.ts';
import { type CachedUrls, cachedUrls } from './http/cache/send-cached.ts';
import {
  cutSlowBodies,
  drainConnections,
  limitConnections,
  oneRequestAtATime,
  type SlowBodies,
} from './http/connections.ts';
import { DEPRECATIONS, type Deprecation } from './http/deprecation.ts';
import { handleClientError, registerErrorHandler, sendErrorOnSocket } from './http/error-handler.ts';
import { ApiError } from './http/errors.ts';
import { type CollectMetrics, openMetrics } from './http/metrics.ts';
import { DOCS_PREFIX, registerOpenApi, serveOpenApi } from './http/openapi.ts';
import { registerPipeline } from './http/pipeline.ts';
import { lazyRequestLogs, RequestLog } from './http/request-log.ts';
import { lazySerializers } from './http/routes.ts';
import { MAX_HEADERS, readableUrl, routeTable } from './http/routing.ts';
import { ErrorBody, VOCABULARIES } from './http/schema.ts';
import { securityHeaders } from './http/security-headers.ts';
import { serverOptions, type Tls } from './http/tls.ts';
import { parseQuerystring, validatorCompiler } from './http/validation.ts';
import type { OpenImporter } from './importers/parser-threads.ts';
import type { WidestNetworks } from './imports/import-context.ts';
import { importRoutes } from './imports/imports.routes.ts';
import { changeRoutes } from './indicators/changes/changes.routes.ts';
import { IndicatorChanges } from './indicators/changes/changes.schema.ts';
import { confidenceRoutes } from './indicators/confidence/confidence.routes.ts';
import { indicatorPageRoutes } from './indicators/indicators.app.routes.ts';
import { exportRoutes, indicatorRoutes } from './indicators/indicators.routes.ts';
import { Indicator, IndicatorContext, IndicatorItem, IndicatorList } from './indicators/indicators.schema.ts';
import { filterFile } from './lookup/filter-file.ts';
import { type ListedValues, openListedValues } from './lookup/listed-values.ts';
import { lookupPageRoutes } from './lookup/lookup.app.routes.ts';
import { lookupRoutes } from './lookup/lookup.routes.ts';
import { LookupResult, LookupResults } from './lookup/lookup.schema.ts';
import type { ReadTexts } from './lookup/reading.ts';
import { MCP_ERRORS, mcpRoutes } from './mcp/mcp.routes.ts';
import {
  registerServerMetrics,
  registerTlsMetrics,
  registerWorkerMetrics,
} from './metrics/process-metrics.ts';
import type { JobStats } from './metrics/state-metrics.ts';
import { registerStateMetrics } from './metrics/state-metrics.ts';
import { feedGroup, mispFeedRoutes } from './misp-feed/misp-feed.routes.ts';
import { overviewRoutes } from './overview/overview.routes.ts';
import type { RateLimit, RateLimitStore } from './rate-limit/store.ts';
import { throttled } from './rate-limit/throttled.ts';
import { searchRoutes } from './search/search.routes.ts';
import type { CommunityRules } from './sigma/community-rules.ts';
import { sigmaRoutes } from './sigma/sigma.routes.ts';
import { SIGMA_SCHEMAS, SIGMA_VOCABULARIES } from './sigma/sigma.schema.ts';
import { sourceRoutes } from './sources/sources.routes.ts';
import { errorMessage, TAXII, TAXII_TYPE } from './taxii/resources.ts';
import { taxiiRoutes } from './taxii/taxii.routes.ts';
import { TAXII_SCHEMAS } from './taxii/taxii.schema.ts';
import { VERSION } from './version.ts';
import {
  ASSETS_PREFIX,
  isUnknownPage,
  openWebApp,
  pageRoutes,
  type WebApp,
} from './web-app/web-app.routes.ts';
import { whitelistRoutes } from './whitelist/whitelist.routes.ts';

export interface AppDeps {
  database: Pick<
    Database,
    'connectionStats' | 'diskProblem' | 'requireSpace' | 'db' | 'kind' | 'read' | 'readStats' | 'revisions'
  >;
  spool: Spool;
  /** Third-party Sigma rules; null: there are none. */
  communityRules: Promise<CommunityRules | null>;
  rateLimits: RateLimitStore;
  clock: Clock;
  lastUsed: Pick<LastUsed, 'note'>;
  /** Records which indicators playbooks read: these are looked up first. */
  accessTracker: Pick<AccessTracker, 'record'>;
  rateLimit: RateLimit;
  trustedProxies: readonly string[];
  /** The token for /metrics; undefined: every request is rejected. */
  metricsToken: string | undefined;
  /** Collects the metrics of all processes of this node; undefined: there is only this process. */
  collectMetrics?: CollectMetrics | undefined;
  /** The counts of the worker in this process; undefined: this process has no worker. */
  jobStats?: JobStats | undefined;
  /** The directory of the built web application; null: there is none. */
  webDirectory: string | null;
  /** The directory for files that users upload for import. */
  uploadDirectory: string;
  /** The file in which the filters of look-ups are kept from one start to the next. */
  lookupFilters: string;
  /** The maximum size of such a file. */
  uploadBytes: number;
  /** How many days the history for the change feed goes back. */
  changeDays: number;
  /** The widest networks that imports accept. */
  widest: WidestNetworks;
  /** Opens importers for those files. */
  openImporter: OpenImporter;
  /** Reads the values of bulk look-ups. */
  readTexts: ReadTexts;
  /** Aborted when this process is about to stop: it still serves requests, with `Connection: close`. */
  stopping: AbortSignal;
  /** Encrypts second-factor secrets and the cookie of an OIDC sign-in, and keys the hashes of backup codes. */
  sessionSecret: string;
  /** The OIDC provider for sign-ins; null: users sign in with passwords only. */
  oidc: OidcProvider | null;
  /** The address of the application, for links to its pages; null: not configured. */
  publicAddress: string | null;
  /** Absent: the server serves plain HTTP. */
  tls?: Pick<Tls, 'options' | 'applyTo' | 'expiresAt'> | undefined;
  /** Days for which browsers use HTTPS only; default: 0, none. */
  hstsDays?: number;
  /** Default: all that is deprecated in this version. */
  deprecations?: readonly Deprecation[];
  /** The maximum number of connections of clients; undefined: any. */
  maxConnections?: number | undefined;
  /** The minimum rate of bodies; default: 1 KiB a second. */
  slowBodies?: SlowBodies;
  logger?: FastifyBaseLogger;
}

const SCHEMAS = [
  ErrorBody,
  Health,
  Indicator,
  IndicatorList,
  IndicatorItem,
  IndicatorContext,
  IndicatorChanges,
  LookupResult,
  LookupResults,
  Actor,
  ActorDetail,
  ActorList,
  ActorItem,
  ActorChanges,
  Campaign,
  CampaignList,
  CampaignItem,
  CampaignChanges,
  ...LINKED_SCHEMAS,
  NavigatorLayer,
  ...FEED_SCHEMAS,
  MispManifest,
  MispEvent,
  MispExport,
  StixBundle,
  ...TAXII_SCHEMAS,
  ...VOCABULARIES,
  ...SIGMA_VOCABULARIES,
  ...SIGMA_SCHEMAS,
  ...[healthStatus, exportFormat, exportStyle, mispGroup, exportIds, feedGroup].map(({ schema }) => schema),
];

/** Refused connections are logged no more often than this. */
const LOG_INTERVAL_MS = 30_000;

/** Returns the HTTP service: its plugins, its hooks in their order, and the explicit list of features. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const app = Fastify({
    ...(deps.logger && { loggerInstance: deps.logger }),
    logController: new RequestLog(),
    genReqId: () => randomUUID(),
    forceCloseConnections: 'idle',
    // The server handles a request that arrives while it drains like any other.
    return503OnClosing: false,
    bodyLimit: 1024,
    // A client that transfers nothing for so long is gone or hostile: others need the spool space that it holds.
    connectionTimeout: 120_000,
    // Node's own response to a request without Host has no body: refuseBadHeaders rejects such requests instead.
    ...serverOptions({ requireHostHeader: false, maxHeaderSize: MAX_HEADERS }, deps.tls),
    rewriteUrl: (request) => readableUrl(request.url ?? '/'),
    routerOptions: { maxParamLength: 16_384, querystringParser: parseQuerystring },
    schemaController: { compilersFactory: { buildSerializer: lazySerializers } },
    clientErrorHandler: (error, socket) => handleClientError(error, socket as Socket),
  }).withTypeProvider<TypeBoxTypeProvider>();
  lazyRequestLogs(app);
  deps.tls?.applyTo(app.server);
  const { maxConnections } = deps;
  if (maxConnections !== undefined)
    limitConnections(
      app.server,
      maxConnections,
      throttled(
        () => app.log.warn({ maxConnections }, 'connections refused: the limit of open files allows no more'),
        LOG_INTERVAL_MS,
      ),
    );
  drainConnections(app.server);
  cutSlowBodies(
    app.server,
    (socket) => sendErrorOnSocket(socket, new ApiError('request_timeout')),
    deps.slowBodies,
  );
  // Node's response to an unknown Expect is a 417 without a body; RFC 9110 §10.1.1 permits the server to ignore it.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.setValidatorCompiler(validatorCompiler());
  for (const schema of SCHEMAS) app.addSchema(schema);
  registerErrorHandler(app, [
    { prefix: TAXII, mediaType: TAXII_TYPE, write: errorMessage },
    MCP_ERRORS,
    CROWDSEC_ERRORS,
  ]);
  requireDeclaredAccess(app, [DOCS_PREFIX, ASSETS_PREFIX]);
  await app.register(accepts);
  const accounts = authentication({
    db: deps.database.db,
    rateLimits: deps.rateLimits,
    clock: deps.clock,
    trustedProxies: deps.trustedProxies,
    secret: deps.sessionSecret,
    oidc: deps.oidc,
  });
  const pages = openWebApp(deps.webDirectory);
  const { db, revisions } = deps.database;
  const metrics = openMetrics(deps.collectMetrics);
  registerStateMetrics(metrics.registry, { db, clock: deps.clock, log: app.log });
  if (deps.jobStats) registerWorkerMetrics(metrics.registry, deps.jobStats);
  const routes = routeTable(app);
  // Called by plugins whose route finds nothing (static files); the pipeline rejects all other unknown paths.
  app.setNotFoundHandler((request) => {
    throw routes.reject(request.method, request.url);
  });
  const responses = createResponseCache(revisions);
  const headers = securityHeaders(deps.hstsDays ?? 0);
  const urls = cachedUrls(responses, headers);
  const keys = knownKeys(db, revisions);
  const listed = openListedValues(deps.database, deps.clock, filterFile(deps.lookupFilters), (err) =>
    app.log.warn({ err }, 'filters of look-ups not read or stored'),
  );
  app.addHook('onClose', listed.close);
  registerServerMetrics(metrics.registry, {
    responses,
    keys,
    rateLimits: deps.rateLimits,
    readStats: deps.database.readStats,
    connectionStats: deps.database.connectionStats,
    spool: deps.spool,
    listed,
  });
  if (deps.tls) registerTlsMetrics(metrics.registry, deps.tls);
  registerPipeline(app, {
    clock: deps.clock,
    rateLimits: deps.rateLimits,
    rateLimit: deps.rateLimit,
    trustedProxies: deps.trustedProxies,
    stopping: deps.stopping,
    sessions: { clock: deps.clock, findAccount: accounts.findAccount },
    findKey: keys.find,
    recordKeyUse: deps.lastUsed.note,
    routes,
    urls,
    metrics,
    securityHeaders: headers,
    deprecations: deps.deprecations ?? DEPRECATIONS,
    sendNotFoundPage(request, reply) {
      if (!pages || !isUnknownPage(request)) return false;
      pages.send(reply.code(404));
      return true;
    },
  });
  await registerFeatures(app, deps, { accounts, pages, listed, cache: { responses, urls } });
  metrics.serve(app, deps.metricsToken);
  const [listener] = app.server.listeners('request') as RequestListener[];
  if (listener) app.server.removeListener('request', listener).on('request', oneRequestAtATime(listener));
  return app;
}

async function registerFeatures(
  app: FastifyInstance,
  deps: AppDeps,
  {
    accounts,
    pages,
    listed,
    cache,
  }: {
    accounts: Authentication;
    pages: WebApp | null;
    listed: ListedValues;
    cache: { responses: ResponseCache; urls: CachedUrls };
  },
): Promise<void> {
  await registerOpenApi(app, deps.deprecations ?? DEPRECATIONS);
  const { rateLimits, clock } = deps;
  const { db, read } = deps.database;
  const checks = dependencyChecks(
    () => pingDatabase(db),
    () => rateLimits.ping(),
    async () => (await deps.database.diskProblem()) !== null,
    () => isReadOnly(db),
  );
  await app.register(healthRoutes, { clock, version: VERSION, checks, stopping: deps.stopping });
  const failed = (error: Error) => app.log.error({ err: error }, 'export aborted');
  const entityFeed = {
    database: deps.database,
    secret: deps.sessionSecret,
    clock,
    stopping: deps.stopping,
  };
  const feed = openChangeFeed(deps.database, deps.sessionSecret, clock);
  const reading = openReadingSlots();
  const exports = exporter(deps.database, deps.spool, reading, deps.publicAddress, failed);
  await app.register(indicatorRoutes, { read, exporter: exports, feed, interest: deps.accessTracker, cache });
  await app.register(exportRoutes, { exporter: exports, feed });
  const changes = { feed, stopping: deps.stopping };
  await app.register(changeRoutes, changes);
  await app.register(lookupRoutes, { source: { read, listed, readTexts: deps.readTexts }, clock });
  await app.register(feedRoutes, { db, exporter: exports, changes });
  await app.register(taxiiRoutes, {
    database: deps.database,
    secret: deps.sessionSecret,
    publicAddress: deps.publicAddress,
  });
  await app.register(crowdsecRoutes, {
    database: deps.database,
    changes: feed,
    spool: deps.spool,
    trustedProxies: deps.trustedProxies,
    changeDays: deps.changeDays,
    onError: (err) => app.log.error({ err }, 'decisions for a bouncer not sent or recorded'),
  });
  await app.register(mispFeedRoutes, { database: deps.database, exporter: exports });
  await app.register(sigmaRoutes, { database: deps.database, communityRules: deps.communityRules, reading });
  await app.register(actorRoutes, { read, feed: entityFeed });
  await app.register(campaignRoutes, { read, feed: entityFeed });
  await app.register(linkedRoutes, { read });
  await app.register(navigatorRoutes, { read });
  await app.register(accountRoutes, accounts);
  await app.register(indicatorPageRoutes, { db, exporter: exports });
  await app.register(actorPageRoutes, { db });
  await app.register(campaignPageRoutes, { db });
  await app.register(importRoutes, {
    database: deps.database,
    clock,
    openImporter: deps.openImporter,
    by: accounts.by,
    directory: deps.uploadDirectory,
    maxBytes: deps.uploadBytes,
    widest: deps.widest,
  });
  await app.register(confidenceRoutes, { db, by: accounts.by });
  await app.register(whitelistRoutes, { db, by: accounts.by });
  await app.register(feedPageRoutes, {
    db,
    by: accounts.by,
    changes: feed,
    webhookSecrets: webhookSecrets(deps.sessionSecret),
  });
  await app.register(auditRoutes, { db });
  await app.register(enrichmentRoutes, { db, clock: deps.clock, by: accounts.by });
  await app.register(sourceRoutes, { db, clock: deps.clock, by: accounts.by });
  await app.register(overviewRoutes, { db });
  await app.register(reportRoutes, { db });
  await app.register(searchRoutes, { db });
  await app.register(lookupPageRoutes, { db, listed });
  await app.register(catalogueRoutes);
  await app.register(mcpRoutes, {
    data: {
      database: deps.database,
      listed,
      feed,
      communityRules: deps.communityRules,
      reading,
      interest: deps.accessTracker,
    },
    counter: { clock, rateLimits, rateLimit: deps.rateLimit },
    publicAddress: deps.publicAddress,
  });
  await app.register(apiKeyRoutes, { db, rateLimits, rateLimit: deps.rateLimit, by: accounts.by });
  serveOpenApi(app);
  await app.register(pageRoutes, { pages });
}
