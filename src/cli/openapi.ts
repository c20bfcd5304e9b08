import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { buildApp } from '../app.ts';
import { systemClock } from '../clock.ts';
import { openInMemory } from '../db/open.ts';
import { openSpool } from '../exports/spool.ts';
import { openApiJson, openApiYaml } from '../http/openapi.ts';
import { createImporter } from '../importers/recognize.ts';
import { memoryStore } from '../rate-limit/memory.ts';
import { print } from './output.ts';

export function openApiCommand(): Command {
  return new Command('openapi')
    .description('print the OpenAPI document, or write or check its files')
    .addOption(
      new Option('--write <directory>', 'write openapi.json and openapi.yaml there').conflicts('check'),
    )
    .option('--check <directory>', 'fail if the files there differ from the code')
    .action(openApi);
}

async function openApi({ write, check }: { write?: string; check?: string }) {
  const files = await renderOpenApiFiles();
  if (write !== undefined) {
    await mkdir(write, { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(write, name), text);
  } else if (check !== undefined) {
    for (const [name, text] of Object.entries(files)) {
      const committed = await readFile(join(check, name), 'utf8');
      if (committed !== text) throw new Error(`${join(check, name)} is out of date: run npm run openapi`);
    }
    print('The OpenAPI files are up to date.');
  } else process.stdout.write(files['openapi.yaml']);
}

async function renderOpenApiFiles() {
  const database = await openInMemory();
  const app = await buildApp({
    database,
    // No export is requested, so no file is written.
    spool: openSpool(tmpdir(), 0),
    communityRules: Promise.resolve(null),
    rateLimits: memoryStore(),
    clock: systemClock,
    lastUsed: { note: () => {} },
    accessTracker: { record: () => {} },
    rateLimit: { limit: 1, windowSeconds: 1 },
    trustedProxies: [],
    metricsToken: undefined,
    webDirectory: null,
    uploadDirectory: '',
    lookupFilters: '',
    uploadBytes: 0,
    changeDays: 0,
    widest: { IPV4: 0, IPV6: 0 },
    openImporter: createImporter,
    readTexts: async () => [],
    stopping: new AbortController().signal,
    sessionSecret: '',
    oidc: null,
    publicAddress: null,
  });
  await app.ready();
  const files = { 'openapi.json': openApiJson(app), 'openapi.yaml': openApiYaml(app) };
  await app.close();
  await database.close();
  return files;
}
