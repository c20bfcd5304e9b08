import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { exportRequest, pageOf } from '../exports/export-request.ts';
import { exportResponses } from '../exports/exports.schema.ts';
import type { Exporter } from '../exports/exports.service.ts';
import { sendExport } from '../exports/send-export.ts';
import { FORMAT_NAMES } from '../formats/catalogue.ts';
import { KEY_OR_BASIC } from '../http/api-route.ts';
import { ApiError } from '../http/errors.ts';
import { ExportParameters, ExportQuery } from './indicators.schema.ts';
import { setRefangedHeader } from './refanged-header.ts';

/** Routes of the exports under a path of their own. */
export const exportRoutes: FastifyPluginAsyncTypebox<{ exporter: Exporter }> = async (app, { exporter }) => {
  app.get(
    '/api/v1/exports/:format',
    {
      config: { access: 'indicators:read', ignoresAccept: () => true, allowBasicAuth: () => true },
      schema: {
        operationId: 'exportIndicators',
        tags: ['Indicators'],
        summary: 'Export indicators',
        security: KEY_OR_BASIC,
        description:
          'Every indicator that matches, or, where page or pageSize is given, that page of the list. The format decides ' +
          'the media type, whatever Accept says. An Accept-Encoding of zstd or gzip is served, and so is a Range of a ' +
          'finished export. With HTTP Basic the key is the password.',
        params: ExportParameters,
        querystring: ExportQuery,
        response: exportResponses(),
      },
    },
    async (request, reply) => {
      const { page, pageSize, csvGuard, style, limit, order, collapse, include, ...filters } = request.query;
      const format = FORMAT_NAMES.find((name) => name === request.params.format);
      if (!format)
        throw new ApiError('not_found', `There is no such format. Formats are ${FORMAT_NAMES.join(', ')}.`);
      const selection = { principal: request.principal, filters, ...pageOf(page, pageSize) };
      const wanted = exportRequest(format, { csvGuard, style, limit, order, collapse, include }, selection);
      setRefangedHeader(reply, filters.q);
      return sendExport(request, reply, exporter, wanted);
    },
  );
};
