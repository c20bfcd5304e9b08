import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { createKey, type NewKey } from '../../src/api-keys/api-keys.service.ts';
import { type AppDeps, buildApp } from '../../src/app.ts';
import type { Database } from '../../src/db/database.ts';
import { openSpool } from '../../src/exports/spool.ts';
import type { ImportRecord, IndicatorRecord } from '../../src/importers/importer.ts';
import { createImporter } from '../../src/importers/recognize.ts';
import { createCounts, type ImportCounts, NO_LEASE } from '../../src/imports/import-context.ts';
import { recordRun } from '../../src/imports/import-runs.service.ts';
import { importFiles } from '../../src/imports/imports.service.ts';
import { readTexts } from '../../src/lookup/reading.ts';
import { normalize } from '../../src/model/normalize.ts';
import type { SourceDefaults } from '../../src/model/statement.ts';
import type { IndicatorType, Tlp } from '../../src/model/vocabulary.ts';
import { memoryStore } from '../../src/rate-limit/memory.ts';
import { ensureSource } from '../../src/sources/store/sources.queries.ts';
import { temporaryDirectory } from './directories.ts';
import type { TestEngine } from './engines.ts';
import { handling, requireConditions } from './executed-statements.ts';

export const METRICS_TOKEN = 'token-of-the-tests';
/** The widest networks that the tests import: the defaults of the settings. */
export const WIDEST = { IPV4: 8, IPV6: 19 };
export const NOW = new Date('2026-06-01T12:00:00.000Z');

export interface Harness extends Database {
  app: FastifyInstance;
  /** The time, for everything; move it freely. */
  clock: { now: Date };
  /** A GET with a key; by default one that may read everything. */
  get(url: string, options?: GetOptions): Promise<LightMyRequestResponse>;
  newKey(wanted?: Partial<NewKey>): Promise<string>;
  /** Imports records as if from a file of that source. */
  load(
    records: ImportRecord[],
    source?: string,
    defaults?: Partial<SourceDefaults>,
    tlpCeiling?: Tlp,
  ): Promise<ImportCounts>;
  /** Imports records as one that `recordRun` has recorded, whose end is not recorded. */
  loadInto(runId: string, records: ImportRecord[], source: string): Promise<void>;
  /** The same as an import that can be undone. @returns its id */
  loadRun(records: ImportRecord[], source?: string, defaults?: Partial<SourceDefaults>): Promise<string>;
}

interface GetOptions {
  key?: string | null;
  headers?: Record<string, string>;
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | 'QUERY';
  payload?: string;
  remoteAddress?: string;
}

const DEFAULTS: SourceDefaults = { tlp: 'CLEAR', confidence: 50, severity: 'MEDIUM' };

/** The whole service on an engine, with a clock that the test owns and a limit that it does not meet. */
export async function startHarness(
  engine: Pick<TestEngine, 'open'>,
  overrides: Partial<AppDeps> = {},
): Promise<Harness> {
  const database = await engine.open();
  const { db } = database;
  const clock = { now: NOW };
  const spool = openSpool(temporaryDirectory(), 256 * 1024 * 1024);
  const app = await buildApp({
    database,
    spool,
    publicAddress: null,
    communityRules: Promise.resolve(null),
    rateLimits: memoryStore(),
    clock: () => clock.now,
    lastUsed: { note: () => {} },
    accessTracker: { record: () => {} },
    rateLimit: { limit: 1_000_000, windowSeconds: 60 },
    trustedProxies: [],
    metricsToken: METRICS_TOKEN,
    webDirectory: null,
    uploadDirectory: temporaryDirectory(),
    lookupFilters: join(temporaryDirectory(), 'lookup-filters'),
    uploadBytes: 1024 * 1024,
    changeDays: 30,
    widest: WIDEST,
    openImporter: createImporter,
    readTexts: async (...request) => readTexts(...request),
    stopping: new AbortController().signal,
    oidc: null,
    sessionSecret: 'a secret of the tests, long enough',
    ...overrides,
  });
  await app.ready();
  const [listener] = app.server.listeners('request') as RequestListener[];
  if (listener)
    app.server
      .removeListener('request', listener)
      .on('request', (request, response) =>
        handling({ method: request.method ?? '', url: request.url ?? '' }, () => listener(request, response)),
      );
  const inject = app.inject.bind(app);
  app.inject = ((options: { method?: string; url: string }) =>
    handling({ method: options.method ?? 'GET', url: options.url }, async () =>
      inject(options as never),
    )) as never;
  const newKey = async (wanted: Partial<NewKey> = {}) => {
    const key = {
      name: 'test',
      scopes: [],
      tlpCeiling: 'RED' as const,
      networks: [],
      expiresAt: null,
      ...wanted,
    };
    return (await createKey(db, key, { who: 'cli:test', address: null, now: clock.now })).key;
  };
  const everything = await newKey();
  async function importRecords(
    records: ImportRecord[],
    sourceName: string,
    defaults: Partial<SourceDefaults>,
    counts: ImportCounts,
    runId: string | null,
    tlpCeiling: Tlp = 'RED',
  ): Promise<void> {
    const source = await ensureSource(db, sourceName, 'import', { ...DEFAULTS, ...defaults }, clock.now);
    const importer = {
      name: 'stix' as const,
      recognizes: () => true,
      async *read() {
        yield records;
      },
    };
    const input = { fileName: 'test', open: () => Promise.reject(new Error('not opened')) as never };
    await importFiles(db, [{ importer, input }], {
      source,
      now: clock.now,
      dryRun: false,
      tlpCeiling,
      widest: WIDEST,
      counts,
      writer: { ...NO_LEASE, runId },
    });
  }
  return {
    ...database,
    app,
    clock,
    newKey,
    get: (url, { key = everything, headers = {}, ...options } = {}) =>
      app.inject({
        method: 'GET',
        url,
        headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
        // The types of light-my-request omit QUERY.
        ...(options as Omit<GetOptions, 'method'>),
      }),
    async load(records, sourceName = 'Test', defaults = {}, tlpCeiling) {
      const counts = createCounts();
      await importRecords(records, sourceName, defaults, counts, null, tlpCeiling);
      return counts;
    },
    loadInto: (runId, records, source) => importRecords(records, source, {}, createCounts(), runId),
    async loadRun(records, source = 'Test', defaults = {}) {
      const counts = createCounts();
      const wanted = { source, fileName: 'test', fileBytes: 0, format: 'stix', dryRun: false };
      const run = await recordRun(db, wanted, counts, { who: 'cli:test', now: clock.now }, () => {});
      await importRecords(records, source, defaults, counts, run.id);
      await run.end({ state: 'done', problem: null, at: clock.now });
      return run.id;
    },
    async close() {
      await app.close();
      await spool.close();
      await database.close();
      requireConditions();
    },
  };
}

/** An indicator as an importer would yield it. */
export function indicatorRecord(
  type: IndicatorType,
  value: string,
  fields: Partial<IndicatorRecord> = {},
): IndicatorRecord {
  const normal = normalize(type, value);
  if ('rejected' in normal) throw new Error(`${value}: ${normal.rejected}`);
  return {
    kind: 'indicator',
    externalIds: [],
    statedAt: null,
    tlp: null,
    confidence: null,
    severity: null,
    tags: [],
    firstSeen: null,
    lastSeen: null,
    expiresAt: null,
    forDetection: true,
    ...normal,
    ...fields,
  };
}
