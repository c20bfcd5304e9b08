import http from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSpool, type Spool } from '../../src/exports/spool.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';

const ROWS = 6000;
/** More than the buffers between the service and a client that does not read. */
const LONG = 'x'.repeat(2000);

onEveryEngine((engine) => {
  let harness: Harness;
  let address: string;
  let authorization: string;

  const listen = async (rows: number, spool?: Spool) => {
    harness = await startHarness(engine, spool ? { spool } : {});
    await harness.load(
      Array.from({ length: rows }, (_, i) => indicatorRecord('URL', `http://d${i}.example/${LONG}`)),
    );
    address = await harness.app.listen({ port: 0, host: '127.0.0.1' });
  };
  const useNewKey = async () => {
    authorization = `Bearer ${await harness.newKey()}`;
  };
  const ask = (path: string) => fetch(address + path, { headers: { authorization } });

  /** An answer whose body is left where it is. */
  const unread = (path: string) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      http.get(address + path, { agent: false, headers: { authorization } }, resolve).on('error', reject);
    });

  it('an export that cannot be completed aborts the transfer', { tags: ['nightly'] }, async () => {
    const small = openSpool(temporaryDirectory(), 2_000_000);
    await listen(ROWS / 3, small);
    await useNewKey();
    const answer = await ask('/api/v1/indicators?format=csv');
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
    await small.close();
    await harness.close();
  });

  describe('the transfer of an export', () => {
    beforeAll(() => listen(ROWS));
    beforeEach(useNewKey);
    afterAll(() => harness.close());

    it('is complete for the next client after another one disconnects midway', async () => {
      (await unread('/api/v1/indicators?format=csv')).destroy();
      const text = await (await ask('/api/v1/indicators?format=csv')).text();
      expect(text.split('\r\n')).toHaveLength(ROWS + 2);
    });

    it('holds no database connection while clients read slowly', { tags: ['nightly'] }, async () => {
      const slow = await Promise.all(
        Array.from({ length: 12 }, (_, i) => unread(`/api/v1/indicators?format=csv&minConfidence=${i}`)),
      );
      const key = authorization.slice('Bearer '.length);
      const answer = await harness.get('/api/v1/indicators?pageSize=1&q=d17.', { key });
      expect(answer.json()).toMatchObject({ total: 1 });
      for (const response of slow) response.destroy();
    });

    it('is limited to 16 concurrent transfers per key, leaving capacity for other keys', {
      tags: ['nightly'],
    }, async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => unread(`/api/v1/indicators?format=csv&minConfidence=${20 + i}`)),
      );
      const refused = answers.filter(({ statusCode }) => statusCode === 429);
      expect(answers.length - refused.length).toBe(16);
      expect(refused[0]?.headers['retry-after']).toBe('5');
      expect(refused[0]?.headers['x-ratelimit-limit']).toBeDefined();
      const other = { authorization: `Bearer ${await harness.newKey()}` };
      const answer = await fetch(`${address}/api/v1/indicators?format=csv&minConfidence=20`, {
        headers: other,
      });
      expect((await answer.text()).split('\r\n')).toHaveLength(ROWS + 2);
      for (const one of answers) one.destroy();
    });

    it('is shared by concurrent requests for the same export', { tags: ['nightly'] }, async () => {
      const texts = await Promise.all(
        Array.from({ length: 8 }, async () => (await ask('/api/v1/indicators?format=ndjson')).text()),
      );
      expect(new Set(texts).size).toBe(1);
    });
  });
});
