import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deprecation } from '../../src/http/deprecation.ts';
import { EMBEDDED } from '../support/engines.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const ACTORS: Deprecation = {
  url: '/api/v1/actors',
  since: new Date('2026-02-01T00:00:00.500Z'),
  sunset: new Date('2027-02-01T00:00:00Z'),
  successor: '/api/v2/actors',
};
const TYPE: Deprecation = {
  url: '/api/v1/indicators',
  parameter: 'type',
  since: new Date('2026-03-01T00:00:00Z'),
  sunset: new Date('2027-04-01T00:00:00Z'),
};
const TAG: Deprecation = {
  ...TYPE,
  parameter: 'tag',
  since: new Date('2026-04-01T00:00:00Z'),
  sunset: new Date('2027-03-01T00:00:00Z'),
};

const OF_ACTORS = {
  deprecation: '@1769904000',
  sunset: 'Mon, 01 Feb 2027 00:00:00 GMT',
  link: '</api/v2/actors>; rel="successor-version"',
};

describe('deprecated routes and parameters', () => {
  describe('deprecated operations and parameters', () => {
    let tipline: Harness;
    beforeAll(async () => {
      tipline = await startHarness(EMBEDDED, { deprecations: [ACTORS, TYPE, TAG] });
    });
    afterAll(() => tipline.close());

    const noticeOf = async (url: string, options?: Parameters<Harness['get']>[1]) => {
      const { statusCode, headers } = await tipline.get(url, options);
      const { deprecation, sunset, link } = headers;
      return { statusCode, ...(deprecation && { deprecation, sunset }), ...(link && { link }) };
    };

    it('are announced in every response of the operation: computed, cached, 304, and errors', async () => {
      expect(await noticeOf('/api/v1/actors')).toEqual({ statusCode: 200, ...OF_ACTORS });
      expect(await noticeOf('/api/v1/actors')).toEqual({ statusCode: 200, ...OF_ACTORS });
      const { etag } = (await tipline.get('/api/v1/actors')).headers;
      const headers = { 'if-none-match': String(etag) };
      expect(await noticeOf('/api/v1/actors', { headers })).toEqual({ statusCode: 304, ...OF_ACTORS });
      expect(await noticeOf('/api/v1/actors?page=x')).toEqual({ statusCode: 400, ...OF_ACTORS });
      expect(await noticeOf('/api/v1/actors', { key: null })).toEqual({ statusCode: 401, ...OF_ACTORS });
    });

    it('are announced only where the parameter is given, also when the response is cached', async () => {
      const ofType = { deprecation: '@1772323200', sunset: 'Thu, 01 Apr 2027 00:00:00 GMT' };
      for (let time = 0; time < 2; time++) {
        expect(await noticeOf('/api/v1/indicators')).toEqual({ statusCode: 200 });
        expect(await noticeOf('/api/v1/indicators?type=IPV4')).toEqual({ statusCode: 200, ...ofType });
        expect(await noticeOf('/api/v1/campaigns?type=x')).toEqual({ statusCode: 400 });
      }
    });

    it('are announced with the earliest dates where a request uses several', async () => {
      expect(await noticeOf('/api/v1/indicators?type=IPV4&tag=apt')).toEqual({
        statusCode: 200,
        deprecation: '@1772323200',
        sunset: 'Mon, 01 Mar 2027 00:00:00 GMT',
      });
    });

    it('are marked in the OpenAPI document, with the day until which they work', async () => {
      const { paths } = (await tipline.get('/api/openapi.json', { key: null })).json();
      expect(paths['/api/v1/actors'].get).toMatchObject({
        deprecated: true,
        description: expect.stringMatching(
          /Deprecated since 2026-02-01; works until 2027-02-01 at least\. Use \/api\/v2\/actors instead\.$/,
        ),
      });
      const { get } = paths['/api/v1/indicators'];
      expect(get.deprecated).toBeUndefined();
      const marked = get.parameters.filter((one: { deprecated?: boolean }) => one.deprecated);
      expect(marked.map(({ name }: { name: string }) => name).sort()).toEqual(['tag', 'type']);
    });
  });

  describe('the list of what is deprecated', () => {
    it('names routes and parameters that exist', async () => {
      const start = async (deprecation: Deprecation) =>
        startHarness(EMBEDDED, { deprecations: [deprecation] });
      await expect(start({ ...ACTORS, url: '/api/v1/nobody' })).rejects.toThrow(
        'Deprecated, but no route: /api/v1/nobody.',
      );
      await expect(start({ ...TYPE, parameter: 'kind' })).rejects.toThrow(
        'Deprecated, but no parameter of /api/v1/indicators: kind.',
      );
    });
  });
});
