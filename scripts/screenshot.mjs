// Takes the picture of the application in README.md: an indicator of the demo. Needs a build, and Chromium (CHROMIUM: its path).
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../', import.meta.url));
const target = join(root, 'docs/images/application.png');
const INDICATOR = '/indicators/1574793d-629d-53da-872a-bf8eca156eef';

const directory = mkdtempSync(join(tmpdir(), 'tipline-screenshot-'));
const demo = spawn(process.execPath, [join(root, 'dist/main.js'), 'demo'], {
  cwd: directory,
  env: { ...process.env, PORT: '0', TIPLINE_DATA_DIR: join(directory, 'data'), LOG_LEVEL: 'warn' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = new Promise((resolve) => demo.once('exit', resolve));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const firstStart = await linkOfFirstAccount();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  await page.goto(firstStart);
  await page.getByLabel('Name').fill('Analyst');
  await page.getByLabel('E-mail').fill('analyst@example.org');
  await page.getByRole('textbox', { name: 'Password' }).fill('a password of the screenshot');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.goto(new URL(INDICATOR, firstStart).href);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: target });
  console.log(`${target}: ${statSync(target).size} bytes`);
} finally {
  await browser.close();
  demo.kill();
  await ended;
  rmSync(directory, { recursive: true, force: true });
}

/** Returns the link that the demo prints. */
function linkOfFirstAccount() {
  let printed = '';
  return new Promise((resolve, reject) => {
    demo.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
      const [link] = /http\S+first-start#\S+(?=\n)/.exec(printed) ?? [];
      if (link) resolve(link);
    });
    void ended.then(() => reject(new Error(`The demo ended:\n${printed}`)));
  });
}
