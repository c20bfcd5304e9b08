// Uses the built site of the documentation as readers do: served from a path below a server's root, in a browser, without
// other hosts. Searches for words, holds pages against axe's rules for WCAG 2 A and AA, and leaves screenshots in artefacts/docs/.
//   node test/docs-site/run.mjs [DIRECTORY]    the site; default: dist.docs/site
import { createReadStream, existsSync, mkdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../../', import.meta.url));
const site = resolve(process.argv[2] ?? join(root, 'dist.docs/site'));
const pictures = join(root, 'artefacts/docs');
const PREFIX = '/manuals/tipline/';
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
/** What a reader may look for, and a page that must be found. */
const SEARCHES = [
  ['suricata datasets', 'formats.html'],
  ['TIPLINE_SPOOL_MB', 'reference/configuration.html'],
  ['rate_limit_exceeded', 'reference/errors.html'],
  ['getIndicatorContext', 'reference/api/indicators.html'],
  ['paloalto-ip', 'feeds.html'],
  ['pg_trgm', 'reference/configuration.html'],
  ['holdable cursors', 'adr/0005-holdable-cursors-on-the-embedded-store.html'],
];
const PICTURED = [
  'index',
  'tutorials/first-ten-minutes',
  'reference/configuration',
  'reference/api/indicators',
  'architecture',
];
const WIDTHS = [1280, 390];

const problems = [];
const server = createServer(respond).listen(0, '127.0.0.1');
await new Promise((done) => server.once('listening', done));
const address = `http://127.0.0.1:${server.address().port}${PREFIX}`;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  await checkSearch();
  await takePictures();
} finally {
  await browser.close();
  server.close();
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

/** Serves the files of the site, and records requests for others. */
function respond(request, response) {
  const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
  const file = join(site, normalize(path.slice(PREFIX.length)) || 'index.html');
  if (!path.startsWith(PREFIX) || !existsSync(file) || !statSync(file).isFile()) {
    problems.push(`A page requested ${path}, which does not exist.`);
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
  createReadStream(file).pipe(response);
}

/** Loads a page in a context of its own. Requests to other hosts are refused, and are problems. */
async function open(path, options) {
  const context = await browser.newContext(options);
  await context.route('**', (route) => {
    if (route.request().url().startsWith(address)) return route.continue();
    problems.push(`${path} requested ${route.request().url()}.`);
    return route.abort();
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => problems.push(`${path}: ${error}`));
  await page.goto(address + path);
  return page;
}

async function checkSearch() {
  const page = await open('feeds.html', { viewport: { width: 1280, height: 800 } });
  await page.locator('button[data-open-modal]').click();
  const input = page.locator('.pagefind-ui__search-input');
  for (const [words, wanted] of SEARCHES) {
    await input.fill(words);
    const link = page.locator(`.pagefind-ui__result-link[href*="${PREFIX}${wanted}"]`).first();
    await link
      .waitFor({ timeout: 60_000 })
      .catch(() => problems.push(`The search for ${words} does not find ${wanted}.`));
  }
  console.log(`${SEARCHES.length} searches`);
  await page.context().close();
}

async function takePictures() {
  mkdirSync(pictures, { recursive: true });
  for (const width of WIDTHS)
    for (const colorScheme of ['light', 'dark'])
      for (const name of PICTURED) {
        const page = await open(`${name}.html`, { viewport: { width, height: 900 }, colorScheme });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        if (wide > width) problems.push(`${name}.html is ${wide} pixels wide on a screen of ${width}.`);
        await page.screenshot({
          path: join(pictures, `${name.replaceAll('/', '-')}-${width}-${colorScheme}.png`),
        });
        await checkAccessibility(page, name);
        await page.context().close();
      }
  console.log(`${PICTURED.length * WIDTHS.length * 2} screenshots in ${pictures}`);
}

async function checkAccessibility(page, name) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run({ runOnly: ['wcag2a', 'wcag2aa'] }));
  for (const { id, nodes } of violations)
    problems.push(`${name}.html: axe finds ${id} at ${nodes.map(({ target }) => target).join('; ')}`);
}
