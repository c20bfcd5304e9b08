import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Db } from '../db/database.ts';
import { inSnapshot } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import { exportRequest, pageOf } from '../exports/export-request.ts';
import type { Exporter } from '../exports/exports.service.ts';
import { sendExport } from '../exports/send-export.ts';
import { ApiError } from '../http/errors.ts';
import { idOf, routeOf } from '../http/routes.ts';
import { hasRole } from '../model/account.ts';
import {
  findAdditionalColumns,
  findPendingProviders,
  findSuppressingEntry,
  listInState,
} from './details.queries.ts';
import {
  exportIndicators,
  exportSelected,
  listIndicators,
  MAX_SELECTED,
  readIndicator,
} from './indicators.app.schema.ts';
import { setRefangedHeader, toDetail, toRow } from './indicators.mappers.ts';
import { findContext, findContextForAnalyst, type Sort } from './read/indicators.queries.ts';
import { loadIndicators } from './state/state.queries.ts';

/** In a list in JSON, with its quotes and comma; and some for the rest of the body. */
const BYTES_AN_ID = 64;

interface Deps {
  db: Db;
  exporter: Exporter;
}

/** Routes of the application's indicator pages. Whitelisted and expired indicators are for analysts. */
export async function indicatorPageRoutes(instance: FastifyInstance, { db, exporter }: Deps): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(listIndicators, 'viewer'),
    handler: async (request, reply) => {
      const { page, pageSize, sort, order, state, ...filters } = request.query;
      const isHidden = state === 'whitelisted' || state === 'expired';
      if (isHidden && !hasRole(request.account.role, 'analyst'))
        throw new ApiError(
          'insufficient_role',
          'Whitelisted and expired indicators require the role analyst.',
        );
      setRefangedHeader(reply, filters.q);
      const wanted = { page, pageSize, ...sorting(sort, order) };
      const { total, rows } = await listInState(db, request.principal, filters, wanted, state);
      return { data: rows.map(toRow), page, pageSize, total };
    },
  });

  app.get(
    '/app/indicators/export',
    {
      ...routeOf(exportIndicators, 'viewer'),
      schema: { ...routeOf(exportIndicators, 'viewer').schema, response: {} },
    },
    async (request, reply) => {
      const { page, pageSize, sort, order, format, csvGuard, style, include, state, ...filters } =
        request.query;
      const { page: asked } = pageOf(page, pageSize);
      const selection = {
        principal: request.principal,
        filters: { ...filters, ...(state === 'pinned' && { pinned: true as const }) },
        ...(asked && { page: { ...asked, ...sorting(sort, order) } }),
      };
      const wanted = exportRequest(format, { csvGuard, style, include }, selection, exporter.publicAddress);
      setRefangedHeader(reply, filters.q);
      return sendExport(request, reply, exporter, wanted);
    },
  );

  app.post(
    '/app/indicators/export',
    {
      ...routeOf(exportSelected, 'viewer'),
      bodyLimit: MAX_SELECTED * BYTES_AN_ID,
      schema: { ...routeOf(exportSelected, 'viewer').schema, response: {} },
    },
    async (request, reply) => {
      const { ids, format } = request.body;
      const selection = { principal: request.principal, filters: { ids } };
      return sendExport(
        request,
        reply,
        exporter,
        exportRequest(format, {}, selection, exporter.publicAddress),
      );
    },
  );

  app.route({
    ...routeOf(readIndicator, 'viewer'),
    handler: async (request) => {
      const id = idOf(request);
      const { account, principal } = request;
      const includeSuppressed = hasRole(account.role, 'analyst');
      const parts = await inSnapshot(db, (snapshot) => readParts(snapshot, principal, id, includeSuppressed));
      if (!parts) throw new ApiError('not_found', 'There is no such indicator.');
      return { data: toDetail(parts, principal) };
    },
  });
}

/** Returns the sort of a page. The list's default order, which has an index, is requested without a sort. */
function sorting(by: Sort, order: string) {
  const ascending = order === 'asc';
  return by === 'lastSeen' && !ascending ? {} : { sort: { by, ascending } };
}

async function readParts(db: Db, principal: Principal, id: string, includeSuppressed: boolean) {
  const context = await (includeSuppressed ? findContextForAnalyst : findContext)(db, principal, id);
  const known = context && (await loadIndicators(db, [id])).get(id);
  if (!context || !known) return undefined;
  return {
    context,
    known,
    more: await findAdditionalColumns(db, id),
    hider: await findSuppressingEntry(db, id, principal),
    pendingProviders: await findPendingProviders(db, id),
  };
}
