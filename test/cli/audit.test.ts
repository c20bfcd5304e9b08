import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, serve } from '../support/service.ts';

interface Entry {
  at: string;
  who: string;
  action: string;
  objectKind: string;
  objectId: string;
}

describe('tipline audit list, beside a running server on the embedded database', () => {
  let service: Service;
  beforeAll(async () => {
    service = await serve();
    const { command } = service;
    await command('feeds', 'create', 'edge', '--format', 'txt');
    await command('keys', 'create', '--name', 'first');
    await command('feeds', 'change', 'edge', '--name', 'Edge');
    await command('feeds', 'change', 'edge', '--description', 'shown');
  });
  afterAll(() => service.stop());

  const list = async (...args: string[]) => {
    const { code, stdout, stderr } = await service.command('audit', 'list', ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: `Store: ${service.directory}\n` });
    return stdout;
  };
  const entries = async (...args: string[]): Promise<Entry[]> => JSON.parse(await list('--json', ...args));

  it('lists entries, the latest first', async () => {
    expect((await entries()).map(({ action }) => action)).toEqual([
      'feed.change',
      'feed.change',
      'key.create',
      'feed.create',
    ]);
    const lines = (await list()).split('\n');
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}feed\.change {2}feed /);
    expect(lines[1]).toMatch(/^ {2}cli:/);
    expect(lines[3]).toMatch(/^ {2}after: .*"shown"/);
  });

  it('has the filters of the page', { tags: ['nightly'] }, async () => {
    const actions = async (...args: string[]) => (await entries(...args)).map(({ action }) => action);
    expect(await actions('--action', 'key')).toEqual(['key.create']);
    expect(await actions('--action', 'feed.create')).toEqual(['feed.create']);
    expect(await actions('--who', 'nobody')).toEqual([]);
    expect(await actions('--who', 'CLI:')).toHaveLength(4);
    const [latest, , key] = await entries();
    expect(await actions('--object', String(key?.objectId))).toEqual(['key.create']);
    expect(await actions('--since', String(latest?.at))).toEqual(['feed.change']);
    expect(await actions('--until', String(key?.at))).toEqual(['feed.create']);
  });

  it('says that there are more entries, or none', async () => {
    expect(await list('--limit', '1')).toMatch(/\n1 of 4 entries; --limit sets how many are shown\.\n$/);
    expect(await list('--who', 'nobody')).toBe('There are no matching entries.\n');
  });

  it.each([
    [['--since', 'yesterday'], 'Allowed: a time such as'],
    [['--limit', '0'], 'Allowed: a whole number from 1'],
  ])('explains %j', async (args, words) => {
    const { code, stderr } = await service.command('audit', 'list', ...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  });
});
