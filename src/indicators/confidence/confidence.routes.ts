import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuditActor } from '../../audit/audit.queries.ts';
import type { Db } from '../../db/database.ts';
import { ApiError } from '../../http/errors.ts';
import { idOf, routeOf } from '../../http/routes.ts';
import type { PinTrigger } from '../../model/confidence.ts';
import { findForAnalyst } from '../read/indicators.queries.ts';
import { pinConfidence, unpinConfidence } from './confidence.schema.ts';
import { changePin } from './confidence.service.ts';

interface Deps {
  db: Db;
  by(request: FastifyRequest): AuditActor;
}

export async function confidenceRoutes(instance: FastifyInstance, { db, by }: Deps): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(pinConfidence, 'analyst'),
    handler: async (request) => {
      const { confidence, reason } = request.body;
      return change(request, { kind: 'pin', confidence }, reason);
    },
  });

  app.route({
    ...routeOf(unpinConfidence, 'analyst'),
    handler: async (request) => change(request, { kind: 'unpin' }, request.body.reason),
  });

  async function change(request: FastifyRequest, trigger: PinTrigger, reason: string) {
    const indicator = await findForAnalyst(db, request.principal, idOf(request));
    const result = indicator && (await changePin(db, indicator.id, trigger, { ...by(request), reason }));
    if (!result) throw new ApiError('not_found');
    return result;
  }
}
