import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { AuditActor } from '../../audit/audit.queries.ts';
import type { Db } from '../../db/database.ts';
import { ApiError } from '../../http/errors.ts';
import { idOf, routeOf } from '../../http/routes.ts';
import type { PinTrigger } from '../../model/confidence.ts';
import { findForAnalyst } from '../read/indicators.queries.ts';
import { pinConfidence, unpinConfidence } from './confidence.schema.ts';
import { changePin, PinConflictError } from './confidence.service.ts';

interface Deps {
  db: Db;
  by(request: FastifyRequest): AuditActor;
}

export async function confidenceRoutes(instance: FastifyInstance, { db, by }: Deps): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(pinConfidence, 'analyst'),
    handler: async (request) => {
      return change(request, { kind: 'pin', confidence: request.body.confidence }, request.body);
    },
  });

  app.route({
    ...routeOf(unpinConfidence, 'analyst'),
    handler: async (request) => change(request, { kind: 'unpin' }, request.body),
  });

  async function change(
    request: FastifyRequest,
    trigger: PinTrigger,
    { reason, expectedPin }: Static<typeof unpinConfidence.body>,
  ) {
    const indicator = await findForAnalyst(db, request.principal, idOf(request));
    if (!indicator) throw new ApiError('not_found');
    const actor = { ...by(request), reason };
    const result = await changePin(db, indicator.id, trigger, actor, expectedPin).catch(asConflict);
    if (!result) throw new ApiError('not_found');
    return result;
  }
}

function asConflict(error: unknown): never {
  throw error instanceof PinConflictError ? new ApiError('conflict', error.message) : error;
}
