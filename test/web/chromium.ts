import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, describe, expect } from 'vitest';

const CANDIDATES = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) =>
  ['/usr/bin', '/usr/local/bin', '/snap/bin'].map((directory) => join(directory, name)),
);
/** The system's; undefined: there is none, and what needs one is left out. */
const CHROMIUM = process.env.CHROMIUM ?? CANDIDATES.find((path) => existsSync(path));

/** Screenshots of a run, for people. */
const ARTEFACTS = fileURLToPath(new URL('../../artefacts/screenshots/', import.meta.url));

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };

let browser: Browser | undefined;
const contexts: BrowserContext[] = [];

/** A suite that opens pages; it is left out where no browser is installed. */
export function describeInBrowser(name: string, suite: () => void): void {
  describe.skipIf(!CHROMIUM)(name, () => {
    // Pages that nobody looks at go on asking.
    afterEach(async () => {
      for (const context of contexts.splice(0)) await context.close();
    });
    afterAll(async () => {
      await browser?.close();
      browser = undefined;
    });
    suite();
  });
}

export interface Opened {
  page: Page;
  /** What a page may not do: errors, and what its policy forbids. */
  complaints: string[];
}

/** A browser of its own, without cookies unless a state is given. */
export async function openPage(
  state?: Awaited<ReturnType<BrowserContext['storageState']>>,
): Promise<Opened & { context: BrowserContext }> {
  browser ??= await chromium.launch({
    executablePath: CHROMIUM ?? '',
    // Containers have no user namespaces, and run as root.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  const context = await browser.newContext({
    viewport: WIDE,
    // Text that fades in or out has too little contrast for a moment.
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
    ...(state && { storageState: state }),
  });
  context.setDefaultTimeout(300_000);
  contexts.push(context);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    const text = message.text();
    // The browser logs every status that is no success: pages are made to meet them.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) complaints.push(text);
  });
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, complaints, context };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

/**
 * Nothing on the page keeps anybody from using it (axe, "serious" and "critical").
 * @param rules the rules to check; undefined: all
 */
async function expectAccessible(page: Page, what: string, rules?: readonly string[]): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  const violations = await page.evaluate(async (values) => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(
          options: object,
        ): Promise<{ violations: { impact: string; id: string; nodes: { html: string }[] }[] }>;
      };
    };
    const runOnly = values && { runOnly: { type: 'rule', values } };
    return (await axe.run({ resultTypes: ['violations'], ...runOnly })).violations.map(
      ({ impact, id, nodes }) => `${impact} ${id}: ${nodes[0]?.html}`,
    );
  }, rules);
  expect(
    violations.filter((text) => /^(serious|critical)/.test(text)),
    what,
  ).toEqual([]);
}

/** A page as it is at each width: accessible, no wider than the window, and as a screenshot for people. */
export async function look(page: Page, name: string): Promise<void> {
  for (const size of [NARROW, WIDE]) await lookAt(page, name, size);
}

/** A page that was looked at, in its other colours: these alone are another. */
export const lookAtColours = (page: Page, name: string) => lookAt(page, name, WIDE, ['color-contrast']);

async function lookAt(
  page: Page,
  name: string,
  size: { width: number; height: number },
  rules?: readonly string[],
): Promise<void> {
  mkdirSync(ARTEFACTS, { recursive: true });
  const here = `${name} at ${size.width}`;
  await page.setViewportSize(size);
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'hidden' });
  await page.waitForTimeout(150);
  await page.screenshot({ path: join(ARTEFACTS, `${name}-${size.width}.png`), fullPage: true });
  expect(await tooWide(page), here).toEqual([]);
  await expectAccessible(page, here, rules);
}

/** What reaches out of the window on the right, and what it is in. */
function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.querySelectorAll('body *')].filter(
      (element) =>
        element.getBoundingClientRect().right > clientWidth && !element.closest('table, pre, .matrix'),
    );
    return [`${scrollWidth} px`, ...wide.slice(-6).map((element) => element.outerHTML.slice(0, 150))];
  });
}
