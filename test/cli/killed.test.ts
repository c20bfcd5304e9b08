import { describe, expect, it } from 'vitest';
import { tipline, until } from '../support/processes.ts';
import { createKey, type Service, SOUND, serve, storeFacts, total, withStore } from '../support/service.ts';
import { csvOf, inputFile, linkedBundle } from './inputs.ts';

const ROWS = 3_000;
/** More than are written before a request has seen the first ones. */
const MANY_ROWS = 4 * ROWS;
const GONE = 'The process that held the data directory has gone away; try again.\n';

function startImport(service: Service, file: string) {
  return tipline(['import', file, '--source', 'Killed', '--json'], { env: service.env });
}

/** Some batches are in, others are not yet. */
async function inTheMiddle(service: Service, key: string, before: number): Promise<void> {
  await until('some batches to be in', async () => (await total(service, key)) > before);
}

describe('kill -9 of the server during an import', () => {
  it('stops the import with a clear message, and leaves neither locks nor damaged data', {
    tags: ['nightly'],
  }, async () => {
    let service = await serve();
    const { directory } = service;
    const key = await createKey(service);
    for (const round of [1, 2]) {
      const before = await total(service, key);
      const file = inputFile(`round${round}.csv`, csvOf(`round${round}-`, ROWS));
      const importing = startImport(service, file);
      await inTheMiddle(service, key, before);
      service.signal('SIGKILL');
      const { code, stderr } = await importing.exit;
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(GONE) });
      await service.exit;
      service = await serve({ TIPLINE_DATA_DIR: directory });
      expect((await withStore(directory, storeFacts)).faults).toEqual(SOUND);
      const again = await startImport(service, file).exit;
      expect({ code: again.code, total: await total(service, key) }).toEqual({
        code: 0,
        total: before + ROWS,
      });
    }
    await service.stop();
    expect(await withStore(directory, storeFacts)).toMatchObject({ indicators: 2 * ROWS, faults: SOUND });
  });
});

describe('kill -9 of an import', () => {
  it('does not affect the server, and repeating the import completes it', { tags: ['nightly'] }, async () => {
    const service = await serve();
    const key = await createKey(service);
    const file = inputFile('linked.json', linkedBundle('linked', MANY_ROWS));
    const importing = startImport(service, file);
    await inTheMiddle(service, key, 0);
    importing.signal('SIGKILL');
    await importing.exit;
    expect(await total(service, key)).toBeLessThan(MANY_ROWS);
    expect((await startImport(service, file).exit).code).toBe(0);
    expect(await total(service, key)).toBe(MANY_ROWS);
    await service.stop();
    expect((await withStore(service.directory, storeFacts)).faults).toEqual(SOUND);
  });
});

describe('SIGTERM to the server during an import', () => {
  it('stops the server cleanly, and the import with a clear message', async () => {
    const service = await serve();
    const key = await createKey(service);
    // More than is written while the server lets its worker finish.
    const importing = startImport(service, inputFile('stopped.csv', csvOf('stopped', 20 * ROWS)));
    await inTheMiddle(service, key, 0);
    const stopped = await service.stop();
    const { code, stderr } = await importing.exit;
    expect({ server: stopped.code, code, stderr }).toEqual({
      server: 0,
      code: 1,
      stderr: expect.stringContaining(GONE),
    });
  });
});
