import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { CHANGE_CURSOR, type ChangeFeed } from '../changes/change-feed.ts';
import type { Read } from '../db/database.ts';
import type { Parent } from '../db/expressions.ts';
import type { Principal } from '../db/visibility.ts';
import type { AccessTracker } from '../enrichment/access-tracker.ts';
import { exportRequest, pageOf, splitOptions } from '../exports/export-request.ts';
import { CHANGE_CURSOR_HEADER, exportResponses, REFANGED_HEADER } from '../exports/exports.schema.ts';
import type { Exporter } from '../exports/exports.service.ts';
import { sendExport } from '../exports/send-export.ts';
import { FORMAT_NAMES, optionsFor } from '../formats/catalogue.ts';
import type { ResponseCache } from '../http/cache/response-cache.ts';
import { type CachedUrls, type ReadOne, sendById, sendCached } from '../http/cache/send-cached.ts';
import { ApiError } from '../http/errors.ts';
import { apiResponses, idParameter, KEY_OR_BASIC, NO_CACHE } from '../http/routes.ts';
import { INDICATOR_OF_SAMPLE, SAMPLE_ACTOR_ID, SAMPLE_CAMPAIGN_ID } from '../http/schema.ts';
import { parseQuerystring } from '../http/validation.ts';
import { isUuid } from '../model/uuid.ts';
import { setRefangedHeader, toContext, toIndicator } from './indicators.mappers.ts';
import {
  ExportParameters,
  ExportQuery,
  IndicatorContext,
  IndicatorItem,
  IndicatorList,
  IndicatorQuery,
  linkedIndicatorQuery,
} from './indicators.schema.ts';
import {
  filterNameOf,
  filterOf,
  findContext,
  findIndicator,
  type IndicatorFilters,
  type SortedPage,
} from './read/indicators.queries.ts';
import { listIndicators, listLinkedIndicators } from './read/list.queries.ts';

const NOT_FOUND = 'There is no such indicator.';

/** The resources that have a list of their indicators. */
const PARENTS = [
  { kind: 'actor', noun: 'an actor', tag: 'Actor', example: SAMPLE_ACTOR_ID },
  { kind: 'campaign', noun: 'a campaign', tag: 'Campaign', example: SAMPLE_CAMPAIGN_ID },
] as const;

interface Options {
  read: Read;
  exporter: Exporter;
  feed: Pick<ChangeFeed, 'cursorAfter'>;
  interest: Pick<AccessTracker, 'record'>;
  cache: { responses: ResponseCache; urls: CachedUrls };
}

