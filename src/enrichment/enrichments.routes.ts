import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type AuditActor, writeAudit } from '../audit/audit.queries.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import { ApiError } from '../http/errors.ts';
import { idOf, routeOf } from '../http/routes.ts';
import { findForAnalyst } from '../indicators/read/indicators.queries.ts';
import { enrichIndicator, listProviders } from './enrichments.schema.ts';
import { findProviders } from './providers.queries.ts';
import { pauseEnd, queueCriteria, readyProviders } from './providers.service.ts';
import { addRequests, countRequests, PRIORITY } from './requests.queries.ts';

interface Deps {
  db: Db;
  clock: Clock;
  by(request: FastifyRequest): AuditActor;
}

export async function enrichmentRoutes(instance: FastifyInstance, { db, clock, by }: Deps): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(listProviders, 'viewer'),
    handler: async () => {
      const waiting = await countRequests(db);
      const providers = await findProviders(db);
      const now = clock();
      return {
        data: providers.map((stored) => {
          const { keys, baseUrl, perMinute, perDay, ...provider } = stored;
          const pausedUntil = pauseEnd(stored, now);
          return { ...provider, pausedUntil, waiting: waiting.get(provider.name) ?? 0 };
        }),
      };
    },
  });

  app.route({
    ...routeOf(enrichIndicator, 'analyst'),
    handler: async (request) => {
      const indicator = await findForAnalyst(db, request.principal, idOf(request));
      if (!indicator) throw new ApiError('not_found', 'There is no such indicator.');
      const ready = await readyProviders(db);
      if (ready.length === 0)
        throw new ApiError(
          'conflict',
          'No provider is configured: an operator does that with "tipline providers set".',
        );
      const who = by(request);
      const providers = await db.transaction().execute(async (trx) => {
        const asked: string[] = [];
        for (const provider of ready) {
          const wish = queueCriteria(provider);
          if ((await addRequests(trx, [indicator.id], wish, PRIORITY.person, who.now, true)) > 0)
            asked.push(wish.provider);
        }
        const object = { kind: 'indicator' as const, id: indicator.id };
        const entry = { before: null, after: { providers: asked }, reason: null };
        if (asked.length > 0) await writeAudit(trx, who, { action: 'indicator.enrich', object, ...entry });
        return asked;
      });
      return { providers };
    },
  });
}
