import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Db } from '../../db/open.ts';
import { ApiError } from '../../http/errors.ts';
import { idOf, routeOf } from '../../http/operation.ts';
import type { By } from '../audit/audit.queries.ts';
import { findForAnalyst } from '../indicators/indicators.queries.ts';
import { findEntries } from './whitelist.queries.ts';
import * as operations from './whitelist.schema.ts';
import { addEntry, removeEntry, WhitelistError } from './whitelist.service.ts';

interface Deps {
  db: Db;
  by(request: FastifyRequest): By;
}

export async function whitelistRoutes(instance: FastifyInstance, { db, by }: Deps): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(operations.listEntries, 'analyst'),
    handler: async () => ({ data: (await findEntries(db)).map(shown) }),
  });

  app.route({
    ...routeOf(operations.addEntry, 'analyst'),
    handler: async (request) => {
      const { entry, type, reason } = request.body;
      return answer(await addEntry(db, entry, type, { ...by(request), reason }).catch(asConflict));
    },
  });

  app.route({
    ...routeOf(operations.whitelistIndicator, 'analyst'),
    handler: async (request) => {
      const { reason } = request.body;
      const indicator = await findForAnalyst(db, request.viewer, idOf(request));
      if (!indicator) throw new ApiError('not_found');
      const { normalized, type } = indicator;
      return answer(await addEntry(db, normalized, type, { ...by(request), reason }).catch(asConflict));
    },
  });

  app.route({
    ...routeOf(operations.removeEntry, 'analyst'),
    handler: async (request) => {
      const { reason } = request.body;
      const id = idOf(request);
      return answer(await removeEntry(db, id, undefined, { ...by(request), reason }).catch(asConflict));
    },
  });
}

type Entry = Awaited<ReturnType<typeof findEntries>>[number];

const shown = ({ types, ...entry }: Entry) => ({ ...entry, types: [...types] });
const answer = ({ entry, changed }: { entry: Entry; changed: number }) => ({ entry: shown(entry), changed });

function asConflict(error: unknown): never {
  throw error instanceof WhitelistError ? new ApiError('not_possible', `${error.message}.`) : error;
}
