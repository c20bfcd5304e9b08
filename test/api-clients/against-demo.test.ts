import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Download, Tipline } from '../../clients/typescript/src/index.js';
import { inputFile } from '../cli/inputs.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { type Service, serve } from '../support/service.ts';
import { compile, emptyProject, runModule } from './installed.ts';
import { operationIds } from './operations.ts';
import { hasPython, PYTHON_CLIENT, python, startPython } from './python.ts';

/** The address in the documentation. */
const DOCUMENTED = 'http://127.0.0.1:8080';

describe('clients of a server with the sample', () => {
  let service: Service;
  let client: Tipline;
  let env: Record<string, string>;

  beforeAll(async () => {
    service = await serve({}, 'demo');
    const [key = ''] = await service.says(/tip_[\w-]+/);
    await service.says(/Stop with/);
    await service.command('feeds', 'create', 'edge', '--format', 'txt', '--query', 'types=IPV4');
    client = new Tipline({ url: service.address, key });
    env = { TIPLINE_SERVER: service.address, TIPLINE_KEY: key };
  });

  /** Imports an indicator that the sample does not have. */
  const importDomain = (name: string) =>
    service.command('import', inputFile(`${name}.txt`, `${name}\n`), '--source', 'List');

  /** The cursor of the current state. */
  async function currentCursor(): Promise<string> {
    const download = await client.exportIndicators('ndjson');
    await download.body.cancel();
    return String(download.changeCursor);
  }

  describe('in TypeScript', () => {
    const text = async (download: Promise<Download>) => (await download).text();
    const first = async <T>(items: AsyncIterable<T>): Promise<T> => {
      for await (const item of items) return item;
      throw new Error('there is none');
    };
    const indicator = () => first(client.iterateIndicators({ q: '185.132.17.160', type: 'IPV4' }));
    const actor = () => first(client.iterateActors({ active: true }));
    const campaign = () => first(client.iterateCampaigns({ status: 'CONCLUDED' }));
    const apt28 = async () => (await client.getIndicatorContext((await indicator()).id)).actors[0]?.id ?? '';
    /** Whether the iterator has as many items as the list. */
    async function isWhole({ total }: { total: number }, items: AsyncIterable<unknown>): Promise<boolean> {
      let count = 0;
      for await (const _ of items) count++;
      return count === total;
    }

    /** Calls each operation, and returns something that only its response has. */
    const calls: Record<string, () => Promise<unknown>> = {
      getHealth: async () => (await client.getHealth({ deep: '1' })).checks?.database.status === 'ok',
      getReadiness: async () => (await client.getReadiness()).status === 'ok',
      listIndicators: async () =>
        (await client.listIndicators({ types: ['IPV4', 'DOMAIN'], pageSize: 2 })).data.length === 2,
      getIndicator: async () =>
        (await client.getIndicator((await indicator()).id)).data.value === '185.132.17.160',
      getIndicatorContext: async () =>
        (await client.getIndicatorContext((await indicator()).id)).actors[0]?.name === 'APT28',
      exportIndicators: async () =>
        (await text(client.exportIndicators('csv', { limit: 5 }))).startsWith('type,'),
      listIndicatorChanges: async () =>
        (await client.listIndicatorChanges({ limit: 2 })).changes[0]?.op === 'upsert',
      lookUpValues: async () => (await client.lookUpValues({ value: ['185.132.17.160'] })).data[0]?.known,
      lookUpManyValues: async () =>
        (await client.lookUpManyValues({ values: ['185.132.17.160'] })).data[0]?.known &&
        (await client.lookUpManyValues('185.132.17.160\n')).data[0]?.known,
      getTaxiiDiscovery: async () => (await client.getTaxiiDiscovery()).default.endsWith('/taxii2/root/'),
      getTaxiiApiRoot: async () => (await client.getTaxiiApiRoot()).max_content_length > 0,
      listTaxiiCollections: async () =>
        (await client.listTaxiiCollections()).collections?.some(({ alias }) => alias === 'feed-edge') ??
        false,
      getTaxiiCollection: async () => (await client.getTaxiiCollection('all')).alias === 'all',
      listTaxiiObjects: async () => {
        const query = { limit: 10, 'match[type]': 'indicator' };
        const { objects, next } = await client.listTaxiiObjects('all', query);
        const rest = await client.listTaxiiObjects('all', { limit: 10, next });
        return (
          objects?.length === 10 && rest.objects?.length === 10 && rest.objects[0]?.id !== objects[0]?.id
        );
      },
      listTaxiiManifest: async () =>
        (await client.listTaxiiManifest('all', { limit: 2 })).objects?.length === 2,
      getTaxiiObject: async () => {
        const { objects = [] } = await client.listTaxiiObjects('all', { limit: 1 });
        const id = String(objects[0]?.id);
        return (await client.getTaxiiObject('all', id)).objects?.[0]?.id === id;
      },
      listTaxiiVersions: async () => {
        const { objects = [] } = await client.listTaxiiManifest('all', { limit: 1 });
        const { versions } = await client.listTaxiiVersions('all', String(objects[0]?.id));
        return versions?.[0] === objects[0]?.version;
      },
      listFeeds: async () => (await client.listFeeds()).data[0]?.slug === 'edge',
      readFeed: async () => (await text(client.readFeed('edge'))).includes('185.132.17.160\n'),
      listFeedChanges: async () =>
        (await client.listFeedChanges('edge', { limit: 2 })).changes[0]?.op === 'upsert',
      getMispFeedManifest: async () => Object.keys(await client.getMispFeedManifest()).length > 0,
      getMispFeedHashes: async () => (await text(client.getMispFeedHashes())).includes(','),
      getMispFeedEvent: async () => {
        const [uuid = ''] = Object.keys(await client.getMispFeedManifest());
        return (await client.getMispFeedEvent(uuid)).Event.uuid === uuid;
      },
      getMispFeedManifestByGroup: async () =>
        Object.keys(await client.getMispFeedManifestByGroup('source')).length > 0,
      getMispFeedHashesByGroup: async () =>
        (await text(client.getMispFeedHashesByGroup('source'))).includes(','),
      getMispFeedEventByGroup: async () => {
        const [uuid = ''] = Object.keys(await client.getMispFeedManifestByGroup('report'));
        return (await client.getMispFeedEventByGroup('report', uuid)).Event.uuid === uuid;
      },
      getActorSigma: async () =>
        (await client.getActorSigma((await actor()).id, { level: ['high', 'medium'] })).startsWith(
          '# Sigma rules',
        ),
      getCampaignSigma: async () =>
        (await client.getCampaignSigma((await campaign()).id)).startsWith('# Sigma rules'),
      getActorSigmaQueries: async () =>
        (await client.getActorSigmaQueries((await actor()).id, { language: 'splunk-spl' })).language ===
        'splunk-spl',
      getCampaignSigmaQueries: async () =>
        (await client.getCampaignSigmaQueries((await campaign()).id, { language: 'elastic-esql' }))
          .language === 'elastic-esql',
      listActorChanges: async () => (await client.listActorChanges()).changes[0]?.op === 'upsert',
      listActors: async () => (await client.listActors({ active: true })).data[0]?.active,
      getActor: async () => Array.isArray((await client.getActor((await actor()).id)).data.techniques),
      listCampaignChanges: async () =>
        (await client.listCampaignChanges({ status: 'CONCLUDED' })).changes.length > 0,
      listCampaigns: async () =>
        (await client.listCampaigns({ status: 'CONCLUDED' })).data[0]?.status === 'CONCLUDED',
      getCampaign: async () => {
        const { id } = await campaign();
        return (await client.getCampaign(id)).data.id === id;
      },
      listActorIndicators: async () =>
        (await client.listActorIndicators(await apt28())).data.some(
          ({ value }) => value === '185.132.17.160',
        ),
      listActorCampaigns: async () =>
        isWhole(await client.listActorCampaigns(await apt28()), client.iterateActorCampaigns(await apt28())),
      listActorReports: async () =>
        isWhole(await client.listActorReports(await apt28()), client.iterateActorReports(await apt28())),
      listActorTechniques: async () => (await client.listActorTechniques(await apt28())).total > 0,
      listCampaignIndicators: async () => {
        const { id } = await campaign();
        return isWhole(await client.listCampaignIndicators(id), client.iterateCampaignIndicators(id));
      },
      listCampaignActors: async () => {
        const { id } = await campaign();
        return isWhole(await client.listCampaignActors(id), client.iterateCampaignActors(id));
      },
      listCampaignReports: async () => {
        const { id } = await campaign();
        return isWhole(await client.listCampaignReports(id), client.iterateCampaignReports(id));
      },
      listCampaignTechniques: async () => {
        const { id } = await campaign();
        return isWhole(await client.listCampaignTechniques(id), client.iterateCampaignTechniques(id));
      },
      getFeedNavigatorLayer: async () =>
        (await client.getFeedNavigatorLayer('edge')).domain === 'enterprise-attack',
      getSigmaNavigatorLayer: async () =>
        (await client.getSigmaNavigatorLayer()).domain === 'enterprise-attack',
      getActorNavigatorLayer: async () =>
        (await client.getActorNavigatorLayer((await actor()).id)).domain === 'enterprise-attack',
      getCampaignNavigatorLayer: async () =>
        (await client.getCampaignNavigatorLayer((await campaign()).id)).domain === 'enterprise-attack',
    };

    it('every operation of the OpenAPI document is called below', () => {
      expect(Object.keys(calls).sort()).toEqual(operationIds());
    });

    it.each(Object.entries(calls))('%s', async (_, call) => {
      expect(await call()).toBe(true);
    });

    it('iterators yield as many items as a list counts', async () => {
      const filters = { minConfidence: 70, types: ['IPV4', 'DOMAIN'] as ('IPV4' | 'DOMAIN')[] };
      const ids = new Set<string>();
      for await (const { id } of client.iterateIndicators({ ...filters, pageSize: 30 })) ids.add(id);
      const { total } = await client.listIndicators({ ...filters, pageSize: 1 });
      expect([ids.size, total > 90]).toEqual([total, true]);
    });

    it('the change feed goes on from its cursor, and from that of an export', async () => {
      const pages = [];
      for await (const page of client.followIndicatorChanges({ limit: 1000, wait: 0 })) pages.push(page);
      const { total } = await client.listIndicators({ pageSize: 1 });
      expect(pages.flatMap(({ changes }) => changes)).toHaveLength(total);
      expect(pages.map(({ hasMore }) => hasMore)).toEqual([true, true, false]);
      const download = await client.exportIndicators('ndjson');
      let lines = 0;
      for await (const { id } of download.jsonLines<{ id: string }>()) lines += id ? 1 : 0;
      expect([lines, download.totalCount]).toEqual([total, total]);
      for (const cursor of [pages.at(-1)?.cursor, download.changeCursor ?? 'none'])
        expect((await first(client.followIndicatorChanges({ cursor, wait: 0 }))).changes).toEqual([]);
    });

    it('the change feed yields what is imported while it waits', async () => {
      const next = first(client.followIndicatorChanges({ cursor: await currentCursor() }));
      await importDomain('new.test-feed.net');
      expect((await next).changes).toMatchObject([
        { op: 'upsert', indicator: { value: 'new.test-feed.net' } },
      ]);
    });

    it('an unchanged download is not sent again, and an unchanged list is returned from the cache', async () => {
      const { etag } = await client.exportIndicators('stix', { limit: 3 });
      const again = await client.exportIndicators('stix', { limit: 3 }, { ifNoneMatch: etag });
      expect(again.isNotModified).toBe(true);
      const cache = new Map();
      const lists = [await client.listActors({}, { cache }), await client.listActors({}, { cache })];
      expect(lists[1]).toEqual(lists[0]);
      expect(cache.size).toBe(1);
    });

    it('its README compiles strictly, and prints what it says', { tags: ['nightly'] }, async () => {
      const readme = readFileSync(
        new URL('../../clients/typescript/README.md', import.meta.url),
        'utf8',
      ).replaceAll(DOCUMENTED, service.address);
      const blocks = (language: string) =>
        [...readme.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) => text);
      const project = await emptyProject();
      expect(await compile(project, 'readme.ts', blocks('ts').join('\n'), { types: ['node'] })).toBe('');
      const { code, stdout, stderr } = await runModule(project, 'readme.js', env);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toBe(blocks('text').join(''));
    });
  });

  describe.skipIf(!hasPython)('in Python', () => {
    it('every operation, and the command', async () => {
      const openapi = new URL('../../openapi/openapi.json', import.meta.url).pathname;
      const tests = join(PYTHON_CLIENT, 'tests');
      const { code, stderr } = await python(['-m', 'unittest', 'discover', '-s', tests, '-p', 'demo_*.py'], {
        env: { ...env, OPENAPI: openapi },
      });
      expect(stderr).toMatch(/^Ran \d{2,} tests/m);
      expect([code, stderr]).toEqual([0, expect.stringContaining('OK')]);
    });

    it('the command prints what is imported while it waits', async () => {
      const cursorFile = join(temporaryDirectory(), 'cursor');
      writeFileSync(cursorFile, await currentCursor());
      const following = startPython(['-m', 'tipline', 'changes', '--follow', '--cursor', cursorFile], {
        env,
      });
      await importDomain('newer.test-feed.net');
      await following.says(/"op": "upsert", .*"value": "newer\.test-feed\.net"/);
      following.signal('SIGINT');
      expect((await following.exit).code).toBe(130);
    });

    it('its README prints what it says', async () => {
      const script = `
import doctest, pathlib, re, sys
text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").replace("${DOCUMENTED}", sys.argv[2])
# The end of a block is no output.
test = doctest.DocTestParser().get_doctest(re.sub("^\`\`\`.*$", "", text, flags=re.M), {}, "README.md", None, 0)
results = doctest.DocTestRunner().run(test)
print(results.attempted, results.failed)
`;
      const path = join(PYTHON_CLIENT, 'README.md');
      const cwd = temporaryDirectory();
      const { stdout, stderr } = await python(['-c', script, path, service.address], { env, cwd });
      expect([stdout, stderr]).toEqual([expect.stringMatching(/^\d\d 0\n$/), '']);
    });
  });
});