export const indicatorRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { read, exporter, feed, interest, cache },
) => {
  const readDetail: ReadOne = async (principal, id) => {
    const row = await read((db) => findIndicator(db, principal, id));
    return row && { data: toIndicator(row) };
  };
  const readContext: ReadOne<ContextWithRaw> = async (principal, id) => {
    const row = await read((db) => findContext(db, principal, id));
    if (!row) return undefined;
    interest.record(row.id, principal.now);
    const raw: string[] = [];
    const context = toContext(row, principal.now, (text) => ({ [PLACE]: raw.push(text) - 1 }));
    return { context, raw };
  };

  /** Sends a page of the indicators, or of those that are linked to `parent`. @throws {ApiError} 404: the parent is not visible */
  const sendList = (
    request: FastifyRequest,
    reply: FastifyReply,
    filters: IndicatorFilters,
    asked: SortedPage,
    parent?: Parent,
  ): Promise<FastifyReply> => {
    const { page, pageSize } = asked;
    setRefangedHeader(reply, filters.q);
    const { principal } = request;
    /** Of a page, the changes could not be applied: rows of other pages come and go as well. */
    const headersOf = async (total: number, revision: number): Promise<Record<string, string>> => {
      const isWhole = page === 1 && total <= pageSize;
      const selection = { filters: parent ? { ...filters, ...filterOf(parent) } : filters };
      const cursor = isWhole ? await feed.cursorAfter(principal, selection, revision) : null;
      return cursor === null ? {} : { [CHANGE_CURSOR]: cursor };
    };
    return sendCached(request, reply, cache, cacheKeyOf(principal, filters, asked, parent), async () => {
      const found = await read(async (db, mayLag) => {
        const list = parent
          ? await listLinkedIndicators(db, principal, parent, filters, asked)
          : await listIndicators(db, principal, filters, asked);
        return list && { mayLag, ...list };
      });
      if (!found) throw new ApiError('not_found', `There is no such ${parent?.kind}.`);
      const { total, rows, ...of } = found;
      // The list has no properties beyond its schema, so it needs no route serializer, which takes twice as long.
      const list: Static<typeof IndicatorList> = { data: rows.map(toIndicator), page, pageSize, total };
      return { payload: JSON.stringify(list), ...of, headers: await headersOf(total, of.revision) };
    });
  };

  app.get(
    '/api/v1/indicators',
    {
      config: {
        access: 'indicators:read',
        ignoresAccept: isExport,
        allowBasicAuth: isExport,
      },
      schema: {
        operationId: 'listIndicators',
        tags: ['Indicators'],
        summary: 'List indicators',
        description:
          'Newest sighting first. All filters combine with AND. Whitelisted and expired indicators are never returned. With ' +
          'a format other than json this is GET /api/v1/exports/{format}: the same answer, HTTP Basic included.',
        querystring: IndicatorQuery,
        response: apiResponses(IndicatorList, 'A page of indicators.', [400], {
          ...REFANGED_HEADER,
          ...CHANGE_CURSOR_HEADER,
        }),
      },
    },
    async (request, reply) => {
      const [given, { page, pageSize, sort, format, ...filters }] = splitOptions(request.query);
      if (format !== 'json') {
        if (sort !== 'lastSeen')
          throw new ApiError('invalid_parameter', 'sort applies to json only; exports have limit and order.');
        const selection = {
          principal: request.principal,
          filters,
          ...(requestsPage(request.url) && pageOf(page, pageSize)),
        };
        const wanted = exportRequest(format, given, selection, exporter.publicAddress);
        setRefangedHeader(reply, filters.q);
        return sendExport(request, reply, exporter, wanted, feed);
      }
      const options = optionsFor(format, given, undefined, exporter.publicAddress);
      if ('error' in options) throw new ApiError('invalid_parameter', options.error);
      return sendList(request, reply, filters, { page, pageSize, ...sortOf(sort) });
    },
  );

  for (const { kind, noun, tag, example } of PARENTS) {
    app.get(
      `/api/v1/${kind}s/:id/indicators`,
      {
        config: { access: 'indicators:read' },
        schema: {
          operationId: `list${tag}Indicators`,
          tags: [`${tag}s`],
          summary: `List the indicators of ${noun}`,
          description:
            'The same pages as the list of indicators has with the filter, but 404 when the ' +
            `${kind} does not exist or is above the ceiling of the key.`,
          params: idParameter(example),
          querystring: linkedIndicatorQuery(filterNameOf(kind)),
          response: apiResponses(IndicatorList, 'A page of the indicators.', [400, 404], {
            ...REFANGED_HEADER,
            ...CHANGE_CURSOR_HEADER,
          }),
        },
      },
      async (request, reply) => {
        const { page, pageSize, sort, ...filters } = request.query;
        const id = request.params.id.toLowerCase();
        if (!isUuid(id)) throw new ApiError('not_found', `There is no such ${kind}.`);
        return sendList(request, reply, filters, { page, pageSize, ...sortOf(sort) }, { kind, id });
      },
    );
  }

  app.get(
    '/api/v1/indicators/:id',
    {
      config: { access: 'indicators:read' },
      schema: {
        operationId: 'getIndicator',
        tags: ['Indicators'],
        summary: 'Read one indicator',
        description: '404 when there is none, or it is whitelisted, expired or above the ceiling of the key.',
        params: idParameter(INDICATOR_OF_SAMPLE),
        querystring: Type.Object({}),
        response: apiResponses(IndicatorItem, 'The indicator.', [400, 404]),
      },
    },
    (request, reply) =>
      sendById(request, reply, { read: readDetail, cacheControl: NO_CACHE, notFound: NOT_FOUND }),
  );

  app.get(
    '/api/v1/indicators/:id/context',
    {
      config: { access: 'indicators:read' },
      schema: {
        operationId: 'getIndicatorContext',
        tags: ['Indicators'],
        summary: 'Read all that is known about one indicator',
        description:
          'For playbooks: enrichments with the providers’ raw answers, actors, campaigns, reports, verdict.',
        params: idParameter(INDICATOR_OF_SAMPLE),
        querystring: Type.Object({}),
        response: apiResponses(IndicatorContext, 'All that is known about the indicator.', [400, 404], {
          'Cache-Control': {
            type: 'string',
            description: 'A copy may be used for 60 seconds.',
            const: CONTEXT_CACHE,
          },
        }),
      },
    },
    (request, reply) =>
      sendById(request, reply, {
        read: readContext,
        cacheControl: CONTEXT_CACHE,
        notFound: NOT_FOUND,
        serialize: contextText,
      }),
  );
};

