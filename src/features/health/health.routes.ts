import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type Static, Type } from 'typebox';
import type { Clock } from '../../clock.ts';
import { ErrorBody, ref, stringEnum } from '../../http/schema.ts';
import type { DeepCheck } from './deep-check.ts';

const Check = Type.Object({
  status: stringEnum(['ok', 'degraded']),
  latencyMs: Type.Number(),
  message: Type.Optional(Type.String()),
});

export const Health = Type.Object(
  {
    status: stringEnum(['ok', 'degraded']),
    service: Type.String(),
    version: Type.String(),
    uptimeSeconds: Type.Integer({ minimum: 0 }),
    timestamp: Type.String({ format: 'date-time' }),
    checks: Type.Optional(Type.Object({ database: Check, keyValueStore: Check })),
  },
  { $id: 'Health', description: 'The state of this process and, when asked, of what it depends on.' },
);

export interface HealthOptions {
  clock: Clock;
  version: string;
  deepCheck: () => Promise<DeepCheck>;
}

export const healthRoutes: FastifyPluginAsyncTypebox<HealthOptions> = async (app, options) => {
  const { clock, version, deepCheck } = options;
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
          deep: Type.Optional(stringEnum(['1'], { description: 'Ask the dependencies too.' })),
        }),
        response: {
          200: Type.Unsafe<Static<typeof Health>>({ ...ref(Health), description: 'The service is well.' }),
          400: Type.Unsafe({ ...ref(ErrorBody), description: 'A query parameter is not valid.' }),
          503: Type.Unsafe({ ...ref(Health), description: 'A dependency check failed.' }),
        },
      },
    },
    async (request, reply) => {
      const checks = request.query.deep ? await deepCheck() : undefined;
      const healthy = Object.values(checks ?? {}).every(({ status }) => status === 'ok');
      reply.code(healthy ? 200 : 503).header('cache-control', 'no-store');
      return {
        status: healthy ? ('ok' as const) : ('degraded' as const),
        service: 'tipline',
        version,
        uptimeSeconds: Math.floor(process.uptime()),
        timestamp: clock().toISOString(),
        ...(checks && { checks }),
      };
    },
  );
};
