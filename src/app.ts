import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import accepts from '@fastify/accepts';
import helmet from '@fastify/helmet';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import type { Clock } from './clock.ts';
import type { Database } from './db/open.ts';
import { pingDatabase } from './db/ping.ts';
import { accountRoutes } from './features/accounts/accounts.routes.ts';
import { type Authentication, authentication } from './features/accounts/authentication.ts';
import type { OidcProvider } from './features/accounts/oidc.ts';
import { actorPageRoutes } from './features/actors/actor-pages.routes.ts';
import { actorRoutes } from './features/actors/actors.routes.ts';
import { Actor, ActorDetail, ActorItem, ActorList } from './features/actors/actors.schema.ts';
import { apiKeyRoutes } from './features/api-keys/api-keys.routes.ts';
import { type KnownKeys, knownKeys } from './features/api-keys/known-keys.ts';
import type { LastUsed } from './features/api-keys/last-used.ts';
import { auditRoutes } from './features/audit/audit.routes.ts';
import { campaignPageRoutes } from './features/campaigns/campaign-pages.routes.ts';
import { campaignRoutes } from './features/campaigns/campaigns.routes.ts';
import { Campaign, CampaignItem, CampaignList } from './features/campaigns/campaigns.schema.ts';
import { confidenceRoutes } from './features/confidence/confidence.routes.ts';
import { enrichmentRoutes } from './features/enrichments/enrichments.routes.ts';
import type { Interest } from './features/enrichments/wanted.ts';
import { exportRoutes } from './features/exports/exports.routes.ts';
import { exportFormat, StixBundle, txtStyle } from './features/exports/exports.schema.ts';
import { exporter } from './features/exports/exports.service.ts';
import type { Spool } from './features/exports/spool.ts';
import { dependencyChecks } from './features/health/deep-check.ts';
import { Health, healthRoutes, healthStatus } from './features/health/health.routes.ts';
import { importRoutes } from './features/imports/imports.routes.ts';
import { indicatorPageRoutes } from './features/indicators/analyst.routes.ts';
import { indicatorRoutes } from './features/indicators/indicators.routes.ts';
import {
  Indicator,
  IndicatorContext,
  IndicatorItem,
  IndicatorList,
} from './features/indicators/indicators.schema.ts';
import { mispFeedRoutes } from './features/misp-feed/misp-feed.routes.ts';
import { MispEvent, MispManifest } from './features/misp-feed/misp-feed.schema.ts';
import { overviewRoutes } from './features/overview/overview.routes.ts';
import {
  ASSETS_PREFIX,
  isMistyped,
  openPages,
  type Pages,
  pageRoutes,
} from './features/pages/pages.routes.ts';
import { reportRoutes } from './features/reports/reports.routes.ts';
import { searchRoutes } from './features/search/search.routes.ts';
import type { CommunityRules } from './features/sigma/community-rules.ts';
import { sigmaRoutes } from './features/sigma/sigma.routes.ts';
import { sourceRoutes } from './features/sources/sources.routes.ts';
import { registerStateMetrics } from './features/state-metrics/state-metrics.ts';
import { whitelistRoutes } from './features/whitelist/whitelist.routes.ts';
import { type Answering, answering } from './http/answering.ts';
import { authenticator, requireDeclaredAccess } from './http/authenticate.ts';
import { bodyValidator } from './http/body-validator.ts';
import { answerClientError, refuseOn, registerErrorHandler } from './http/error-handler.ts';
import { ApiError } from './http/errors.ts';
import { registerEtag } from './http/etag.ts';
import { type FastLane, fastLane } from './http/fast-lane.ts';
import { keepAnswers } from './http/kept-answers.ts';
import { lateSerializers } from './http/late-serializers.ts';
import { type CollectMetrics, type Metrics, openMetrics } from './http/metrics.ts';
import { oneRequestAtATime } from './http/one-request-at-a-time.ts';
import { DOCS_PREFIX, registerOpenApi, serveOpenApi } from './http/openapi.ts';
import { queryValidator } from './http/query-validator.ts';
import { parseQuerystring } from './http/querystring.ts';
import { needsKey, readableUrl, refuseBadHeaders, refuseLongUrl, routeTable } from './http/routing.ts';
import { ErrorBody } from './http/schema.ts';
import { sendBeforeClosing } from './http/sent-before-closing.ts';
import { isAppAccess, sessionGate, sessionInstead } from './http/session-gate.ts';
import { cutSlowBodies, type SlowBodies } from './http/slow-bodies.ts';
import { VOCABULARIES } from './http/vocabularies.ts';
import type { OpenImporter } from './importers/parser-threads.ts';
import type { KeyValueStore, RateLimit } from './kv/kv.ts';
import { VERSION } from './version.ts';

