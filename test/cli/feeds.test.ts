import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../support/processes.ts';
import { type Service, serve } from '../support/service.ts';

describe('tipline feeds, beside a running server on the embedded database', () => {
  let service: Service;

  beforeAll(async () => {
    service = await serve();
    const input = Array.from({ length: 600 }, (_, i) => `h${i}.evil.com`).join('\n');
    const args = ['import', '-', '--format', 'text', '--source', 'List', '--confidence', '80'];
    const imported = await run(args, { env: service.env, input });
    if (imported.code !== 0) throw new Error(imported.stderr);
  });
  afterAll(() => service?.stop());

  const feeds = async (...args: string[]) => run(['feeds', ...args], { env: service.env });

  it('creates a feed, and a key that opens nothing else', async () => {
    const made = await feeds('create', 'edge', '--format', 'txt', '--query', 'type=DOMAIN&minConfidence=70');
    expect(made.code).toBe(0);
    expect(made.stdout).toContain('Read it at http://YOUR-ADDRESS/api/v1/feeds/edge');
    expect(made.stdout).toContain('TLP:RED included');
    expect(made.stdout).toContain('up to TLP:RED · 600 entries now\n');
    const key = await run(['keys', 'create', '--name', 'firewall', '--feed', 'edge', '--json'], {
      env: service.env,
    });
    const { key: secret } = JSON.parse(key.stdout) as { key: string };
    const response = await service.get('/api/v1/feeds/edge', secret);
    expect((await response.text()).trim().split('\n')).toHaveLength(600);
    expect((await service.get('/api/v1/indicators', secret)).status).toBe(403);
    const { stdout } = await run(['keys', 'list'], { env: service.env });
    expect(stdout).toMatch(/firewall[^\n]*\n {2}feeds edge · up to TLP:RED/);
  });

  it.each([
    [{ TIPLINE_PUBLIC_ADDRESS: 'https://tipline.example.org/' }, 'https://tipline.example.org'],
    [{ TIPLINE_TLS_CERT: '/etc/tls.crt', TIPLINE_TLS_KEY: '/etc/tls.key' }, 'https://YOUR-ADDRESS'],
  ])('shows the address of a feed with %j', async (settings, address) => {
    const env = { ...service.env, ...settings };
    const { stdout } = await run(['feeds', 'change', 'edge', '--description', 'shown'], { env });
    expect(stdout).toContain(`Read it at ${address}/api/v1/feeds/edge\n`);
  });

  it('changes what is given, and lists feeds', async () => {
    await feeds('create', 'other', '--format', 'csv', '--tlp-ceiling', 'green', '--name', 'Other');
    expect((await feeds('change', 'other', '--query', 'limit=5')).code).toBe(0);
    const [, other] = JSON.parse((await feeds('list', '--json')).stdout) as object[];
    expect(other).toMatchObject({
      slug: 'other',
      name: 'Other',
      format: 'csv',
      query: 'limit=5',
      tlpCeiling: 'GREEN',
    });
    expect((await feeds('list')).stdout).toContain(
      'other  Other\n  csv · limit=5 · up to TLP:GREEN · 0 entries now',
    );
  });

  it('counts the entries that a feed has now', { tags: ['nightly'] }, async () => {
    const entries = async (format: string, query: string, ...more: string[]) => {
      const made = await feeds('create', 'counted', '--format', format, '--query', query, '--json', ...more);
      await feeds('remove', 'counted');
      return (JSON.parse(made.stdout) as { entries: number }).entries;
    };
    expect(await entries('csv', '')).toBe(600);
    expect(await entries('csv', 'limit=7')).toBe(7);
    expect(await entries('csv', 'q=h1.evil')).toBe(1);
    expect(await entries('csv', '', '--tlp-ceiling', 'green')).toBe(0);
    // Its format writes addresses only.
    expect(await entries('txt', 'style=ipset')).toBe(0);
    const listed = JSON.parse((await feeds('list', '--json')).stdout) as { slug: string; entries: number }[];
    expect(listed.find(({ slug }) => slug === 'edge')?.entries).toBe(600);
  });

  it('creates a feed from a preset, with parameters of its own', async () => {
    const made = await feeds(
      'create',
      'names',
      '--preset',
      'paloalto-domain',
      '--query',
      'minConfidence=70&limit=9',
      '--json',
    );
    expect(JSON.parse(made.stdout)).toMatchObject({
      format: 'txt',
      query: 'style=paloalto&types=DOMAIN&minConfidence=70&limit=9',
    });
    await feeds('remove', 'names');
  });

  it('lists the presets', async () => {
    expect((await feeds('presets')).stdout).toContain('nftables  nftables: sets ipv4 and ipv6');
    expect(JSON.parse((await feeds('presets', '--json')).stdout)).toContainEqual(
      expect.objectContaining({ name: 'squid', format: 'txt', query: 'style=squid' }),
    );
  });

  it('sets bounds, and removes them with none', { tags: ['nightly'] }, async () => {
    const bounds = ['--min-entries', '500', '--min-share', '80'];
    expect((await feeds('create', 'guarded', '--format', 'csv', ...bounds)).code).toBe(0);
    const words = 'at least 500 entries · at least 80 % of an earlier day';
    expect((await feeds('list')).stdout).toContain(words);
    const { stdout } = await feeds('change', 'guarded', '--min-entries', 'none', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ minEntries: null, minShare: 80 });
    await feeds('remove', 'guarded');
  });

  it('removes a feed', async () => {
    await feeds('create', 'gone', '--format', 'csv');
    expect((await feeds('remove', 'gone')).code).toBe(0);
    expect((await feeds('list', '--json')).stdout).not.toContain('gone');
  });

  it.each([
    [['create', 'x'], 2, '--format'],
    [['create', 'x', '--preset', 'none'], 2, 'Allowed choices are paloalto-ip, '],
    [['create', 'x', '--preset', 'squid', '--format', 'csv'], 2, 'cannot be used with'],
    [['create', 'x', '--format', 'csv', '--query', 'typ=URL'], 2, 'Unknown query parameter "typ"'],
    [['create', 'X', '--format', 'csv'], 2, 'lower-case'],
    [['create', 'edge', '--format', 'csv'], 1, 'There is a feed edge already.'],
    [['change', 'none', '--name', 'x'], 1, 'There is no feed none.'],
    [['change', 'edge', '--min-entries', '0'], 2, 'Allowed: a whole number from 1, or none.'],
    [['change', 'edge', '--min-share', '101'], 2, 'Allowed: a whole number from 1 to 100, or none.'],
    [['remove', 'none'], 1, 'There is no feed none.'],
  ])('explains %j', async (args, expected, words) => {
    const { code, stderr } = await feeds(...args);
    expect(code).toBe(expected);
    expect(stderr).toContain(words);
  });

  it('a key cannot have scopes and feeds', async () => {
    const args = ['keys', 'create', '--name', 'x', '--feed', 'edge', '--scope', 'actors:read'];
    const { code, stderr } = await run(args, { env: service.env });
    expect(code).toBe(2);
    expect(stderr).toContain('cannot be used with');
  });
});
