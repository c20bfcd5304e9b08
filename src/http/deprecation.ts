import type { FastifyInstance, FastifyRequest } from 'fastify';

/** An operation of the API, or a query parameter of one, that a later version removes (docs/versions.md). */
export interface Deprecation {
  /** The path of the route, with parameters as Fastify writes them. */
  url: string;
  /** The query parameter; absent: the whole operation. */
  parameter?: string;
  /** When the version that announced it was released. */
  since: Date;
  /** The earliest instant at which it is removed. */
  sunset: Date;
  /** The path of the operation to use instead. */
  successor?: string;
}

/** All that is deprecated in this version. */
export const DEPRECATIONS: readonly Deprecation[] = [];

/** Returns the headers about what a request to a route uses; undefined: nothing deprecated. */
export type DeprecationHeaders = (
  route: string,
  request: Pick<FastifyRequest, 'query'>,
) => Record<string, string> | undefined;

/**
 * Returns the headers `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and, where there is a replacement, `Link` with
 * `successor-version` (RFC 5829 §3) for requests that use what is deprecated.
 * @throws {Error} before the server listens, if a deprecation names a route or a parameter that does not exist
 */
export function deprecationHeaders(
  app: FastifyInstance,
  deprecations: readonly Deprecation[],
): DeprecationHeaders {
  const parameters = new Map<string, object>();
  app.addHook('onRoute', ({ url, schema }) => {
    const { properties = {} } = (schema?.querystring ?? {}) as { properties?: object };
    parameters.set(url, properties);
  });
  app.addHook('onReady', async () => {
    for (const { url, parameter } of deprecations) {
      const known = parameters.get(url);
      if (!known) throw new Error(`Deprecated, but no route: ${url}.`);
      if (parameter !== undefined && !(parameter in known))
        throw new Error(`Deprecated, but no parameter of ${url}: ${parameter}.`);
    }
  });
  const urls = new Set(deprecations.map(({ url }) => url));
  return (route, request) => {
    if (!urls.has(route)) return undefined;
    const query = request.query as object;
    const used = deprecations.filter(
      ({ url, parameter }) => url === route && (parameter === undefined || Object.hasOwn(query, parameter)),
    );
    return used.length > 0 ? headersOf(used) : undefined;
  };
}

function headersOf(used: readonly Deprecation[]): Record<string, string> {
  const earliest = (dates: Date[]) => Math.min(...dates.map((date) => date.getTime()));
  const links = used.flatMap(({ successor }) =>
    successor ? [`<${successor}>; rel="successor-version"`] : [],
  );
  return {
    deprecation: `@${Math.floor(earliest(used.map(({ since }) => since)) / 1000)}`,
    sunset: new Date(earliest(used.map(({ sunset }) => sunset))).toUTCString(),
    ...(links.length > 0 && { link: links.join(', ') }),
  };
}

interface DescribedOperation {
  deprecated?: boolean;
  description?: string;
  parameters?: { name: string; in: string; deprecated?: boolean; description?: string }[];
}

/** Marks in an OpenAPI document what is deprecated, and says in descriptions until when it works. */
export function withDeprecations<T extends { paths?: object }>(
  document: T,
  deprecations: readonly Deprecation[],
): T {
  const paths = (document.paths ?? {}) as Record<string, Record<string, DescribedOperation>>;
  for (const deprecation of deprecations) {
    const { url, parameter } = deprecation;
    const path = url.replace(/:([^/]+)/g, '{$1}');
    for (const operation of Object.values(paths[path] ?? {})) {
      const deprecated =
        parameter === undefined
          ? operation
          : operation.parameters?.find((one) => one.in === 'query' && one.name === parameter);
      if (!deprecated) continue;
      deprecated.deprecated = true;
      deprecated.description = [deprecated.description, noticeOf(deprecation)].filter(Boolean).join(' ');
    }
  }
  return document;
}

function noticeOf({ since, sunset, successor }: Deprecation): string {
  const day = (date: Date) => date.toISOString().slice(0, 10);
  const instead = successor ? ` Use ${successor} instead.` : '';
  return `Deprecated since ${day(since)}; works until ${day(sunset)} at least.${instead}`;
}
