import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastify from 'fastify';
import { expect, it } from 'vitest';
import { openWebApp, pageRoutes } from '../../src/web-app/web-app.routes.ts';
import { temporaryDirectory } from '../support/directories.ts';

const router = readFileSync(fileURLToPath(new URL('../../web/src/router.tsx', import.meta.url)), 'utf8');

it('the server has the application at every path of its router', async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'assets'));
  for (const name of ['index.html', 'favicon.svg']) writeFileSync(join(directory, name), 'content');
  const app = fastify();
  await app.register(pageRoutes, { pages: openWebApp(directory) });
  const statusOf = async (url: string) => (await app.inject({ url })).statusCode;
  const paths = [...router.matchAll(/^ *path: '(.+)',$/gm)].map(([, path = '']) => path);
  expect(paths).toContain('/reports/$id');
  for (const path of paths) expect(await statusOf(path.replaceAll('$', '')), path).toBe(200);
  // The layout has no path.
  expect(paths).toHaveLength([...router.matchAll(/createRoute\(\{/g)].length - 1);
  expect(await statusOf('/reports')).toBe(404);
  await app.close();
});
