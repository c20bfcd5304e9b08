import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SCOPES, type Scope } from '../../src/model/account.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, startHarness } from '../support/harness.ts';

onEveryEngine((engine) => {
  describe('the OpenAPI document', () => {
    let tipline: Harness;
    beforeAll(async () => {
      tipline = await startHarness(engine);
    });
    const keys = new Map<Scope, Promise<string>>();
    const keyWith = (scope: Scope) => {
      const key = keys.get(scope) ?? tipline.newKey({ scopes: [scope] });
      keys.set(scope, key);
      return key;
    };
    afterAll(() => tipline.close());

    it('is the same OpenAPI 3.1 in JSON and YAML, without authentication', async () => {
      const json = await tipline.get('/api/openapi.json', { key: null });
      const yaml = await tipline.get('/api/openapi.yaml', { key: null });
      expect(json.json()).toMatchObject({ openapi: '3.1.0', info: { version: '0.1.0' } });
      expect(parse(yaml.body)).toEqual(json.json());
      expect(yaml.headers['content-type']).toBe('application/yaml; charset=utf-8');
    });

    it.each(['json', 'yaml'])(
      'is compressed for gzip clients and supports If-None-Match, as %s',
      async (kind) => {
        const get = (headers: Record<string, string>) =>
          tipline.get(`/api/openapi.${kind}`, { key: null, headers });
        const [plain, zipped] = [await get({}), await get({ 'accept-encoding': 'gzip' })];
        expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
        expect(gunzipSync(zipped.rawPayload).toString()).toBe(plain.body);
        expect(zipped.headers.etag).not.toBe(plain.headers.etag);
        const again = await get({ 'if-none-match': String(plain.headers.etag) });
        expect([again.statusCode, again.body]).toEqual([304, '']);
      },
    );

    it('lists every data route, and marks no parameter with a default as required', async () => {
      const { paths } = (await tipline.get('/api/openapi.json')).json();
      expect(Object.keys(paths).sort()).toEqual([
        '/api/health',
        '/api/health/ready',
        '/api/sigma/actor/{id}',
        '/api/sigma/actor/{id}/queries',
        '/api/sigma/campaign/{id}',
        '/api/sigma/campaign/{id}/queries',
        '/api/sigma/navigator',
        '/api/v1/actors',
        '/api/v1/actors/changes',
        '/api/v1/actors/{id}',
        '/api/v1/actors/{id}/campaigns',
        '/api/v1/actors/{id}/indicators',
        '/api/v1/actors/{id}/navigator',
        '/api/v1/actors/{id}/reports',
        '/api/v1/actors/{id}/techniques',
        '/api/v1/campaigns',
        '/api/v1/campaigns/changes',
        '/api/v1/campaigns/{id}',
        '/api/v1/campaigns/{id}/actors',
        '/api/v1/campaigns/{id}/indicators',
        '/api/v1/campaigns/{id}/navigator',
        '/api/v1/campaigns/{id}/reports',
        '/api/v1/campaigns/{id}/techniques',
        '/api/v1/exports/{format}',
        '/api/v1/feeds',
        '/api/v1/feeds/misp/by-{group}/hashes.csv',
        '/api/v1/feeds/misp/by-{group}/manifest.json',
        '/api/v1/feeds/misp/by-{group}/{uuid}.json',
        '/api/v1/feeds/misp/hashes.csv',
        '/api/v1/feeds/misp/manifest.json',
        '/api/v1/feeds/misp/{uuid}.json',
        '/api/v1/feeds/{slug}',
        '/api/v1/feeds/{slug}/changes',
        '/api/v1/feeds/{slug}/navigator',
        '/api/v1/indicators',
        '/api/v1/indicators/changes',
        '/api/v1/indicators/{id}',
        '/api/v1/indicators/{id}/context',
        '/api/v1/lookup',
        '/bulk/lookup',
        '/taxii2/',
        '/taxii2/root/',
        '/taxii2/root/collections/',
        '/taxii2/root/collections/{collection}/',
        '/taxii2/root/collections/{collection}/manifest/',
        '/taxii2/root/collections/{collection}/objects/',
        '/taxii2/root/collections/{collection}/objects/{object}/',
        '/taxii2/root/collections/{collection}/objects/{object}/versions/',
      ]);
      for (const parameter of paths['/api/v1/indicators'].get.parameters)
        expect(parameter.required).toBe(false);
    });

    it('lists the scopes of each operation, without which a key gets 403', async () => {
      const { paths } = (await tipline.get('/api/openapi.json')).json() as {
        paths: Record<string, { get?: { security?: Record<string, Scope[]>[] } }>;
      };
      const problems: string[] = [];
      for (const [path, { get }] of Object.entries(paths)) {
        const listed = [...new Set(get?.security?.flatMap((one) => Object.values(one).flat()) ?? [])];
        if (!get || listed.length === 0) continue;
        for (const scope of SCOPES) {
          const { statusCode } = await tipline.get(path.replaceAll(/[{}]/g, ''), {
            key: await keyWith(scope),
          });
          if ((statusCode === 403) === listed.includes(scope))
            problems.push(`${path} with ${scope}: ${statusCode}`);
        }
      }
      expect(problems).toEqual([]);
    });

    it('requires a scope of every operation but the checks of health', async () => {
      const { paths } = (await tipline.get('/api/openapi.json')).json() as {
        paths: Record<string, Record<string, { security: Record<string, string[]>[] }>>;
      };
      const without = Object.entries(paths).filter(([, item]) =>
        Object.values(item).every(({ security }) => security.length === 0),
      );
      expect(without.map(([path]) => path)).toEqual(['/api/health', '/api/health/ready']);
    });

    it('is linked from / by a redirect to the documentation', async () => {
      const { statusCode, headers } = await tipline.get('/', { key: null });
      expect([statusCode, headers.location]).toEqual([302, '/api/docs']);
    });

    it('is browsable without requests to other origins', async () => {
      const page = await tipline.get('/api/docs/', { key: null });
      expect(page.statusCode).toBe(200);
      const urls = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => String(url));
      expect(urls.length).toBeGreaterThan(2);
      for (const url of urls) {
        expect(url).toMatch(/^\.?\//);
        const asset = await tipline.get(new URL(url, 'http://x/api/docs/').pathname, { key: null });
        expect([url, asset.statusCode]).toEqual([url, 200]);
      }
      const policy = String(page.headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toMatch(/https?:|upgrade-insecure-requests/);
    });
  });
});
