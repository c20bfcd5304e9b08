import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';

const URL = '/api/v1/indicators?pageSize=100';
const GZIP = { 'accept-encoding': 'gzip, deflate' };

onEveryEngine((engine) => {
  describe('a cached list for clients that accept gzip', () => {
    let tipline: Harness;
    let loaded = 0;
    const load = (count: number) =>
      tipline.load(
        Array.from({ length: count }, () => indicatorRecord('DOMAIN', `host-${loaded++}.evil-domain.net`)),
      );
    beforeAll(async () => {
      tipline = await startHarness(engine);
    });
    afterAll(() => tipline.close());
    beforeEach(() => load(120));

    const get = (headers: Record<string, string> = {}, url = URL) => tipline.get(url, { headers });

    /** Requests the list until it is compressed, which happens on another thread. */
    async function getCompressed(url = URL) {
      for (let attempts = 0; attempts < 1_000; attempts++) {
        const response = await get(GZIP, url);
        expect(response.statusCode).toBe(200);
        if (response.headers['content-encoding'] === 'gzip') return response;
        expect(response.json().data.length).toBeGreaterThan(0);
      }
      throw new Error('The list is never compressed.');
    }

    it('has the same content in fewer bytes, and another entity tag', async () => {
      const plain = await get();
      const gzip = await getCompressed();
      expect(gunzipSync(gzip.rawPayload).toString()).toBe(plain.body);
      expect(gzip.rawPayload.length).toBeLessThan(plain.rawPayload.length / 5);
      expect(gzip.headers).toMatchObject({
        'content-length': String(gzip.rawPayload.length),
        'content-type': plain.headers['content-type'],
        vary: 'accept-encoding',
        etag: String(plain.headers.etag).replace(/"$/, '-gzip"'),
      });
    });

    it.each([undefined, 'identity', 'gzip;q=0', 'gzip;q=0.5, identity;q=0.9', 'br'])(
      'is not compressed for Accept-Encoding: %s',
      async (accepted) => {
        await getCompressed();
        const headers: Record<string, string> = accepted === undefined ? {} : { 'accept-encoding': accepted };
        const plain = await get(headers);
        expect(plain.headers['content-encoding']).toBeUndefined();
        expect(plain.headers).toMatchObject({ vary: 'accept-encoding' });
        expect(plain.json().total).toBe(loaded);
      },
    );

    it('is a 304 for the tag of either encoding, which has the tag that the client has', async () => {
      const { etag } = (await getCompressed()).headers;
      const plain = String(etag).replace('-gzip', '');
      for (const headers of [{}, GZIP])
        for (const tag of [String(etag), plain, `W/${plain}, "other"`, `"other", ${etag}`]) {
          const response = await get({ ...headers, 'if-none-match': tag });
          expect(response).toMatchObject({ statusCode: 304, body: '' });
          expect(response.headers).toMatchObject({
            etag: tag.match(/"[\w-]{20,}"/)?.[0],
            vary: 'accept-encoding',
          });
        }
      expect(await get({ ...GZIP, 'if-none-match': '"other-gzip"' })).toMatchObject({ statusCode: 200 });
    });

    it('is a 304 for that tag, too, when it is computed again', async () => {
      const { etag } = (await getCompressed()).headers;
      tipline.clock.now = new Date(tipline.clock.now.getTime() + 1000);
      const again = await get({ ...GZIP, 'if-none-match': String(etag) }, `${URL}&page=1`);
      expect(again).toMatchObject({ statusCode: 304, headers: { etag } });
    });

    it('has no content of an earlier revision', async () => {
      await getCompressed();
      await load(1);
      const { total } = JSON.parse(gunzipSync((await getCompressed()).rawPayload).toString());
      expect(total).toBe(loaded);
    });

    it('is not compressed when it is short', async () => {
      const url = `${URL.replace('100', '1')}`;
      for (let i = 0; i < 5; i++) {
        const response = await get(GZIP, url);
        expect(response.headers['content-encoding']).toBeUndefined();
        await new Promise(setImmediate);
      }
    });
  });
});
