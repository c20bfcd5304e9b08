import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { start } from '../support/processes.ts';
import { createKey, type Service, serve } from '../support/service.ts';
import { csvOf, inputFile } from './inputs.ts';

describe('tipline export', () => {
  let service: Service;
  let key: string;

  beforeAll(async () => {
    service = await serve();
    key = await createKey(service);
    await service.command(
      'import',
      inputFile('x.csv', csvOf('export', 5000)),
      '--source',
      'Test',
      '--tlp',
      'GREEN',
    );
  });

  const exported = (...args: string[]) => service.command('export', ...args);

  it('writes the same as the API, beside a running server', async () => {
    const { code, stdout, stderr } = await exported('--format', 'ndjson');
    const answer = await service.get('/api/v1/indicators?format=ndjson', key);
    expect(code).toBe(0);
    expect(stdout).toBe(await answer.text());
    expect(stderr).toContain('5000 indicators written.');
  });

  it('applies filters and the TLP ceiling', async () => {
    const types = ['--type', 'domain', '--type', 'ipv4'];
    expect((await exported('--format', 'txt', '--q', 'export7.', ...types)).stdout).toBe(
      'export7.test-feed.net\n',
    );
    expect((await exported('--format', 'txt', '--tlp-ceiling', 'CLEAR')).stdout).toBe('');
    expect((await exported('--format', 'txt', '--type', 'ipv4,ipv6')).stdout).toBe('');
  });

  it('replaces the output file, keeps its mode, and leaves no temporary file', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'list.csv');
    writeFileSync(file, 'the old one');
    chmodSync(file, 0o644);
    const { code, stdout } = await exported('--format', 'csv', '-o', file);
    expect([code, stdout]).toEqual([0, '']);
    expect(readFileSync(file, 'utf8').split('\r\n')).toHaveLength(5002);
    expect(readdirSync(directory)).toEqual(['list.csv']);
    expect(statSync(file).mode & 0o777).toBe(0o644);
  });

  it('reports what it skipped', { tags: ['nightly'] }, async () => {
    await service.command('import', inputFile('y.csv', 'ioc,type\nGlobal\\m,mutex\n'), '--source', 'Test');
    const { stderr } = await exported('--format', 'rpz', '-o', join(temporaryDirectory(), 'zone'));
    expect(stderr).toContain('5000 indicators written. Skipped: 1 MUTEX.\n');
  });

  it('limits the number of lines, and reports how many are beyond the limit', async () => {
    const args = ['--format', 'txt', '--type', 'DOMAIN', '--style', 'fortinet', '--limit', '500'];
    const { code, stdout, stderr } = await exported(...args);
    expect([code, stdout.split('\n').length - 1]).toEqual([0, 500]);
    // Each domain has two lines.
    expect(stderr).toContain('250 indicators written. Beyond the limit: 4750.\n');
  });

  it.each([
    [['--format', 'nonsense'], 'csv'],
    [[], '--format'],
    [['--format', 'csv', '--style', 'fortinet'], 'txt'],
    [['--format', 'csv', '--type', 'DOMAIN,NONSENSE'], 'IPV4'],
    [['--format', 'csv', '--since', 'yesterday'], '2026-01-31'],
    [['--format', 'csv', '--actor', 'APT29'], 'UUID'],
    [['--format', 'txt', '--style', 'fortinet'], 'one kind of value'],
    [['--format', 'txt', '--limit', '0'], '10000000'],
    [['--format', 'txt', '--order', 'newest'], 'limit'],
    [['--format', 'csv', '--no-collapse'], 'txt'],
  ])('rejects %j and names the allowed values', async (args, allowed) => {
    const { code, stdout, stderr } = await exported(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(allowed);
  });

  it('leaves nothing behind when the output path cannot be written', async () => {
    const { code, stderr } = await exported('--format', 'csv', '-o', '/nonexistent/list.csv');
    expect(code).toBe(2);
    expect(stderr).toContain('/nonexistent/list.csv');
    expect(existsSync('/nonexistent')).toBe(false);
  });

  it('exits quietly when its reader closes the pipe', async () => {
    const command = `"$0" "$1" export --format csv | head -1`;
    const { stdout, stderr } = await start(
      'sh',
      ['-c', command, process.execPath, inject('productMain') ?? ''],
      {
        env: service.env,
      },
    ).exit;
    expect([stdout.split('\n').length, stderr]).toEqual([2, `Store: ${service.directory}\n`]);
  });
});
