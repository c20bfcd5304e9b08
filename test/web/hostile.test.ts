// @module-tag nightly
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { type FeedServer, startFeedServer } from '../support/feed-server.ts';
import { run, until } from '../support/processes.ts';
import { type Service, serve } from '../support/service.ts';
import { addUser, signedInAs } from './application.ts';
import { describeInBrowser, look } from './chromium.ts';

/** What others may write into anything that they are asked for. */
const SCRIPT = '<script>window.hit=1</script>';
const IMAGE = '"><img src=x onerror="window.hit=1">';
const BIDI = '\u202egnp.exe\u202c';
const CONTROL = '\u0007\u001b[31m\u0000'.replace('\u0000', '');
const TEMPLATE = '{{constructor.constructor("window.hit=1")()}} ${window.hit=1}';
const ALL = [SCRIPT, IMAGE, BIDI, CONTROL, TEMPLATE].join(' ');

const DATE = '2026-01-01T00:00:00.000Z';
const stated = { spec_version: '2.1', created: DATE, modified: DATE };
const id = (type: string, number: number) => `${type}--00000000-0000-4000-8000-00000000000${number}`;
const relationship = (number: number, from: string, type: string, to: string) => ({
  ...stated,
  type: 'relationship',
  id: `relationship--10000000-0000-4000-8000-00000000000${number}`,
  relationship_type: type,
  source_ref: from,
  target_ref: to,
});
const INDICATOR = id('indicator', 1);
const ACTOR = id('intrusion-set', 2);
const CAMPAIGN = id('campaign', 3);

const BUNDLE = {
  type: 'bundle',
  id: id('bundle', 0),
  objects: [
    {
      ...stated,
      type: 'indicator',
      id: INDICATOR,
      name: ALL,
      description: ALL,
      labels: [SCRIPT, IMAGE, `bidi${BIDI}`, TEMPLATE],
      pattern: "[file:name = '<script>window.hit=1</script>\u202egnp.exe']",
      pattern_type: 'stix',
      valid_from: DATE,
    },
    {
      ...stated,
      type: 'indicator',
      id: id('indicator', 4),
      pattern: "[ipv4-addr:value = '8.8.4.9']",
      pattern_type: 'stix',
      valid_from: DATE,
      labels: [IMAGE],
    },
    {
      ...stated,
      type: 'intrusion-set',
      id: ACTOR,
      name: `Actor ${ALL}`,
      description: ALL,
      aliases: [SCRIPT, IMAGE],
    },
    {
      ...stated,
      type: 'campaign',
      id: CAMPAIGN,
      name: `Campaign ${ALL}`,
      description: ALL,
      aliases: [IMAGE],
    },
    {
      ...stated,
      type: 'report',
      id: id('report', 5),
      name: `Report ${ALL}`,
      published: DATE,
      description: ALL,
      object_refs: [INDICATOR, ACTOR, CAMPAIGN],
      external_references: [{ source_name: SCRIPT, url: 'javascript:window.hit=1' }],
    },
    {
      ...stated,
      type: 'attack-pattern',
      id: id('attack-pattern', 6),
      name: ALL,
      kill_chain_phases: [{ kill_chain_name: 'mitre-attack', phase_name: SCRIPT }],
    },
    { ...stated, type: 'malware', id: id('malware', 7), name: ALL, is_family: true },
    {
      ...stated,
      type: 'note',
      id: id('note', 8),
      abstract: ALL,
      content: ALL,
      object_refs: [INDICATOR, id('report', 5)],
    },
    relationship(1, INDICATOR, 'indicates', ACTOR),
    relationship(2, INDICATOR, 'indicates', CAMPAIGN),
    relationship(3, ACTOR, 'uses', id('attack-pattern', 6)),
    relationship(4, ACTOR, 'uses', id('malware', 7)),
    relationship(5, CAMPAIGN, 'attributed-to', ACTOR),
  ],
};

