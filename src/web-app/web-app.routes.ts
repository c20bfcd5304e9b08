import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DOCS_PREFIX } from '../http/openapi.ts';

export const ASSETS_PREFIX = '/assets/';

/** Where the application has a page; what stands behind a colon is the page's to read. */
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
  '/imports',
  '/imports/:id',
  '/sources',
  '/whitelist',
  '/audit',
  '/settings',
  '/settings/:section',
];

const NONCE = /__NONCE__/g;
const YEAR_SECONDS = 31_536_000;

/** The application as it was built. */
export interface Pages {
  directory: string;
  send(reply: FastifyReply): FastifyReply;
}

/** @returns null where there is none */
export function openPages(directory: string | null): Pages | null {
  if (directory === null || !existsSync(join(directory, 'index.html'))) return null;
  const document = readFileSync(join(directory, 'index.html'), 'utf8');
  return { directory, send: (reply) => sendPage(reply, document) };
}

/** Programs are told in JSON that there is nothing; somebody who has mistyped an address gets a page that says so. */
export function isMistyped({ method, url, headers }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return (
    isRead && !/^\/(api|app|assets|metrics)(\/|\?|$)/.test(url) && /text\/html/.test(headers.accept ?? '')
  );
}

/** One document for all pages, and its files, whose names change with what is in them. */
export async function pageRoutes(app: FastifyInstance, { pages }: { pages: Pages | null }): Promise<void> {
  const hidden = { config: { access: 'public' as const }, schema: { hide: true } };
  if (!pages) {
    // Who opens the bare address in a browser gets something to read.
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
 * Scripts and styles are files of this server; what a component writes as a style element carries the nonce (CSP
 * Level 3, §2.3.1).
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
