import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/processes.ts';
import { createKey, type Service, serve } from '../support/service.ts';

const LIST = '/api/v1/indicators';

interface KeyObject {
  id: string;
  key?: string;
  name: string;
  state: string;
  scopes: string[];
  tlpCeiling: string;
  networks: string[];
  expiresAt: string | null;
  lastUsedAt: string | null;
}

describe('tipline keys, beside a running server on the embedded database', () => {
  let service: Service;

  beforeAll(async () => {
    service = await serve();
  });

  async function json<T = KeyObject>(...args: string[]): Promise<T> {
    const { stdout } = await service.command('keys', ...args, '--json');
    return JSON.parse(stdout) as T;
  }

  const status = async (key = '', path = LIST) => (await service.get(path, key)).status;

  it('creates a key that works at once', async () => {
    expect(await status(await createKey(service))).toBe(200);
  });

  it('prints a created key as the only text that begins with tip_', async () => {
    const { stdout } = await service.command('keys', 'create', '--name', 'shown');
    expect(stdout.match(/tip_\S*/g)).toEqual([expect.stringMatching(/^tip_[A-Za-z0-9_-]{40,}$/)]);
  });

  it('explains that a key without a TLP ceiling reads everything', async () => {
    const { stdout } = await service.command('keys', 'create', '--name', 'no ceiling');
    expect(stdout).toMatch(/TLP:RED included/);
  });

  it('explains that a key of feeds without a TLP ceiling reads up to the ceilings of these', async () => {
    await service.command('feeds', 'create', 'edge', '--format', 'txt', '--tlp-ceiling', 'GREEN');
    const { stdout } = await service.command('keys', 'create', '--name', 'edge', '--feed', 'edge');
    expect(stdout).not.toContain('TLP:RED');
    expect(stdout).toContain('up to the TLP ceilings of its feeds');
  });

  it('creates a key with all requested properties', async () => {
    const key = await json(
      ...['create', '--name', 'soar', '--scope', 'actors:read', '--scope', 'campaigns:read'],
      ...['--expires', '90d', '--tlp-ceiling', 'amber+strict', '--network', '10.0.0.0/8', '--network', '::1'],
    );
    expect(key).toMatchObject({
      name: 'soar',
      state: 'usable',
      scopes: ['actors:read', 'campaigns:read'],
      tlpCeiling: 'AMBER_STRICT',
      networks: ['10.0.0.0/8', '::1'],
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });

  it('creates a key that expires after its lifetime', async () => {
    const key = await createKey(service, '--expires', '1s');
    await until('the key to end', async () => (await status(key)) === 401);
  });

  it('lists keys by name', async () => {
    await createKey(service);
    const { stdout } = await service.command('keys', 'list');
    expect(stdout).toMatch(/test {2}\(.{4}…\) {2}usable/);
    expect(stdout).toMatch(/ {2}created \d{4}-\d\d-\d\d \d\d:\d\dZ · expires never/);
  });

  it('lists no key material', async () => {
    await createKey(service);
    const outputs = [await service.command('keys', 'list'), await service.command('keys', 'list', '--json')];
    expect(outputs.map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain('tip_');
  });

  it('invalidates a revoked key promptly', async () => {
    const { id, key } = await json('create', '--name', 'to revoke');
    await service.command('keys', 'revoke', id);
    await until('the key to be dead', async () => (await status(key)) === 401);
  });

  it('shows the state of a revoked key', async () => {
    await json('create', '--name', 'revoked by name');
    expect(await json('revoke', 'revoked by name')).toMatchObject({ state: 'revoked' });
  });

  it('prints no key material on revoke', async () => {
    const { id } = await json('create', '--name', 'revoked quietly');
    const { stdout, stderr } = await service.command('keys', 'revoke', id);
    expect(stdout + stderr).not.toContain('tip_');
  });

  it('names the network that one with host bits may stand for', async () => {
    const { code, stderr } = await service.command(
      'keys',
      'create',
      '--name',
      'x',
      '--network',
      '10.0.0.1/8',
    );
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('10.0.0.1/8 has host bits: write 10.0.0.0/8, or 10.0.0.1 for the one address.'),
    ]);
  });

  it('exits with 1 for an unknown key', async () => {
    const { code, stderr } = await service.command('keys', 'revoke', 'nobody');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('There is no API key with the id or name "nobody".\n'),
    });
  });

  it('keeps the old key valid during the rotation overlap', async () => {
    const { id, key: old } = await json('create', '--name', 'rotated slowly');
    const { key: fresh } = await json('rotate', id);
    expect([await status(old), await status(fresh)]).toEqual([200, 200]);
  });

  it('expires the old key after the overlap, not the new one', async () => {
    const { id, key: old } = await json('create', '--name', 'rotated fast');
    const { key: fresh } = await json('rotate', id, '--overlap', '2s');
    await until('the old key to end', async () => (await status(old)) === 401);
    expect(await status(fresh)).toBe(200);
  });

  it('prints only the new key on rotate', async () => {
    const { id } = await json('create', '--name', 'rotated for people');
    const { stdout } = await service.command('keys', 'rotate', id);
    expect(stdout.match(/tip_/g)).toHaveLength(1);
  });

  it('refuses to rotate an ambiguous name, and lists the ids', async () => {
    const ids = await Promise.all(
      ['one', 'two'].map(async () => (await json('create', '--name', 'of one name')).id),
    );
    const { code, stderr } = await service.command('keys', 'rotate', 'of one name');
    expect(code).toBe(1);
    for (const id of ids) expect(stderr).toContain(id);
  });

  it.each(['a\nb', '\u001b[31mred', 'x'.repeat(201), ' '])('rejects the name %j', async (name) => {
    expect((await service.command('keys', 'create', '--name', name)).code).toBe(2);
  });

  it('refuses to rotate a revoked key', async () => {
    const { id } = await json('create', '--name', 'too late');
    await service.command('keys', 'revoke', id);
    expect((await service.command('keys', 'rotate', id)).code).toBe(1);
  });

  it('shows when a key was last used', async () => {
    const before = Date.now();
    const { id, key } = await json('create', '--name', 'used');
    await status(key);
    const lastUsed = await until(
      'lastUsedAt',
      async () => (await json<KeyObject[]>('list')).find((listed) => listed.id === id)?.lastUsedAt,
    );
    expect(Date.parse(lastUsed)).toBeGreaterThanOrEqual(before);
  });

  it('persists pending last-use times on shutdown', { tags: ['nightly'] }, async () => {
    const other = await serve();
    const key = await createKey(other);
    await other.get(LIST, key);
    await other.stop();
    const { stdout } = await other.command('keys', 'list', '--json');
    expect((JSON.parse(stdout) as KeyObject[])[0]?.lastUsedAt).not.toBeNull();
  });
});
