import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuditActor } from '../audit/audit.queries.ts';
import type { Db } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import { ApiError } from '../http/errors.ts';
import { idOf, routeOf } from '../http/routes.ts';
import { findForAnalyst } from '../indicators/read/indicators.queries.ts';
import { compareTlp } from '../model/statement.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import { suffixKind } from './matching/names.ts';
import { countVisible, findEntries, findHitsOf } from './whitelist.queries.ts';
import * as operations from './whitelist.schema.ts';
import { addEntry, removeEntry, WhitelistError } from './whitelist.service.ts';

interface Deps {
  db: Db;
  by(request: FastifyRequest): AuditActor;
}

export async function whitelistRoutes(instance: FastifyInstance, { db, by }: Deps): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(operations.listEntries, 'analyst'),
    handler: async ({ principal }) => ({ data: (await entriesFor(principal)).map(shown) }),
  });

  app.route({
    ...routeOf(operations.addEntry, 'analyst'),
    handler: async (request) => {
      const { entry, type, reason } = request.body;
      return add(request, entry, type, reason);
    },
  });

  app.route({
    ...routeOf(operations.whitelistIndicator, 'analyst'),
    handler: async (request) => {
      const indicator = await findForAnalyst(db, request.principal, idOf(request));
      if (!indicator) throw new ApiError('not_found');
      const { type, normalized } = indicator;
      // A suffix of a registry, which `co.uk` in a list is by mistake, is hidden without the names below it.
      const isSuffix = type === 'DOMAIN' && suffixKind(normalized) === 'registry';
      return isSuffix
        ? add(request, `=${normalized}`, undefined, request.body.reason)
        : add(request, normalized, type, request.body.reason);
    },
  });

  app.route({
    ...routeOf(operations.removeEntry, 'analyst'),
    handler: async (request) => {
      const { principal } = request;
      const id = idOf(request);
      const known = (await entriesFor(principal)).some((entry) => entry.id === id);
      if (!known) throw new ApiError('not_found', 'There is no such entry.');
      const hidden = await findHitsOf(db, id, principal);
      const change = { ...by(request), reason: request.body.reason };
      const { entry } = await removeEntry(db, id, undefined, change).catch(asConflict);
      return answer(entry, await countVisible(db, hidden, principal));
    },
  });

  async function add(request: FastifyRequest, text: string, type: IndicatorType | undefined, reason: string) {
    const { principal } = request;
    const change = { ...by(request), reason };
    const { entry } = await addEntry(db, text, type, change, principal.tlpCeiling).catch(asConflict);
    return answer(entry, (await findHitsOf(db, entry.id, principal)).length);
  }

  async function entriesFor({ tlpCeiling }: Principal): Promise<Entry[]> {
    return (await findEntries(db)).filter(({ tlp }) => compareTlp(tlp, tlpCeiling) <= 0);
  }
}

type Entry = Awaited<ReturnType<typeof findEntries>>[number];

const shown = ({ types, ...entry }: Entry) => ({ ...entry, types: [...types] });
const answer = (entry: Entry, changed: number) => ({ entry: shown(entry), changed });

function asConflict(error: unknown): never {
  throw error instanceof WhitelistError ? new ApiError('conflict', `${error.message}.`) : error;
}