export interface AppDeps {
  database: Pick<
    Database,
    'diskProblem' | 'requireSpace' | 'db' | 'kind' | 'read' | 'refreshStatistics' | 'revisions'
  >;
  spool: Spool;
  /** Sigma rules of others; null: there are none. */
  communityRules: Promise<CommunityRules | null>;
  kv: KeyValueStore;
  clock: Clock;
  lastUsed: Pick<LastUsed, 'note'>;
  /** What playbooks look at is asked about first. */
  interest: Pick<Interest, 'note'>;
  rateLimit: RateLimit;
  trustedProxies: readonly string[];
  /** Opens /metrics; undefined: nothing does. */
  metricsToken: string | undefined;
  /** The metrics of all processes of this node; undefined: there is only this one. */
  collectMetrics?: CollectMetrics | undefined;
  /** The application as it was built; null: there is none. */
  webDirectory: string | null;
  /** Where files are laid aside that are imported in the application, and the largest of them, in bytes. */
  uploadDirectory: string;
  uploadBytes: number;
  /** Importers for those files. */
  openImporter: OpenImporter;
  /** Aborted: this process is about to stop. It answers on, and closes each connection behind an answer. */
  stopping: AbortSignal;
  /** Signs the cookies of sessions. */
  sessionSecret: string;
  /** Who signs people in beside their passwords; null: nobody. */
  oidc: OidcProvider | null;
  /** Left out: 1 KiB a second is too slow. */
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
  Actor,
  ActorDetail,
  ActorList,
  ActorItem,
  Campaign,
  CampaignList,
  CampaignItem,
  MispManifest,
  MispEvent,
  StixBundle,
  ...VOCABULARIES,
  ...[healthStatus, exportFormat, txtStyle].map(({ schema }) => schema),
];

/** The HTTP service: its plugins, its hooks in their order, and the explicit list of features. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const app = Fastify({
    ...(deps.logger && { loggerInstance: deps.logger }),
    genReqId: () => randomUUID(),
    forceCloseConnections: 'idle',
    // A request that arrives while the server drains is answered like any other.
    return503OnClosing: false,
    bodyLimit: 1024,
    // A client that takes nothing for so long is gone, or means harm: what is laid aside for it is wanted by others.
    connectionTimeout: 120_000,
    // Node would answer what lacks a Host by itself, without a body: the gate does.
    http: { requireHostHeader: false },
    rewriteUrl: (request) => readableUrl(request.url ?? '/'),
    routerOptions: { maxParamLength: 16_384, querystringParser: parseQuerystring },
    schemaController: { compilersFactory: { buildSerializer: lateSerializers } },
    clientErrorHandler: (error, socket) => answerClientError(error, socket as Socket),
  }).withTypeProvider<TypeBoxTypeProvider>();
  sendBeforeClosing(app.server);
  cutSlowBodies(app.server, (socket) => refuseOn(socket, 'request_timeout'), deps.slowBodies);
  // Node would answer an unknown Expect with a 417 without a body; RFC 9110 §10.1.1 lets it be ignored.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.setValidatorCompiler(({ schema, httpPart }) => {
    if (httpPart === 'querystring') return queryValidator(schema as object);
    return httpPart === 'body' ? bodyValidator(schema as TSchema) : () => true;
  });
  for (const schema of SCHEMAS) app.addSchema(schema);
  registerErrorHandler(app);
  requireDeclaredAccess(app, [DOCS_PREFIX, ASSETS_PREFIX]);
  const routes = routeTable(app);
  await app.register(accepts);
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
  });
  registerEtag(app);
  const accounts = authentication({ ...deps, db: deps.database.db, secret: deps.sessionSecret });
  const pages = openPages(deps.webDirectory);
  const { db, revisions } = deps.database;
  const metrics = openMetrics(deps.collectMetrics);
  registerStateMetrics(metrics.registry, { db, clock: deps.clock, log: app.log });
  const keys = knownKeys(db, revisions);
  const answers = keepAnswers(revisions);
  const noteUse = deps.lastUsed.note;
  const lane = fastLane({ ...deps, answers, peekKey: keys.peek, noteUse, metrics, log: app.log });
  registerGate(app, deps, { accounts, routes, pages, keys, lane });
  await registerFeatures(app, deps, { accounts, pages, answer: answering(answers, lane) });
  metrics.register(app, deps.metricsToken);
  const [whole] = app.server.listeners('request') as RequestListener[];
  if (whole) app.server.removeListener('request', whole).on('request', oneRequestAtATime(lane.before(whole)));
  return app;
}

/** What every request passes before its route: key, limits, scope; then whether there is such a route at all. */
function registerGate(
  app: FastifyInstance,
  deps: AppDeps,
  {
    accounts,
    routes,
    pages,
    keys,
    lane,
  }: {
    accounts: Authentication;
    routes: ReturnType<typeof routeTable>;
    pages: Pages | null;
    keys: KnownKeys;
    lane: Pick<FastLane, 'counted'>;
  },
): void {
  const [enter, enterInstead] = [sessionGate(accounts), sessionInstead(accounts)];
  const authenticate = authenticator({
    ...deps,
    findKey: keys.find,
    counted: lane.counted,
    noteUse: deps.lastUsed.note,
  });
  // What a plugin's own route does not find.
  app.setNotFoundHandler((request) => {
    throw routes.reject(request.method, request.url);
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (deps.stopping.aborted) reply.header('connection', 'close');
    refuseLongUrl(request.url);
    refuseBadHeaders(request.raw);
    if (pages && request.is404 && isMistyped(request)) return pages.send(reply.code(404));
    const access = request.routeOptions.config.access;
    if (isAppAccess(access)) return enter(request, reply, access);
    const scope = access === undefined || access === 'public' ? null : access;
    const entered = request.routeOptions.config.orSession && (await enterInstead(request, reply));
    if (!entered && (scope || needsKey(request.url))) await authenticate(request, reply, scope);
    if (request.is404) throw routes.reject(request.method, request.url);
    const { mediaTypes = ['application/json'], ignoresAccept } = request.routeOptions.config;
    if (scope && !ignoresAccept?.(request) && !request.accepts().type([...mediaTypes]))
      throw new ApiError('not_acceptable');
  });
}

