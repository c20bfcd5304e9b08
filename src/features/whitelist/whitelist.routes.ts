import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Db } from '../../db/open.ts';
import type { Viewer } from '../../db/visibility.ts';
import { ApiError } from '../../http/errors.ts';
import { idOf, routeOf } from '../../http/operation.ts';
import { indicatorId } from '../../model/identity.ts';
import type { By } from '../audit/audit.queries.ts';
import { findForAnalyst } from '../indicators/indicators.queries.ts';
import { countHitsOf, findAbove, findEntries } from './whitelist.queries.ts';
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
    handler: async ({ viewer }) => ({ data: (await entriesFor(viewer)).map(shown) }),
  });

  app.route({
    ...routeOf(operations.addEntry, 'analyst'),
    handler: async (request) => {
      const { entry, type, reason } = request.body;
      const added = await addEntry(db, entry, type, { ...by(request), reason }).catch(asConflict);
      return answer(added.entry, await countHitsOf(db, added.entry.id, request.viewer));
    },
  });

  app.route({
    ...routeOf(operations.whitelistIndicator, 'analyst'),
    handler: async (request) => {
      const { reason } = request.body;
      const indicator = await findForAnalyst(db, request.viewer, idOf(request));
      if (!indicator) throw new ApiError('not_found');
      const { normalized, type } = indicator;
      const added = await addEntry(db, normalized, type, { ...by(request), reason }).catch(asConflict);
      return answer(added.entry, await countHitsOf(db, added.entry.id, request.viewer));
    },
  });

  app.route({
    ...routeOf(operations.removeEntry, 'analyst'),
    handler: async (request) => {
      const { reason } = request.body;
      const id = idOf(request);
      const known = (await entriesFor(request.viewer)).some((entry) => entry.id === id);
      if (!known) throw new ApiError('not_found', 'There is no such entry.');
      const changed = await countHitsOf(db, id, request.viewer);
      const { entry } = await removeEntry(db, id, undefined, { ...by(request), reason }).catch(asConflict);
      return answer(entry, changed);
    },
  });

  /** Without those that are the value of an indicator above the ceiling: they would tell of it. */
  async function entriesFor(viewer: Viewer): Promise<Entry[]> {
    const entries = await findEntries(db);
    const idsOf = ({ types, entry }: Entry) => types.map((type) => indicatorId(type, entry));
    const above = await findAbove(db, entries.flatMap(idsOf), viewer);
    return entries.filter((entry) => !idsOf(entry).some((id) => above.has(id)));
  }
}

type Entry = Awaited<ReturnType<typeof findEntries>>[number];

const shown = ({ types, ...entry }: Entry) => ({ ...entry, types: [...types] });
const answer = (entry: Entry, changed: number) => ({ entry: shown(entry), changed });

function asConflict(error: unknown): never {
  throw error instanceof WhitelistError ? new ApiError('not_possible', `${error.message}.`) : error;
}