describeInBrowser('what others wrote', () => {
  let service: Service;
  let provider: FeedServer;
  let open: ReturnType<typeof signedInAs>;

  beforeAll(async () => {
    provider = await startFeedServer();
    const data = { abuseConfidenceScore: 50, totalReports: 1, domain: ALL, [SCRIPT]: IMAGE };
    provider.answer({ body: JSON.stringify({ data }) });
    service = await serve({ OUTBOUND_NETWORKS: '127.0.0.1/32', LOG_LEVEL: 'warn' });
    const file = join(temporaryDirectory(), `${SCRIPT.replaceAll('/', '')}.json`);
    writeFileSync(file, JSON.stringify(BUNDLE));
    await must('import', '--source', `Source ${IMAGE}`, file);
    const set = ['providers', 'set', 'abuseipdb', '--key', '-', '--address', provider.address];
    await run(set, { env: service.env, input: 'k\n' });
    open = signedInAs(service, await addUser(service, 'administrator'));
  });
  afterAll(async () => {
    await service?.stop();
    await provider?.close();
  });

  async function must(...args: string[]): Promise<void> {
    const { code, stderr } = await service.command(...args);
    if (code !== 0) throw new Error(stderr);
  }

  /** Follows what a list shows, as somebody would. */
  async function follow(list: string, name: string) {
    const opened = await open(list);
    await opened.page
      .locator('tbody a')
      .filter({ hasText: /script|8\[/ })
      .first()
      .click();
    await opened.page.waitForURL(/[0-9a-f-]{36}/);
    await opened.page.waitForLoadState('networkidle');
    await look(opened.page, `hostile-${name}`);
    return opened;
  }

  it.each([
    ['indicator', '/indicators?type=FILENAME'],
    ['actor', '/actors'],
    ['campaign', '/campaigns'],
    ['import', '/imports'],
  ])('hostile text is escaped on the page of an %s, and in its list', async (name, list) => {
    const { page, complaints } = await follow(list, name);
    expect(await page.evaluate(() => (window as { hit?: number }).hit)).toBeUndefined();
    expect(await page.locator('img[src="x"], main script').count()).toBe(0);
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
    const text = await page.locator('main').innerText();
    expect(text).toContain('<script>window.hit=1<');
    // What turns the direction of text, or cannot be seen, is told as what it is.
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u0007\u001b]/u);
    expect(complaints).toEqual([]);
  });

  it('hostile text is escaped on the page of a report', async () => {
    const { page, complaints } = await open('/');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/Search indicators/).fill('Report <script>');
    await page.getByRole('button', { name: /^Report <script>/ }).click();
    await page.waitForURL(/\/reports\//);
    await page.waitForLoadState('networkidle');
    await look(page, 'hostile-report');
    expect(await page.evaluate(() => (window as { hit?: number }).hit)).toBeUndefined();
    expect(await page.locator('img[src="x"], main script').count()).toBe(0);
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
    expect(await page.locator('main').innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u0007\u001b]/u);
    expect(complaints).toEqual([]);
  });

  it("hostile text is escaped in a provider's response", async () => {
    const { page, complaints } = await open('/indicators?type=IPV4');
    await page.locator('tbody a').first().click();
    await page.getByRole('button', { name: 'Enrich now' }).click();
    const raw = page.getByText('Raw response');
    await raw.waitFor();
    await raw.click();
    await until('it is shown', async () => (await page.locator('pre').innerText()).includes('window.hit'));
    const text = await page.locator('pre').innerText();
    expect(text).toContain('<script>window.hit=1</script>');
    expect(text).not.toMatch(/[\u202e\u001b]/u);
    await look(page, 'hostile-enrichment');
    expect(await page.evaluate(() => (window as { hit?: number }).hit)).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  it('hostile text is escaped in the overview, the palette, sources and the audit log', async () => {
    const { page, complaints } = await open('/');
    for (const path of ['/', '/sources', '/audit', '/imports']) {
      await page.goto(service.address + path);
      await page.waitForLoadState('networkidle');
      expect(await page.locator('img[src="x"], main script').count(), path).toBe(0);
      expect(await page.locator('main').innerText(), path).not.toMatch(/[\u202e\u001b]/u);
    }
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/Search indicators/).fill('<script>');
    await page
      .getByRole('dialog')
      .getByText(/Actor <script>/)
      .waitFor();
    expect(await page.evaluate(() => (window as { hit?: number }).hit)).toBeUndefined();
    expect(complaints).toEqual([]);
  });
});
