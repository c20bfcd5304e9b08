import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { stringify } from 'yaml';
import { CODE } from '../root.ts';
import { isAppAccess, type RouteAccess } from './admit.ts';
import { serveConstant } from './conditional.ts';
import { type Deprecation, withDeprecations } from './deprecation.ts';

export const DOCS_PREFIX = '/api/docs';
/** The files of the reference's page, which the build copies; a test of the sources uses those of the package. */
const DOCS_FILES = new URL('swagger-ui/', CODE);
/** The version of the API contract; the product has its own. */
const DESCRIPTION_VERSION = '0.1.0';

/** Allows files of this server only, and the data: URLs of images in style sheets. */
const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/** Registers the OpenAPI description of all routes that are registered later. */
export async function registerOpenApi(
  app: FastifyInstance,
  deprecations: readonly Deprecation[],
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tipline',
        version: DESCRIPTION_VERSION,
        description:
          'Read-only threat intelligence: indicators, threat actors and campaigns. Whitelisted and expired ' +
          'indicators, and whatever is above the TLP ceiling of the key, are never returned.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'This deployment.' }],
      tags: [
        { name: 'Indicators', description: 'Observables: addresses, domains, hashes and the like.' },
        { name: 'Actors', description: 'Threat actors.' },
        { name: 'Campaigns', description: 'Campaigns.' },
        { name: 'Feeds', description: 'Saved feeds: exports with a name, for keys that are bound to them.' },
        { name: 'MISP feed', description: 'The indicators as a feed that MISP pulls.' },
        { name: 'TAXII', description: 'TAXII 2.1, read-only: the indicators as STIX 2.1.' },
        { name: 'Sigma', description: 'Detection rules for an actor or a campaign.' },
        { name: 'Health', description: 'The state of the service.' },
      ],
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key: `Authorization: Bearer tip_…`.',
          },
          basicKey: {
            type: 'http',
            scheme: 'basic',
            description:
              'The API key as the password, or as the name, for what cannot send Bearer. Exports, the MISP feed and TAXII take it.',
          },
        },
      },
      security: [{ apiKey: [] }],
    },
    transform: ({ schema, url, route }) => ({
      schema: withScopes(withOptionalDefaults(schema), route.config?.access),
      url,
    }),
    transformObject: (document) =>
      withDeprecations(
        withNamedEnums(
          withQueryAsExtension(withExplodedLists('openapiObject' in document ? document.openapiObject : {})),
        ),
        deprecations,
      ),
    refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `def-${i}`) },
  });
  await app.register(swaggerUi, {
    routePrefix: DOCS_PREFIX,
    baseDir: existsSync(DOCS_FILES) ? fileURLToPath(DOCS_FILES) : undefined,
    // The layout shows no logo. Without this option the plugin reads one from a file of its package.
    logo: { type: 'image/svg+xml', content: '' },
    staticCSP: DOCS_POLICY,
    uiConfig: { deepLinking: true, validatorUrl: null, layout: 'BaseLayout' },
    theme: { title: 'Tipline API', favicon: [] },
  });
}

/** Registers routes for the description, which is written once: at the first request, after all routes exist. */
export function serveOpenApi(app: FastifyInstance): void {
  serveConstant(app, '/api/openapi.json', 'application/json; charset=utf-8', () => openApiJson(app));
  serveConstant(app, '/api/openapi.yaml', 'application/yaml; charset=utf-8', () => openApiYaml(app));
}

export function openApiJson(app: FastifyInstance): string {
  return `${JSON.stringify(app.swagger(), null, 2)}\n`;
}

export function openApiYaml(app: FastifyInstance): string {
  // Many parsers implement YAML 1.1, which reads an unquoted `on` as true.
  return stringify(app.swagger(), { aliasDuplicateObjects: false, lineWidth: 110, version: '1.1' });
}

/** Makes generated clients repeat the name of a list parameter; the server accepts commas too. */
function withExplodedLists<T extends { paths?: object }>(document: T): T {
  for (const { get, query } of Object.values(document.paths ?? {})) {
    for (const parameter of (get ?? query)?.parameters ?? []) {
      if (parameter.schema?.type === 'array') Object.assign(parameter, { style: 'form', explode: true });
    }
  }
  return document;
}

/** Moves the operations of the method QUERY, which OpenAPI 3.1 has no member for, to the extension `x-query`. */
function withQueryAsExtension<T extends { paths?: object }>(document: T): T {
  for (const item of Object.values(document.paths ?? {})) {
    if (!item.query) continue;
    item['x-query'] = item.query;
    delete item.query;
  }
  return document;
}

/** Replaces each inline vocabulary by a reference, if its title is the name of a component. */
function withNamedEnums<T extends { paths?: object; components?: { schemas?: object } }>(document: T): T {
  const components = new Set(Object.keys(document.components?.schemas ?? {}));
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== 'object' || node === null) return node;
    const { title, enum: values, type, ...rest } = node as Record<string, unknown>;
    if (typeof title !== 'string' || !values || !components.has(title))
      return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, visit(value)]));
    const reference = { $ref: `#/components/schemas/${title}` };
    return [type].flat().includes('null')
      ? { anyOf: [reference, { type: 'null' }], ...rest }
      : { ...reference, ...rest };
  };
  return visit(document) as T;
}

/**
 * Adds the scope of a route to its security requirement, which for other schemes than OAuth 2.0 lists roles
 * (OpenAPI 3.1, Security Requirement Object). One of several scopes is enough: each is an alternative.
 */
function withScopes<T extends { security?: Requirements }>(schema: T, access: RouteAccess | undefined): T {
  if (!schema || access === undefined || access === 'public' || isAppAccess(access)) return schema;
  const schemes = (schema.security ?? [{ apiKey: [] }]).flatMap((requirement) => Object.keys(requirement));
  const security = [access].flat().flatMap((scope) => schemes.map((scheme) => ({ [scheme]: [scope] })));
  return { ...schema, security };
}

type Requirements = readonly Record<string, readonly string[]>[];

interface QuerySchema {
  properties: Record<string, { default?: unknown }>;
  required?: string[];
}

/** Makes parameters with a default optional: the handler always gets them, but clients may omit them. */
function withOptionalDefaults<T extends { querystring?: unknown }>(schema: T): T {
  const query = schema?.querystring as QuerySchema | undefined;
  if (!query?.required) return schema;
  const required = query.required.filter((name) => query.properties[name]?.default === undefined);
  return { ...schema, querystring: { ...query, required } };
}
