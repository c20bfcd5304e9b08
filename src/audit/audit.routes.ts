import { Readable } from 'node:stream';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Db } from '../db/database.ts';
import { csvLine } from '../formats/csv.ts';
import { ApiError } from '../http/errors.ts';
import { idOf, routeOf } from '../http/routes.ts';
import { findForAnalyst } from '../indicators/read/indicators.queries.ts';
import { type AuditFilters, type AuditRow, countAudit, findAudit, findHistory } from './audit.queries.ts';
import { exportAudit, listAudit, listHistory } from './audit.schema.ts';

const BATCH = 1_000;

export async function auditRoutes(instance: FastifyInstance, { db }: { db: Db }): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(listAudit, 'administrator'),
    handler: async (request) => {
      const { page, pageSize, ...filters } = request.query;
      const [data, total] = [
        await findAudit(db, filters, { limit: pageSize, offset: (page - 1) * pageSize }),
        await countAudit(db, filters),
      ];
      return { data, page, pageSize, total };
    },
  });

  app.get(
    '/app/audit.csv',
    {
      ...routeOf(exportAudit, 'administrator'),
      schema: { ...routeOf(exportAudit, 'administrator').schema, response: {} },
    },
    async (request, reply) =>
      reply
        .type('text/csv; charset=utf-8; header=present')
        .header('content-disposition', 'attachment; filename="audit.csv"')
        .send(Readable.from(csvOf(db, request.query))),
  );

  app.route({
    ...routeOf(listHistory, 'analyst'),
    handler: async (request) => {
      const indicator = await findForAnalyst(db, request.principal, idOf(request));
      if (!indicator) throw new ApiError('not_found');
      return { data: await findHistory(db, indicator, request.principal, BATCH) };
    },
  });
}

const COLUMNS = [
  'at',
  'who',
  'address',
  'action',
  'objectKind',
  'objectId',
  'before',
  'after',
  'reason',
] as const;

/** Yields the CSV lines. Pages are read by id, so that concurrent writes neither repeat nor skip a line. */
async function* csvOf(db: Db, filters: AuditFilters): AsyncGenerator<string> {
  yield csvLine([...COLUMNS], true);
  let before: number | undefined;
  for (;;) {
    const rows: AuditRow[] = await findAudit(db, filters, { limit: BATCH, before });
    for (const row of rows)
      yield csvLine(
        COLUMNS.map((column) => cell(row[column])),
        true,
      );
    before = rows.at(-1)?.id;
    if (before === undefined) return;
  }
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' ? value : JSON.stringify(value);
}