async function registerFeatures(
  app: FastifyInstance,
  deps: AppDeps,
  { accounts, pages, answer }: { accounts: Authentication; pages: Pages | null; answer: Answering },
): Promise<void> {
  await registerOpenApi(app);
  const { kv, clock } = deps;
  const { db, read } = deps.database;
  const checks = dependencyChecks(
    () => pingDatabase(db),
    () => kv.ping(),
    async () => (await deps.database.diskProblem()) !== null,
  );
  await app.register(healthRoutes, { clock, version: VERSION, checks, stopping: deps.stopping });
  const failed = (error: Error) => app.log.error({ err: error }, 'export broken off');
  const exports = exporter(deps.database, deps.spool, failed);
  await app.register(indicatorRoutes, { read, exporter: exports, interest: deps.interest, answer });
  await app.register(exportRoutes, { exporter: exports });
  await app.register(mispFeedRoutes, { database: deps.database, exporter: exports });
  await app.register(sigmaRoutes, { database: deps.database, communityRules: deps.communityRules });
  await app.register(actorRoutes, { read });
  await app.register(campaignRoutes, { read });
  await app.register(accountRoutes, accounts);
  await app.register(indicatorPageRoutes, { db, exporter: exports });
  await app.register(actorPageRoutes, { db });
  await app.register(campaignPageRoutes, { db });
  await app.register(importRoutes, {
    ...deps,
    by: accounts.by,
    directory: deps.uploadDirectory,
    maxBytes: deps.uploadBytes,
  });
  await app.register(confidenceRoutes, { db, by: accounts.by });
  await app.register(whitelistRoutes, { db, by: accounts.by });
  await app.register(auditRoutes, { db });
  await app.register(enrichmentRoutes, { db, by: accounts.by });
  await app.register(sourceRoutes, { db, clock: deps.clock, by: accounts.by });
  await app.register(overviewRoutes, { db });
  await app.register(reportRoutes, { db });
  await app.register(searchRoutes, { db });
  await app.register(apiKeyRoutes, { db, kv, rateLimit: deps.rateLimit, by: accounts.by });
  serveOpenApi(app);
  await app.register(pageRoutes, { pages });
}