/** The default order has no sort: an index has it. */
const sortOf = (sort: 'lastSeen' | 'epss') =>
  sort === 'epss' ? { sort: { by: sort, ascending: false } } : {};

/** Returns whether the request is for an export, whose media type `format` decides. The list itself is JSON. */
function isExport({ query }: FastifyRequest): boolean {
  return ((query as { format?: unknown }).format ?? 'json') !== 'json';
}

/** A context without the raw responses of providers, each of which stands at its place in `raw`. */
interface ContextWithRaw {
  context: IndicatorContext;
  raw: readonly string[];
}
/** The only member of the object at the place of a raw response; no other object of a context has it. */
const PLACE = '$raw';
const PLACES = /\{"\$raw":(\d+)\}/g;

/** Writes a context with the raw responses as stored: JavaScript would round large integers, such as serial numbers of certificates. */
function contextText({ context, raw }: ContextWithRaw, reply: FastifyReply): string {
  const text = String(reply.serializeInput(context, '200'));
  return text.replace(PLACES, (_, place) => raw[Number(place)] ?? 'null');
}

/** The Cache-Control of contexts (contract, `GET /api/v1/indicators/{id}/context`). */
const CONTEXT_CACHE = 'private, max-age=60';

/** Returns the cache key of a request, which does not depend on the order of the parameters. */
function cacheKeyOf(
  { tlpCeiling }: Principal,
  filters: IndicatorFilters,
  { page, pageSize, sort }: SortedPage,
  parent?: Parent,
): string {
  const asked = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1));
  const list = parent ? [parent.kind, parent.id] : ['indicators'];
  return JSON.stringify([...list, tlpCeiling, page, pageSize, sort?.by ?? null, ...asked]);
}

/** Returns whether the URL requests a page. The default page is for the list: an export is otherwise complete. */
function requestsPage(url: string): boolean {
  const start = url.indexOf('?');
  const given = start < 0 ? {} : parseQuerystring(url.slice(start + 1));
  return 'page' in given || 'pageSize' in given;
}

/** Routes of the exports under a path of their own. */
export const exportRoutes: FastifyPluginAsyncTypebox<Pick<Options, 'exporter' | 'feed'>> = async (
  app,
  { exporter, feed },
) => {
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
      const [given, { page, pageSize, ...filters }] = splitOptions(request.query);
      const format = FORMAT_NAMES.find((name) => name === request.params.format);
      if (!format)
        throw new ApiError('not_found', `There is no such format. Formats are ${FORMAT_NAMES.join(', ')}.`);
      const selection = { principal: request.principal, filters, ...pageOf(page, pageSize) };
      const wanted = exportRequest(format, given, selection, exporter.publicAddress);
      setRefangedHeader(reply, filters.q);
      return sendExport(request, reply, exporter, wanted, feed);
    },
  );
};
