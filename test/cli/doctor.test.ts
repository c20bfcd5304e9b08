import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/doctor/finding.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { hasPostgres, nodeSettings } from '../support/postgres-nodes.ts';
import { run } from '../support/processes.ts';
import { loadDump, releases, unpack } from '../support/releases.ts';
import { emptyStore } from '../support/service.ts';

/** Depends on the machine. */
const isOfStore = ({ check }: Finding) => check !== 'clock' && check !== 'disk space';

it('tipline doctor exits with 2 for warnings only, and with 1 for errors', async () => {
  const env = { TIPLINE_DATA_DIR: emptyStore() };
  const warned = await run(['doctor', '--json'], { env });
  const findings = (JSON.parse(warned.stdout) as Finding[]).filter(isOfStore);
  expect(findings.filter(({ status }) => status !== 'ok')).toMatchObject([
    { check: 'backup', status: 'warning' },
  ]);
  expect(warned.code).toBe(2);
  const wrong = await run(['doctor'], { env: { ...env, PORT: 'http' } });
  expect([wrong.code, wrong.stdout]).toEqual([
    1,
    expect.stringMatching(/^error {4}configuration: .*PORT must be/s),
  ]);
});

it('tipline doctor ends each line with one full stop', async () => {
  const { stdout } = await run(['doctor'], { env: { TIPLINE_DATA_DIR: temporaryDirectory() } });
  expect(stdout).toMatch(/^error {4}database: There is no database in .* make one\.$/m);
});

it('tipline doctor finds nothing wrong with a store that has a backup', { tags: ['nightly'] }, async () => {
  const env = { TIPLINE_DATA_DIR: emptyStore() };
  await run(['backup', join(temporaryDirectory(), 'backup')], { env });
  const { stdout } = await run(['doctor', '--json'], { env });
  expect((JSON.parse(stdout) as Finding[]).filter(isOfStore).filter(({ status }) => status !== 'ok')).toEqual(
    [],
  );
});

it('tipline doctor names the credentials that another TIPLINE_SECRET encrypted', {
  tags: ['nightly'],
}, async () => {
  const env = { TIPLINE_DATA_DIR: emptyStore() };
  await run(['providers', 'set', 'shodan', '--key', '-'], { env, input: 'hidden-word\n' });
  const credentials = async (settings: Record<string, string>) => {
    const { stdout } = await run(['doctor', '--json'], { env: { ...env, ...settings } });
    expect(stdout).not.toContain('hidden-word');
    return (JSON.parse(stdout) as Finding[]).find(({ check }) => check === 'credentials');
  };
  expect(await credentials({})).toMatchObject({ status: 'ok' });
  expect(await credentials({ TIPLINE_SECRET: 'x'.repeat(40) })).toMatchObject({
    status: 'error',
    message: 'Stored credentials that cannot be decrypted: provider shodan',
  });
});

describe.each(releases)('tipline doctor before an upgrade from %s', (release) => {
  const ofSchema = async (env: Record<string, string>) => {
    const { stdout } = await run(['doctor', '--json'], { env });
    return (JSON.parse(stdout) as Finding[])
      .filter(({ check }) => ['schema', 'extensions', 'indexes', 'triggers'].includes(check))
      .map(({ check, status }) => [check, status]);
  };
  const expected = [
    ['schema', 'warning'],
    ['extensions', 'ok'],
    ['indexes', 'ok'],
    ['triggers', 'ok'],
  ];

  it('only warns of the older schema of an embedded database', { tags: ['nightly'] }, async () => {
    expect(await ofSchema({ TIPLINE_DATA_DIR: unpack(release) })).toEqual(expected);
  });

  it.skipIf(!hasPostgres)('only warns of that of PostgreSQL', async () => {
    const { url, drop } = await loadDump(release);
    expect(await ofSchema(nodeSettings(url))).toEqual(expected);
    await drop();
  });
});
