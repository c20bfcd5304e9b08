import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DOCS_PREFIX } from '../http/openapi.ts';

export const ASSETS_PREFIX = '/assets/';

/** Paths of the application's pages; only the page reads the parameters. */
const PAGES = [
  '/',
  '/first-start',
  '/sign-in',
  '/new-password',
  '/indicators',
  '/indicators/:id',
  '/actors',
  '/actors/:id',
  '/campaigns',
  '/campaigns/:id',
  '/reports/:id',
  '/imports',
  '/imports/:id',
  '/sources',
  '/lookup',
  '/whitelist',
  '/audit',
  '/settings',
  '/settings/:section',
];

const NONCE = /__NONCE__/g;
const YEAR_SECONDS = 31_536_000;

/** The built web application. */
export interface WebApp {
  directory: string;
  send(reply: FastifyReply): FastifyReply;
}

/** Returns the web application in the directory; null: there is none. */
export function openWebApp(directory: string | null): WebApp | null {
  if (directory === null || !existsSync(join(directory, 'index.html'))) return null;
  const document = readFileSync(join(directory, 'index.html'), 'utf8');
  return { directory, send: (reply) => sendPage(reply, document) };
}

/**
 * Returns whether a request for an unknown path gets the application's page, because it seems to come from a
 * browser's address bar. All other clients get the error in JSON.
 */
export function isUnknownPage({ method, url, headers }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return (
    isRead && !/^\/(api|app|assets|metrics)(\/|\?|$)/.test(url) && /text\/html/.test(headers.accept ?? '')
  );
}

/** Serves one document for all pages, and its assets, whose names change with their content. */
export async function pageRoutes(app: FastifyInstance, { pages }: { pages: WebApp | null }): Promise<void> {
  const hidden = { config: { access: 'public' as const }, schema: { hide: true } };
  if (!pages) {
    // Without an application, a browser that opens the root gets the documentation of the API.
    app.get('/', hidden, (_request, reply) => reply.redirect(DOCS_PREFIX));
    return;
  }
  const { directory } = pages;
  const icon = readFileSync(join(directory, 'favicon.svg'));
  for (const url of PAGES) app.get(url, hidden, (_request, reply) => pages.send(reply));
  app.get('/favicon.svg', hidden, (_request, reply) =>
    reply.type('image/svg+xml').header('cache-control', 'max-age=86400').send(icon),
  );
  await app.register(fastifyStatic, {
    root: join(directory, 'assets'),
    prefix: ASSETS_PREFIX,
    index: false,
    preCompressed: true,
    immutable: true,
    maxAge: YEAR_SECONDS * 1000,
    schemaHide: true,
  });
}

/**
 * Sends the document with its Content-Security-Policy: scripts and styles are files of this server, and style
 * elements that a component inserts carry the nonce (CSP Level 3, §2.3.1).
 */
function sendPage(reply: FastifyReply, document: string): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return reply
    .headers({ 'content-security-policy': policy.join(';'), 'cache-control': 'no-store' })
    .type('text/html; charset=utf-8')
    .send(document.replace(NONCE, nonce));
}
