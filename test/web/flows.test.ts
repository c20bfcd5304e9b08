import { execFileSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { layerProblems } from '../consumers/navigator-schema.ts';
import { type FeedServer, startFeedServer } from '../support/feed-server.ts';
import { run, until } from '../support/processes.ts';
import { type Service, serve } from '../support/service.ts';
import { totpAt } from '../support/totp.ts';
import { addUser, confirm, emailOf, FIRST_PASSWORD, PASSWORD, signedInAs, signIn } from './application.ts';
import { describeInBrowser, look, type Opened, openPage } from './chromium.ts';

describeInBrowser('the application on the sample, in a browser', () => {
  let service: Service;
  let provider: FeedServer;
  let key: string;
  let link: string;
  let asAnalyst: ReturnType<typeof signedInAs>;
  let asAdministrator: ReturnType<typeof signedInAs>;
  let asViewer: ReturnType<typeof signedInAs>;
  let opened: Opened;

  beforeAll(async () => {
    provider = await startFeedServer();
    provider.answer({ body: JSON.stringify({ data: { abuseConfidenceScore: 97, totalReports: 5 } }) });
    service = await serve({ OUTBOUND_NETWORKS: '127.0.0.1/32', LOG_LEVEL: 'warn' }, 'demo');
    link = (await service.says(/(http\S+first-start#\S+)\n/))[1] ?? '';
    key = service.stdout().match(/tip_[\w-]+/)?.[0] ?? '';
    // The first account is made through the link.
    opened = await openPage();
    await opened.page.goto(link);
    await opened.page.getByLabel('Name').fill('The administrator');
    await look(opened.page, 'first-start');
    await opened.page.getByLabel('E-mail').fill(emailOf('administrator'));
    await opened.page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await opened.page.getByRole('button', { name: 'Create account' }).click();
    await opened.page.getByRole('heading', { name: 'Overview' }).waitFor();
    const options = ['--key', '-', '--address', provider.address];
    const set = await run(['providers', 'set', 'abuseipdb', ...options], {
      env: service.env,
      input: 'a key\n',
    });
    if (set.code !== 0) throw new Error(set.stderr);
    asAdministrator = signedInAs(service, emailOf('administrator'));
    asAnalyst = signedInAs(service, await addUser(service, 'analyst'));
    asViewer = signedInAs(service, await addUser(service, 'viewer'));
  });
  afterAll(async () => {
    await service?.stop();
    await provider?.close();
  });
  afterEach(() => expect(opened.complaints).toEqual([]));

  const api = async (path: string, bearer = key) => service.get(path, bearer);
  const firstOf = async (query: string) => {
    const { data } = (await (await api(`/api/v1/indicators?${query}`)).json()) as {
      data: { id: string; value: string; confidence: number }[];
    };
    const [one] = data;
    if (!one) throw new Error(`the sample has none of ${query}`);
    return one;
  };
  const confidenceOf = async (id: string) =>
    ((await (await api(`/api/v1/indicators/${id}`)).json()) as { data: { confidence: number } }).data
      .confidence;

  it('the initial setup link is invalid after use', async () => {
    opened = await openPage();
    const { page } = opened;
    await page.goto(link);
    await page.waitForURL(/sign-in/);
    const { status, code } = await page.evaluate(async (token) => {
      const response = await fetch('/app/first-start', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token, email: 'b@example.org', name: 'B', password: 'correct horse battery' }),
      });
      return { status: response.status, code: ((await response.json()) as { code: string }).code };
    }, link.split('#')[1]);
    expect([status, code]).toEqual([409, 'conflict']);
  });

  it('signs in, returns to the requested page, and signs out', async () => {
    opened = await openPage();
    const { page } = opened;
    await page.goto(`${service.address}/actors?q=APT29`);
    await page.waitForURL(/sign-in\?to=/);
    await page.getByLabel('E-mail').fill(emailOf('viewer'));
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${service.address}/actors?q=APT29`);
    await page.getByRole('link', { name: 'APT29' }).waitFor();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(/sign-in/);
    await page.goto(`${service.address}/indicators`);
    await page.waitForURL(/sign-in/);
  });

  it.each([
    '//elsewhere.example/',
    '/\t/elsewhere.example/',
    '/\n/elsewhere.example/',
    '/\\elsewhere.example/',
  ])('does not redirect to another site after sign-in: %j', async (to) => {
    opened = await openPage();
    const { page } = opened;
    await page.goto(`${service.address}/sign-in?to=${encodeURIComponent(to)}`);
    await page.getByLabel('E-mail').fill(emailOf('viewer'));
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${service.address}/`);
  });

  it('reports a wrong password, and blocks an account after too many attempts', {
    tags: ['nightly'],
  }, async () => {
    const email = await addUser(service, 'viewer', 'guessed');
    opened = await openPage();
    const { page } = opened;
    await signIn(page, service.address, email, 'wrong horse battery');
    await expectText(page.getByRole('alert'), 'The e-mail address or the password is wrong.');
    for (let attempt = 0; attempt < 10; attempt++) {
      const answered = page.waitForResponse(/app\/sign-in/);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await answered;
    }
    await expectText(page.getByRole('alert'), /Too many attempts/);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expectText(page.getByRole('alert'), /Too many attempts/);
  });

  it('creates a key, uses it with the displayed curl command, shows its use, and revokes it', async () => {
    opened = await asAnalyst('/settings');
    const { page } = opened;
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name').fill('firewall');
    await page.getByRole('checkbox', { name: 'actors:read' }).check();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const made = (await page.getByTestId('new-key').textContent()) ?? '';
    expect(made).toMatch(/^tip_[\w-]{43}$/);
    await page.getByRole('button', { name: 'Copy key' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(made);
    await page.getByRole('button', { name: 'Copy curl command' }).click();
    const curl = await page.evaluate(() => navigator.clipboard.readText());
    expect(JSON.parse(execFileSync('sh', ['-c', curl], { encoding: 'utf8' })).data).toHaveLength(3);
    await page.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row', { name: /firewall/ });
    await expectText(row, /1 of [\d,]+ in 60 s/);
    await expectText(row, /indicators:read, actors:read/);
    await until('its last use is shown', async () =>
      /second|now/.test((await row.innerText()).split('TLP')[1] ?? ''),
    );
    await row.getByRole('button', { name: 'Revoke firewall' }).click();
    await confirm(page, 'Revoke');
    await expectText(row, /revoked/i);
    expect((await api('/api/v1/indicators', made)).status).toBe(401);
  });

  it('rotates a key, with both valid during the overlap', { tags: ['nightly'] }, async () => {
    opened = await asAnalyst('/settings/keys');
    const { page } = opened;
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name').fill('soar');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const old = (await page.getByTestId('new-key').textContent()) ?? '';
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Rotate soar' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click();
    const rotated = (await page.getByTestId('new-key').textContent()) ?? '';
    expect(rotated).not.toBe(old);
    for (const each of [old, rotated]) expect((await api('/api/v1/indicators', each)).status).toBe(200);
  });

  it('a pin overrides enrichment; after unpinning, the provider score applies', {
    tags: ['nightly'],
  }, async () => {
    const { id } = await firstOf('type=IPV4&pageSize=1');
    opened = await asAnalyst(`/indicators/${id}`);
    const { page } = opened;
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Confidence').fill('7');
    await confirm(page, 'Pin', 'our own scanner');
    await page.getByText('Pinned by an analyst').waitFor();
    expect(await confidenceOf(id)).toBe(7);
    await page.getByRole('button', { name: 'Enrich now' }).click();
    await page.getByText('abuseipdb scores 97').waitFor();
    expect(await confidenceOf(id)).toBe(7);
    await page.getByRole('button', { name: 'Unpin' }).click();
    await confirm(page, 'Unpin', 'it was not');
    await page.getByText('Set by the highest provider score: abuseipdb').waitFor();
    expect(await confidenceOf(id)).toBe(97);
    const history = page.getByRole('region', { name: 'History' });
    for (const action of ['confidence.pin', 'indicator.enrich', 'confidence.unpin'])
      await history.getByText(action, { exact: true }).waitFor();
  });

  it('whitelisting hides an indicator from the API at once, and removing the entry restores it', async () => {
    const { id, value } = await firstOf('type=DOMAIN&pageSize=1');
    opened = await asAnalyst(`/indicators/${id}`);
    const { page } = opened;
    await page.getByRole('button', { name: 'Whitelist' }).click();
    await confirm(page, 'Whitelist', 'a customer of ours');
    await page.getByText('Hidden from API, exports and rules').waitFor();
    expect((await api(`/api/v1/indicators/${id}`)).status).toBe(404);
    const csv = await (await api(`/api/v1/indicators?format=csv&q=${encodeURIComponent(value)}`)).text();
    expect(csv).not.toContain(`,${value},`);
    await page.getByText('a customer of ours').first().waitFor();
    await page.getByRole('button', { name: 'Remove from whitelist' }).click();
    await confirm(page, 'Remove', 'no longer');
    await page.getByText('Hidden from API').waitFor({ state: 'hidden' });
    expect((await api(`/api/v1/indicators/${id}`)).status).toBe(200);
  });

  it('previews and imports a file, and shows rejected records', async () => {
    opened = await asAnalyst('/imports');
    const { page } = opened;
    const content = 'type,value\nDOMAIN,fresh.test-feed.net\nIPV4,999.9.9.9\n';
    await page.locator('input[type=file]').setInputFiles({
      name: 'ours.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(content),
    });
    await page.getByLabel('Source').fill('Our own');
    await page.getByRole('button', { name: 'Preview import' }).click();
    await page.getByText('Preview only: nothing was imported.').waitFor();
    expect((await (await api('/api/v1/indicators?q=fresh.test-feed')).json()) as object).toMatchObject({
      total: 0,
    });
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.waitForURL(/\/imports\/[0-9a-f-]{36}$/);
    await page.getByText('Done', { exact: true }).first().waitFor();
    const rejected = page.getByRole('region', { name: 'Rejected records' });
    await expectText(rejected, /ours\.csv, line 3\s+not an IPv4 address/);
    expect((await (await api('/api/v1/indicators?q=fresh.test-feed')).json()) as object).toMatchObject({
      total: 1,
    });
    await page.goto(`${service.address}/imports`);
    await page.getByRole('row', { name: /ours\.csv Our own Done 1 0 0 1/ }).waitFor();
  });

  it('an upload that ends after its page was left leads nowhere, and is reported', {
    tags: ['nightly'],
  }, async () => {
    opened = await asAnalyst('/imports');
    const { page } = opened;
    const buffer = Buffer.from('type,value\nDOMAIN,late.test-feed.net\n');
    await page.locator('input[type=file]').setInputFiles({ name: 'late.csv', mimeType: 'text/csv', buffer });
    await page.getByLabel('Source').fill('Our own');
    await page.getByRole('button', { name: 'Preview import' }).click();
    await page.getByText('Preview only: nothing was imported.').waitFor();
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    await page.route(/app\/imports\?.*dryRun=false/, async (route) => {
      await arrived;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name').fill('half typed');
    arrive();
    await page.getByText('Import of late.csv started.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/settings');
    expect(await page.getByLabel('Name').inputValue()).toBe('half typed');
  });

  it('an analyst whose role sees up to GREEN imports, with defaults up to that', {
    tags: ['nightly'],
  }, async () => {
    const { page: administrators } = await asAdministrator('/settings/users');
    const setCeiling = (tlpCeiling: string) =>
      administrators.evaluate(
        async (body) =>
          (
            await fetch('/app/roles/analyst', {
              method: 'PATCH',
              headers: { 'content-type': 'application/json' },
              body,
            })
          ).status,
        JSON.stringify({ tlpCeiling }),
      );
    expect(await setCeiling('GREEN')).toBe(200);
    try {
      opened = await asAnalyst('/imports');
      const { page } = opened;
      const buffer = Buffer.from('type,value\nDOMAIN,green.test-feed.net\n');
      await page.locator('input[type=file]').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
      await page.getByLabel('Source').fill('Our own');
      await page.getByRole('button', { name: 'Preview import' }).click();
      await page.getByText('Preview only: nothing was imported.').waitFor();
      await page.getByLabel('Source').fill('A new one');
      const tlp = page.getByRole('combobox', { name: 'TLP' });
      expect(await tlp.inputValue()).toBe('TLP:GREEN');
      await tlp.click();
      expect(await page.getByRole('option', { name: /^TLP/ }).allInnerTexts()).toEqual([
        'TLP:CLEAR',
        'TLP:GREEN',
      ]);
    } finally {
      expect(await setCeiling('AMBER_STRICT')).toBe(200);
    }
  });

  it('a change of the import form stops the preview, and a button does', { tags: ['nightly'] }, async () => {
    opened = await asAnalyst('/imports');
    const { page } = opened;
    const rows = Array.from({ length: 400_000 }, (_, i) => `DOMAIN,n${i}.abandoned.test-feed.net\n`);
    const buffer = Buffer.from(`type,value\n${rows.join('')}`);
    await page.locator('input[type=file]').setInputFiles({ name: 'long.csv', mimeType: 'text/csv', buffer });
    const stopped = page.getByRole('row', { name: /long\.csv.*Stopped/ });
    for (const [i, source] of ['Typo A', 'Typo B', 'Right'].entries()) {
      await page.getByLabel('Source').fill(source);
      // The server has the time in which somebody types.
      await until('earlier previews are stopped', async () => (await stopped.count()) === i);
      await page.getByRole('button', { name: 'Preview import' }).click();
      await page.getByText(/ of [\d.]+ MB read/).waitFor();
    }
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('The preview did not finish').waitFor();
    await page.getByText('analyst@example.org stopped it. Nothing was imported.').waitFor();
    await page.route(/app\/imports\?fileName/, (route) =>
      route.fulfill({ status: 409, json: { code: 'conflict', error: '2 imports are under way.' } }),
    );
    const refreshed = page.waitForResponse((response) => /app\/imports\?page=1/.test(response.url()));
    await page.getByRole('button', { name: 'Preview import' }).click();
    await page.getByText('2 imports are under way.').waitFor();
    await refreshed;
  });

  it('an administrator previews and undoes an import, and removes a source', {
    tags: ['nightly'],
  }, async () => {
    const imported = async (source: string, value: string) => {
      const csv = `type,value\nDOMAIN,${value}\n`;
      const done = await run(['import', '-', '--source', source], { env: service.env, input: csv });
      expect(done.code).toBe(0);
    };
    const isGivenOut = async (value: string) =>
      ((await (await api(`/api/v1/indicators?q=${value}`)).json()) as { total: number }).total === 1;
    await imported('Wrong file', 'wrong.test-feed.net');
    opened = await asAdministrator('/imports');
    const { page } = opened;
    await page
      .getByRole('row', { name: /Wrong file/ })
      .getByRole('link')
      .first()
      .click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page
      .getByRole('dialog')
      .getByRole('row', { name: /Indicator 1 1/ })
      .waitFor();
    await look(page, 'undo-import');
    expect(await isGivenOut('wrong.test-feed.net')).toBe(true);
    await confirm(page, 'Undo the import');
    await page.getByText('Undone', { exact: true }).waitFor();
    await look(page, 'undone-import');
    expect(await isGivenOut('wrong.test-feed.net')).toBe(false);
    let isUndoing = true;
    await page.route(/app\/imports\?page=1&/, async (route) => {
      const response = await route.fetch();
      const list = (await response.json()) as { data: object[] };
      if (isUndoing) list.data = list.data.map((one) => ({ ...one, undo: 'running' }));
      await route.fulfill({ json: list });
    });
    await page.getByRole('link', { name: 'Imports', exact: true }).click();
    await page.getByText('Being undone', { exact: true }).first().waitFor();
    isUndoing = false;
    await page.getByText('Being undone', { exact: true }).first().waitFor({ state: 'hidden' });
    await page.unrouteAll({ behavior: 'wait' });
    await imported('Wrong source', 'gone.test-feed.net');
    await page.goto(`${service.address}/sources`);
    const remove = page.getByRole('button', { name: 'Remove Wrong source' });
    await remove.waitFor();
    const { data: runs } = await page.evaluate(
      async () => (await (await fetch('/app/imports')).json()) as { data: { id: string }[] },
    );
    await page.route('**/app/session', async (route) => {
      const { account } = (await (await route.fetch()).json()) as { account: object };
      await route.fulfill({ json: { account: { ...account, tlpCeiling: 'AMBER' } } });
    });
    await page.reload();
    await page.getByRole('row', { name: /Wrong source/ }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Fetch' }).count()).toBe(1);
    expect(await remove.count()).toBe(0);
    await page.goto(`${service.address}/imports/${runs[0]?.id}`);
    await page.getByText('Done', { exact: true }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await page.unrouteAll({ behavior: 'wait' });
    await page.goto(`${service.address}/sources`);
    await remove.click();
    await page
      .getByRole('dialog')
      .getByRole('row', { name: /Indicator 1 1/ })
      .waitFor();
    await look(page, 'remove-source');
    await confirm(page, 'Remove source');
    await page.getByRole('row', { name: /Wrong source/ }).waitFor({ state: 'hidden' });
    await until('it is given out no more', async () => !(await isGivenOut('gone.test-feed.net')));
  });

  it('filters are in the URL, and the export uses them', { tags: ['nightly'] }, async () => {
    opened = await asViewer('/indicators?type=CVE&sort=confidence');
    const { page } = opened;
    const shown = (await (await api('/api/v1/indicators?type=CVE&pageSize=1')).json()) as { total: number };
    await page.getByText(`${shown.total} indicator`).waitFor();
    await page.getByRole('textbox', { name: 'Value' }).fill('CVE[-]2021');
    await page.getByRole('textbox', { name: 'Value' }).fill('2021');
    await page.waitForURL(/q=2021/);
    const { total } = (await (await api('/api/v1/indicators?type=CVE&q=2021&pageSize=1')).json()) as {
      total: number;
    };
    await page.getByText(`${total} indicator`).waitFor();
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('tipline-indicators-csv.csv');
    const lines = await textOf(download);
    expect(lines.trim().split('\n')).toHaveLength(total + 1);
    await page.keyboard.press('Escape');
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'Value' }).inputValue()).toBe('2021');
  });

  it('navigating to another indicator resets the forms', { tags: ['nightly'] }, async () => {
    const [a, b] = [await firstOf('type=MD5&pageSize=1'), await firstOf('type=SHA256&pageSize=1')];
    opened = await asAnalyst(`/indicators/${a.id}`);
    const { page } = opened;
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('for the first alone');
    await page.getByRole('dialog').getByLabel('Confidence').fill('3');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.route(`**/app/indicators/${b.id}`, async (route) => {
      await until('the page is looked at', () => looked);
      await route.continue();
    });
    let looked = false;
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/Search indicators/).fill(b.value);
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /SHA256/ })
      .click();
    await page.waitForURL(new RegExp(b.id));
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    expect(await page.getByRole('heading', { name: a.value }).count()).toBe(0);
    looked = true;
    await page.getByRole('heading', { name: b.value }).waitFor();
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Reason').inputValue()).toBe('');
    expect(await dialog.getByLabel('Confidence').inputValue()).toBe(String(b.confidence));
  });

  it('typing is not overwritten by late responses, and is one history entry', {
    tags: ['nightly'],
  }, async () => {
    opened = await asViewer('/indicators');
    const { page } = opened;
    await page.route('**/app/**', async (route) => {
      await delay(300);
      await route.continue();
    });
    const box = page.getByRole('textbox', { name: 'Value' });
    await box.pressSequentially('malware-domain', { delay: 90 });
    await page.waitForURL(/q=malware-domain$/);
    expect(await box.inputValue()).toBe('malware-domain');
    await box.press('x');
    await page.getByRole('button', { name: 'Clear value' }).click();
    await page.waitForURL((url) => !url.search.includes('q='));
    expect(await box.inputValue()).toBe('');
  });

  it('supports the keyboard: / focuses search, the palette finds objects', {
    tags: ['nightly'],
  }, async () => {
    opened = await asViewer('/indicators');
    const { page } = opened;
    await page.keyboard.press('/');
    expect(
      await page.getByRole('textbox', { name: 'Value' }).evaluate((box) => box === document.activeElement),
    ).toBe(true);
    await page.keyboard.press('Escape');
    await page.goto(`${service.address}/`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/Search indicators/).fill('APT29');
    await page.getByRole('button', { name: /G0016/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/actors\/[0-9a-f-]{36}$/);
    await page.getByRole('heading', { name: 'APT29', level: 1 }).waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), sigmaOf(page)]);
    expect((await textOf(download)).match(/^title: /gm)?.length).toBeGreaterThan(5);
    const [layer] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Navigator layer' }).click(),
    ]);
    expect(layer.suggestedFilename()).toBe('tipline-navigator-apt29.json');
    expect(layerProblems(JSON.parse(await textOf(layer)))).toEqual([]);
  });

  it('downloads the techniques that Sigma rules cover', { tags: ['nightly'] }, async () => {
    opened = await asViewer('/actors');
    const { page } = opened;
    const [layer] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Sigma coverage layer' }).click(),
    ]);
    expect(layer.suggestedFilename()).toBe('tipline-navigator-sigma.json');
    expect(layerProblems(JSON.parse(await textOf(layer)))).toEqual([]);
  });

  it('finds the actors that use a technique, a report and its indicators', {
    tags: ['nightly'],
  }, async () => {
    opened = await asViewer('/');
    const { page } = opened;
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/Search indicators/).fill('T1059.001');
    await page.getByRole('button', { name: /PowerShell.*T1059\.001/ }).click();
    await page.waitForURL(/\/actors\?uses=T1059\.001/);
    await page.getByText('Uses T1059.001').waitFor();
    await page.getByRole('link', { name: 'APT29' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/Search indicators/).fill('ATOM Campaign');
    await page.getByRole('button', { name: 'ATOM Campaign Report' }).first().click();
    await page.waitForURL(/\/reports\//);
    await page.getByRole('heading', { name: 'ATOM Campaign Report' }).waitFor();
    await page.getByRole('link', { name: /^All / }).click();
    await page.waitForURL(/\/indicators\?reportId=/);
    await page.getByText('Report: ATOM Campaign Report').waitFor();
    await page.getByRole('table').getByRole('link').first().waitFor();
  });

  it('filters actors and campaigns, and clears the filter', { tags: ['nightly'] }, async () => {
    opened = await asViewer('/actors');
    const { page } = opened;
    const all = await page.getByText(/\d+ known/).innerText();
    await page.getByRole('textbox', { name: 'Name' }).fill('APT29');
    await page.waitForURL(`${service.address}/actors?q=APT29`);
    await page.getByText('1 known').waitFor();
    await page.getByRole('button', { name: 'Clear name' }).click();
    await page.waitForURL(`${service.address}/actors`);
    await page.getByText(all).waitFor();
    await page.goto(`${service.address}/campaigns`);
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Concluded' }).click();
    await page.waitForURL(`${service.address}/campaigns?status=CONCLUDED`);
    await page.getByRole('table').getByText('CONCLUDED').first().waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('the search box follows the URL', { tags: ['nightly'] }, async () => {
    opened = await asViewer('/indicators?q=1.1');
    const { page } = opened;
    const box = page.getByRole('textbox', { name: 'Value' });
    await box.fill('zzzz');
    await page.waitForURL(/q=zzzz/);
    await page.goto(`${service.address}/indicators?q=1.1`);
    await box.fill('yyyy');
    await page.waitForURL(/q=yyyy/);
    await page.getByRole('combobox', { name: 'Type' }).click();
    await page.getByRole('option', { name: 'IPv4' }).click();
    await page.waitForURL(/type=IPV4/);
    await box.focus();
    await page.goBack();
    await page.waitForURL((url) => !url.search.includes('type'));
    expect(await box.inputValue()).toBe('yyyy');
  });

  it('Enter in the palette opens the first result or all matches', { tags: ['nightly'] }, async () => {
    opened = await asViewer('/');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/Search indicators/).fill('G0016');
    await page.getByRole('button', { name: /^APT29/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'APT29', level: 1 }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('Control+k');
    // What was typed before is cleared once the palette has closed, which may come after it was opened again.
    await until('what is typed to stand there', async () => {
      await page.getByPlaceholder(/Search indicators/).fill('never seen before');
      return page.getByText('Search all indicators for “never seen before”').isVisible();
    });
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/indicators\?q=never/);
  });

  it('saves the filters of a list as a feed, and binds a key to it', { tags: ['nightly'] }, async () => {
    opened = await asAnalyst('/indicators?type=DOMAIN');
    const { page } = opened;
    await page.getByRole('button', { name: 'Save as feed' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Filters and options').inputValue()).toBe('type=DOMAIN');
    await dialog.getByLabel('Slug').fill('edge-names');
    // A click is lost if the dialog grows under it: its catalogues may still be loading.
    await dialog.getByLabel('Slug').press('Enter');
    await page.getByText('/api/v1/feeds/edge-names').waitFor();
    await look(page, 'feeds');
    await page.getByRole('tab', { name: 'API keys' }).click();
    await page.getByRole('button', { name: 'Create API key' }).click();
    await dialog.getByLabel('Name').fill('edge firewall');
    await dialog.getByRole('combobox', { name: 'Feeds' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'edge-names' }).click();
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const made = await page.getByTestId('new-key').innerText();
    expect((await api('/api/v1/feeds/edge-names', made)).status).toBe(200);
    expect((await api('/api/v1/indicators', made)).status).toBe(403);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('Feeds: edge-names').waitFor();
  });

  it('fills in a new feed from a preset, and keeps the filters of the list', {
    tags: ['nightly'],
  }, async () => {
    opened = await asAnalyst('/indicators?minConfidence=70&type=IPV4');
    const { page } = opened;
    await page.getByRole('button', { name: 'Save as feed' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Preset' }).fill('PAN-OS');
    await page.getByRole('option', { name: 'PAN-OS, domains' }).click();
    expect(await dialog.getByLabel('Filters and options').inputValue()).toBe(
      'minConfidence=70&style=paloalto&types=DOMAIN&limit=50000',
    );
    expect(await dialog.getByRole('combobox', { name: 'Format' }).inputValue()).toBe('Plain text list');
    await dialog.getByText('Limit: 50,000 in all lists').waitFor();
    await look(page, 'feed-preset');
    await dialog.getByLabel('Slug').fill('edge-domains');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('/api/v1/feeds/edge-domains').waitFor();
  });

  it('saves the changed fields of a feed, unless somebody else has changed the feed since', {
    tags: ['nightly'],
  }, async () => {
    opened = await asAnalyst('/settings/feeds');
    const { page } = opened;
    await page.getByRole('button', { name: 'Create feed' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Slug').fill('shared');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const row = page.getByRole('row', { name: /feeds\/shared/ });
    await row.getByRole('button', { name: 'Edit' }).click();
    const changed = await run(['feeds', 'change', 'shared', '--tlp-ceiling', 'CLEAR'], { env: service.env });
    expect(changed.code).toBe(0);
    await dialog.getByLabel('Description').fill('for the edge');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expectText(dialog.getByRole('alert'), /Somebody has changed this feed since you opened it/);
    expect(await dialog.getByLabel('Description').inputValue()).toBe('for the edge');
    await look(page, 'feed-changed-since');
    await page.reload();
    await row.getByText('TLP:CLEAR').waitFor();
    await row.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Description').fill('for the edge');
    const [request] = await Promise.all([
      page.waitForRequest(/\/app\/feeds\/shared\/change$/),
      dialog.getByRole('button', { name: 'Save' }).click(),
    ]);
    expect(Object.keys(request.postDataJSON()).sort()).toEqual(['description', 'unchangedSince']);
    await row.getByText('for the edge').waitFor();
  });

  it('shows the networks around an address on its page', { tags: ['nightly'] }, async () => {
    const input = '45.9.148.0/24\n45.9.148.7\n';
    const done = await run(['import', '-', '--format', 'text', '--source', 'Networks'], {
      env: service.env,
      input,
    });
    expect(done.code).toBe(0);
    opened = await asViewer(`/indicators/${(await firstOf('q=45.9.148.7')).id}`);
    const { page } = opened;
    await page.getByRole('heading', { name: 'Related indicators' }).waitFor();
    await look(page, 'indicator-networks');
    await page.getByRole('link', { name: '45[.]9[.]148[.]0/24' }).click();
    await page.getByText('IPv4 network').waitFor();
  });

  it('sets the webhook of a feed, shows its key once and its state, and removes it', {
    tags: ['nightly'],
  }, async () => {
    opened = await asAdministrator('/settings/feeds');
    const { page } = opened;
    await page.getByRole('button', { name: 'Create feed' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Slug').fill('calling');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const row = page.getByRole('row', { name: /calling/ });
    await row.getByRole('button', { name: 'Webhook' }).click();
    await look(page, 'feed-webhook');
    await dialog.getByLabel('URL').fill('http://receiver.example/hooks/of-a-team');
    await dialog.getByRole('button', { name: 'Set webhook' }).click();
    await dialog.getByText(/^whsec_/).waitFor();
    await look(page, 'feed-webhook-key');
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    expect(await dialog.getByText(/^whsec_/).count()).toBe(1);
    expect(await dialog.getByRole('button').allInnerTexts()).toEqual(['Copy signing key', 'Done']);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await row.getByText('Webhook to receiver.example, nothing delivered yet').waitFor();
    await row.getByRole('button', { name: 'Webhook' }).click();
    await look(page, 'feed-webhook-set');
    await dialog.getByRole('button', { name: 'Remove webhook' }).click();
    await row.getByText('Webhook to').waitFor({ state: 'detached' });
  });

  it('sets bounds of a feed, and shows what they hold back', { tags: ['nightly'] }, async () => {
    const list = await startFeedServer();
    try {
      const command = async (...args: string[]) => {
        const { code, stdout, stderr } = await run(args, { env: service.env });
        if (code !== 0) throw new Error(stderr);
        return stdout;
      };
      const names = Array.from({ length: 600 }, (_, i) => `n${i}.guarded.test-feed.net\n`);
      const options = ['--kind', 'text', '--address', list.address, '--interval', 'never', '--ttl', 'ALL=7d'];
      await command('sources', 'add', 'Blocklist', ...options, '--tlp', 'CLEAR');
      list.answer({ body: names.join('') });
      await command('sources', 'run', 'Blocklist');
      opened = await asAnalyst('/settings/feeds');
      const { page } = opened;
      await page.getByRole('button', { name: 'Create feed' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Slug').fill('guarded');
      await dialog.getByLabel('Filters and options').fill('q=guarded');
      await dialog.getByLabel('Minimum entries').fill('500');
      await dialog.getByLabel('Minimum share').fill('90');
      await look(page, 'feed-bounds');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await page.getByText('At least 500 entries and 90 % of the day before').waitFor();
      list.answer({ body: names.slice(0, 400).join('') });
      const output = await command('sources', 'run', 'Blocklist');
      expect(output).toContain('Held back 200, not delisted: feeds guarded.');
      expect(await command('feeds', 'list')).toMatch(
        /200 entries held back since .*: missing from the list of Blocklist/,
      );
      await page.reload();
      await page.getByText(/200 entries held back since .*: missing from the list of Blocklist/).waitFor();
      await look(page, 'feeds-held-back');
      await page.goto(`${service.address}/sources`);
      await page.getByText('200 entries held back for saved feeds: guarded').waitFor();
      await look(page, 'sources-held-back');
      await page.goto(`${service.address}/settings/feeds`);
      await page
        .getByRole('row', { name: /guarded/ })
        .getByRole('button', { name: 'Edit' })
        .click();
      await dialog.getByLabel('Minimum entries').fill('');
      await dialog.getByLabel('Minimum share').fill('');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByText(/held back/).waitFor({ state: 'detached' });
    } finally {
      await list.close();
    }
  });

  it('looks up a pasted list from the landing page, and exports what is selected', {
    tags: ['nightly'],
  }, async () => {
    const known = await firstOf('type=DOMAIN&pageSize=1');
    opened = await asAnalyst('/');
    const { page } = opened;
    await page
      .getByRole('textbox', { name: 'Look up' })
      .fill(`http://www.${known.value}/a\n${known.value}\nunknown.com`);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/lookup#text=/);
    const table = page.getByRole('table');
    await page.getByText('Known 2', { exact: true }).waitFor();
    expect(await table.innerText()).toMatch(/Parent domain/);
    expect(await table.getByRole('row').count()).toBe(4);
    await page.getByText('Unknown 1').click();
    expect(await table.getByRole('row').count()).toBe(2);
    await page.getByText('All 3', { exact: true }).click();
    await page
      .getByRole('checkbox', { name: `Select ${known.value.replaceAll('.', '[.]')}`, exact: true })
      .click();
    await page.getByText('1 result selected').waitFor();
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('tipline-indicators-csv.csv');
    expect((await textOf(download)).trim().split('\r\n')).toHaveLength(2);
    await page.reload();
    await page.getByText('Unknown 1').waitFor();
  });

  it('enriches the other results where one fails, and says how many', { tags: ['nightly'] }, async () => {
    const list = (await (await api('/api/v1/indicators?type=DOMAIN&pageSize=5')).json()) as {
      data: { id: string; value: string }[];
    };
    const [, , , failing] = list.data;
    opened = await asAnalyst('/lookup');
    const { page } = opened;
    await page.route('**/app/indicators/*/enrich', (route) =>
      route
        .request()
        .url()
        .includes(failing?.id ?? '')
        ? route.fulfill({ status: 503, json: { code: 'unavailable', error: 'The database is away.' } })
        : route.fulfill({ json: { providers: ['abuseipdb'] } }),
    );
    const values = list.data.map(({ value }) => value).join('\n');
    await page.getByRole('textbox', { name: 'Look up' }).fill(values);
    await page.keyboard.press('Enter');
    await page.getByText('Known 5', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Enrich', exact: true }).click();
    await page.getByText(/indicators queued\./).waitFor();
    expect(await page.getByText(/indicators queued\./).innerText()).toMatch(
      /^[4-9] indicators queued\. 1 failed: The database is away\.$/,
    );
  });

  it('looks up several values that are pasted into the palette', { tags: ['nightly'] }, async () => {
    const known = await firstOf('type=SHA1&pageSize=1');
    opened = await asViewer('/actors');
    const { page } = opened;
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/Search indicators/).fill(`${known.value} unknown.com`);
    await page.getByRole('button', { name: /^Look up/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/lookup#text=/);
    await page.getByText('Known 1', { exact: true }).waitFor();
    await page.getByText('Unknown 1').waitFor();
  });

  it('looks up the values of a dropped file that is too long for a URL', { tags: ['nightly'] }, async () => {
    const known = await firstOf('type=DOMAIN&pageSize=1');
    opened = await asViewer('/lookup');
    const { page } = opened;
    const lines = [...Array.from({ length: 1_000 }, (_, i) => `h${i}.unknown.com`), known.value].join('\n');
    const transfer = await page.evaluateHandle((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], 'list.txt'));
      return data;
    }, lines);
    await page.getByRole('textbox', { name: 'Look up' }).dispatchEvent('drop', { dataTransfer: transfer });
    await page.getByText('Known 1', { exact: true }).waitFor();
    await page.getByText('Unknown 1,000').waitFor();
    await page.getByText('1 to 100 of 1,001').waitFor();
    expect(await page.getByRole('button', { name: 'Copy link' }).count()).toBe(0);
  });

  it('copies without the Clipboard API, and confirms it', { tags: ['nightly'] }, async () => {
    opened = await asViewer('/indicators');
    const { page } = opened;
    await page.evaluate(() => {
      (globalThis as { clipboard?: Clipboard }).clipboard = navigator.clipboard;
      Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true });
    });
    await page.getByRole('button', { name: /^Copy/ }).first().click();
    await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' });
    const copied = await page.evaluate(() =>
      (globalThis as unknown as { clipboard: Clipboard }).clipboard.readText(),
    );
    expect(copied).toMatch(/\[\.\]|^[0-9a-f]{32,}$/);
  });

  const sigmaOf = async (page: Opened['page']) => {
    await page.getByRole('button', { name: 'Sigma rules' }).click();
    await page.getByRole('link', { name: 'Download' }).click();
  };

  it('a viewer has no write actions, in the UI or by direct calls', async () => {
    const { id } = await firstOf('type=URL&pageSize=1');
    opened = await asViewer(`/indicators/${id}`);
    const { page } = opened;
    for (const name of ['Pin', 'Whitelist', 'Enrich now'])
      expect(await page.getByRole('button', { name }).count(), name).toBe(0);
    for (const name of ['Whitelist', 'Audit'])
      expect(await page.getByRole('link', { name }).count(), name).toBe(0);
    const statuses = await page.evaluate(async (indicator) => {
      const reason = 'because';
      const attempts: [string, string, object][] = [
        ['POST', `/app/indicators/${indicator}/pin`, { confidence: 1, reason }],
        ['POST', `/app/indicators/${indicator}/unpin`, { reason }],
        ['POST', `/app/indicators/${indicator}/whitelist`, { reason }],
        ['POST', `/app/indicators/${indicator}/enrich`, {}],
        ['POST', '/app/whitelist', { entry: 'a.example', reason }],
        ['POST', '/app/keys', {}],
        ['POST', '/app/users', {}],
        ['PATCH', '/app/roles/viewer', { tlpCeiling: 'RED' }],
        ['POST', '/app/imports?fileName=a&source=b', {}],
      ];
      const answers = attempts.map(([method, url, body]) =>
        fetch(url, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      );
      return (await Promise.all(answers)).map(({ status }) => status);
    }, id);
    expect(new Set(statuses)).toEqual(new Set([403]));
    await page.goto(`${service.address}/audit`);
    await page.getByText('Requires the role administrator; your role is viewer.').waitFor();
  });

  it('the audit log shows the actions of these tests, and exports them as CSV', {
    tags: ['nightly'],
  }, async () => {
    opened = await asAdministrator('/audit');
    const { page } = opened;
    const actions = [
      'user.create',
      'session.create',
      'session.refuse',
      'key.create',
      'key.rotate',
      'key.revoke',
      'confidence.pin',
      'confidence.unpin',
      'indicator.enrich',
      'whitelist.add',
      'whitelist.remove',
      'import.start',
      'import.end',
      'provider.change',
    ];
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV', exact: true }).click(),
    ]);
    const csv = await textOf(download);
    expect(actions.filter((action) => !csv.includes(`,${action},`))).toEqual([]);
    for (const [label, kind] of [
      ['Feed', 'feed'],
      ['Backup, restore, move', 'store'],
    ]) {
      await page.getByRole('combobox', { name: 'Action' }).click();
      await page.getByRole('option', { name: label, exact: true }).click();
      await page.waitForURL(new RegExp(`action=${kind}$`));
    }
    await page.getByText('No matching entries').waitFor();
    await page.goto(`${service.address}/audit`);
    await page.getByLabel('User').fill(emailOf('analyst').slice(0, 5));
    await page.waitForURL(/who=analy$/);
    await until(
      'only theirs are shown',
      async () => (await page.getByRole('row', { name: /administrator@/ }).count()) === 0,
    );
    await page
      .getByRole('row', { name: /import\.end/ })
      .first()
      .waitFor();
    await page.locator('a[href^="/imports/"]').first().waitFor();
    await page.getByLabel('From').pressSequentially('01022026');
    await page.waitForURL(/since=2026-/);
    await page
      .getByRole('row', { name: /import\.end/ })
      .first()
      .waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('an administrator adds a user, changes the role, and disables the account', {
    tags: ['nightly'],
  }, async () => {
    opened = await asAdministrator('/settings/users');
    const { page } = opened;
    await page.getByRole('button', { name: 'Add user' }).click();
    await page.getByLabel('Name').fill('Somebody new');
    await page.getByRole('dialog').getByLabel('E-mail').fill(emailOf('new'));
    await page.getByRole('textbox', { name: 'Temporary password' }).fill(FIRST_PASSWORD);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const row = page.getByRole('row', { name: /new@example\.org/ });
    await row.getByLabel(/Role of/).click();
    await page.getByRole('option', { name: 'Viewer' }).click();
    await confirm(page, 'Change role');
    await until(
      'the role is changed',
      async () => (await row.getByLabel(/Role of/).inputValue()) === 'Viewer',
    );
    const theirs = await openPage();
    await signIn(theirs.page, service.address, emailOf('new'), FIRST_PASSWORD);
    await theirs.page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
    await look(theirs.page, 'new-password');
    // No page leads round it.
    await theirs.page.goto(`${service.address}/actors`);
    await theirs.page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
    await theirs.page.getByRole('textbox', { name: 'Current password' }).fill(FIRST_PASSWORD);
    await theirs.page.getByRole('textbox', { name: 'New password' }).fill(PASSWORD);
    await theirs.page.getByRole('button', { name: 'Change password' }).click();
    await theirs.page.getByRole('heading', { name: 'Actors', exact: true }).waitFor();
    await row.getByRole('button', { name: 'Disable new@example.org' }).click();
    await confirm(page, 'Disable');
    await row.getByText('Disabled').waitFor();
    await theirs.page.goto(`${service.address}/actors`);
    await theirs.page.waitForURL(/sign-in/);
  });

  it('a failed change of a user keeps its dialog, with the error and the input', {
    tags: ['nightly'],
  }, async () => {
    const email = await addUser(service, 'viewer', 'kept');
    opened = await asAdministrator('/settings/users');
    const { page } = opened;
    const failed = { code: 'unavailable', error: 'The database is not available.' };
    await page.route('**/app/users/*', (route) => route.fulfill({ status: 503, json: failed }));
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: `Set password of ${email}` }).click();
    await dialog.getByRole('textbox', { name: 'Password' }).fill(FIRST_PASSWORD);
    await dialog.getByRole('button', { name: 'Set password' }).click();
    await expectText(dialog.getByRole('alert'), failed.error);
    expect(await dialog.getByRole('textbox', { name: 'Password' }).inputValue()).toBe(FIRST_PASSWORD);
    await look(page, 'set-password-failed');
    await page.unroute('**/app/users/*');
    await confirm(page, 'Set password');
    await page.route('**/app/users/*', (route) => route.fulfill({ status: 503, json: failed }));
    await page.getByRole('button', { name: `Disable ${email}` }).click();
    await dialog.getByRole('button', { name: 'Disable', exact: true }).click();
    await expectText(dialog.getByRole('alert'), failed.error);
    await page.unroute('**/app/users/*');
    await confirm(page, 'Disable');
    await page.getByRole('row', { name: email }).getByText('Disabled').waitFor();
  });

  it('sets up two-factor authentication with a code in two halves, and takes a backup code in lower case', {
    tags: ['nightly'],
  }, async () => {
    const email = await addUser(service, 'viewer', 'careful');
    opened = await openPage();
    const { page } = opened;
    await signIn(page, service.address, email);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto(`${service.address}/settings/profile`);
    await page.getByRole('textbox', { name: 'Your password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Set up' }).click();
    const secret = await page.getByTestId('totp-secret').innerText();
    const [backupCode = ''] = (await page.locator('pre').innerText()).split('\n');
    const code = totpAt(new Date(), `otpauth://totp/Tipline?secret=${secret}`);
    await page.getByLabel('Enter the current code').fill(`${code.slice(0, 3)} ${code.slice(3)}`);
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('button', { name: 'Turn off' }).waitFor();
    const theirs = await openPage();
    await signIn(theirs.page, service.address, email);
    await theirs.page.getByLabel('Code').fill(backupCode.replace('-', '').toLowerCase());
    await theirs.page.getByRole('button', { name: 'Continue' }).click();
    await theirs.page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('reports unknown pages and missing objects', async () => {
    opened = await asViewer('/indicators');
    const { page } = opened;
    await page.goto(`${service.address}/indicators/00000000-0000-4000-8000-000000000000`);
    await page.getByText('There is no such indicator.').waitFor();
    expect((await page.goto(`${service.address}/indicators/mistyped/further`))?.status()).toBe(404);
    await page.getByText('Page not found').waitFor();
    const program = await service.get('/no-such-thing');
    expect([program.status, await program.json()]).toEqual([404, { code: 'not_found', error: 'Not found.' }]);
  });
});

async function expectText(
  locator: { innerText(): Promise<string>; waitFor(): Promise<void> },
  expected: string | RegExp,
): Promise<void> {
  await locator.waitFor();
  await until(
    String(expected),
    async () => {
      const text = await locator.innerText();
      return typeof expected === 'string' ? text.includes(expected) : expected.test(text);
    },
    15_000,
  );
}

async function textOf(download: { createReadStream(): Promise<NodeJS.ReadableStream> }): Promise<string> {
  let text = '';
  for await (const chunk of await download.createReadStream()) text += chunk;
  return text;
}
