import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type Static, Type } from 'typebox';
import type { Clock } from '../clock.ts';
import { ErrorBody, namedEnum, ref, stringEnum } from '../http/schema.ts';
import type { Checks } from './deep-check.ts';

export const healthStatus = namedEnum(
  'HealthStatus',
  ['ok', 'degraded'],
  'Whether all is well with what was asked.',
);

const check = (description: string) =>
  Type.Object(
    {
      status: healthStatus(),
      latencyMs: Type.Number({ description: 'How long it took to answer, in milliseconds.' }),
      message: Type.Optional(Type.String({ description: 'What is wrong with it, where something is.' })),
    },
    { description },
  );

export const Health = Type.Object(
  {
    status: healthStatus(),
    service: Type.String({ description: 'Always tipline.' }),
    version: Type.String({ description: 'The version of the service.' }),
    uptimeSeconds: Type.Integer({ minimum: 0, description: 'For how long the process has been running.' }),
    timestamp: Type.String({ format: 'date-time', description: 'The time of this answer.' }),
    checks: Type.Optional(
      Type.Object(
        {
          database: check('The relational database.'),
          keyValueStore: check('The key-value store, which counts requests.'),
        },
        { description: 'What was asked with deep=1.' },
      ),
    ),
  },
  {
    $id: 'Health',
    description: 'The state of this process and, when asked, of what it depends on.',
    examples: [
      {
        status: 'ok',
        service: 'tipline',
        version: '0.1.0',
        uptimeSeconds: 3600,
        timestamp: '2026-11-24T12:00:00.000Z',
        checks: {
          database: { status: 'ok', latencyMs: 0.8 },
          keyValueStore: { status: 'ok', latencyMs: 0.1 },
        },
      },
    ],
  },
);

export interface HealthOptions {
  clock: Clock;
  version: string;
  checks: Checks;
  /** Aborted when this process is about to stop. */
  stopping: AbortSignal;
}

export const healthRoutes: FastifyPluginAsyncTypebox<HealthOptions> = async (app, options) => {
  const { clock, version, checks: dependencies, stopping } = options;
  const stateOf = (isWell: boolean) => ({
    status: isWell ? ('ok' as const) : ('degraded' as const),
    service: 'tipline',
    version,
    uptimeSeconds: Math.floor(process.uptime()),
    timestamp: clock().toISOString(),
  });
  app.get(
    '/api/health',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'getHealth',
        tags: ['Health'],
        summary: 'Read the state of the service',
        description: 'With deep=1 the database and the key-value store are asked too.',
        security: [],
        querystring: Type.Object({
          deep: Type.Optional(
            stringEnum(['1'], { description: 'Ask the dependencies too.', examples: ['1'] }),
          ),
        }),
        response: {
          200: Type.Unsafe<Static<typeof Health>>({ ...ref(Health), description: 'The service is well.' }),
          400: Type.Unsafe({ ...ref(ErrorBody), description: 'A query parameter is not valid.' }),
          503: Type.Unsafe({ ...ref(Health), description: 'A dependency check failed.' }),
        },
      },
    },
    async (request, reply) => {
      const checks = request.query.deep ? await dependencies.deep() : undefined;
      const healthy = Object.values(checks ?? {}).every(({ status }) => status === 'ok');
      reply.code(healthy ? 200 : 503).header('cache-control', 'no-store');
      return { ...stateOf(healthy), ...(checks && { checks }) };
    },
  );
  app.get(
    '/api/health/ready',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'getReadiness',
        tags: ['Health'],
        summary: 'Read whether this node can answer',
        description:
          'For load balancers: 200 while the database answers and the node is not about to stop. The key-value store does not count: requests go on without it.',
        security: [],
        querystring: Type.Object({}),
        response: {
          200: Type.Unsafe<Static<typeof Health>>({ ...ref(Health), description: 'The node can answer.' }),
          400: Type.Unsafe({ ...ref(ErrorBody), description: 'A query parameter is not valid.' }),
          503: Type.Unsafe({ ...ref(Health), description: 'The node cannot answer, or is about to stop.' }),
        },
      },
    },
    async (_request, reply) => {
      const isReady = !stopping.aborted && (await dependencies.database()).status === 'ok';
      reply.code(isReady ? 200 : 503).header('cache-control', 'no-store');
      return stateOf(isReady);
    },
  );
};
