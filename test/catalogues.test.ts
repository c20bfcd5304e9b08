import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Fastify from 'fastify';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from './support/directories.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

const FORMAT = `
import type { FormatEntry } from './format.ts';
export const dummy: FormatEntry = {
  label: 'Dummy format',
  purpose: 'tests',
  options: ['include'],
  example: 'dummy\\n',
  open: () => ({
    mediaType: 'text/x-dummy',
    extension: 'dummy',
    types: ['CVE'],
    detectionOnly: false,
    order: 'number',
    columns: ['value'],
    reads: {},
    async *write() {},
  }),
};
`;
const IMPORTER = `
import type { Importer } from './importer.ts';
export const dummyImporter: Importer = {
  name: 'dummy',
  label: 'Dummy file',
  recognizes: (head) => head.startsWith('dummy'),
  async *read() {},
};
`;
const PROVIDER = `
import { virustotal } from './virustotal.ts';
export const dummy = { ...virustotal, name: 'dummy' };
`;

/** A copy of the source code to which one of each kind is added: a file and a line of its catalogue. */
describe('what is added to a catalogue', () => {
  const directory = temporaryDirectory();
  const load = (path: string) => import(join(directory, path));

  /** Puts a line behind one that stands there, and the import before everything. */
  function register(catalogue: string, after: string, line: string, imported = ''): void {
    const path = join(directory, catalogue);
    const text = readFileSync(path, 'utf8');
    expect(text.split(after)).toHaveLength(2);
    writeFileSync(path, imported + text.replace(after, `${after}\n${line}`));
  }

  beforeAll(() => {
    for (const name of readdirSync(ROOT))
      if (!['src', 'test', 'dist', 'data'].includes(name))
        symlinkSync(join(ROOT, name), join(directory, name));
    cpSync(join(ROOT, 'src'), join(directory, 'src'), { recursive: true });
    mkdirSync(join(directory, 'test'));
    cpSync(join(ROOT, 'test/support/docs-tables.ts'), join(directory, 'test/support/docs-tables.ts'));
    writeFileSync(join(directory, 'src/formats/dummy.ts'), FORMAT);
    register('src/formats/catalogue.ts', '\n  ecs,', '  dummy,', "import { dummy } from './dummy.ts';\n");
    writeFileSync(join(directory, 'src/importers/dummy.ts'), IMPORTER);
    register(
      'src/importers/recognize.ts',
      '\n  galaxyImporter,',
      '  dummyImporter,',
      "import { dummyImporter } from './dummy.ts';\n",
    );
    writeFileSync(join(directory, 'src/enrichment/providers/dummy.ts'), PROVIDER);
    register(
      'src/enrichment/providers/catalogue.ts',
      '\n  shodan,',
      '  dummy,',
      "import { dummy } from './dummy.ts';\n",
    );
    register(
      'src/sources/feed-kinds.ts',
      '\nconst FEED_RULES = {',
      "  dummy: { ...file, title: 'a dummy feed', importer: 'dummy' },",
    );
  });

  /** The help of a command, on one line. */
  async function help(...words: string[]): Promise<string> {
    const { buildProgram } = await load('src/cli/program.ts');
    let command = await buildProgram(words[0]);
    for (const word of words)
      command = command.commands.find((one: { name(): string }) => one.name() === word);
    return command.helpInformation().replaceAll(/\s+/g, ' ');
  }

  it('is in the help of the commands', async () => {
    expect(await help('export')).toContain('dummy (Dummy format)');
    expect(await help('import')).toContain('"dummy"');
    expect(await help('sources', 'add')).toContain('dummy (a dummy feed)');
    expect(await help('providers', 'set')).toContain('"dummy"');
  });

  it('is in the OpenAPI document', async () => {
    const { buildProgram } = await load('src/cli/program.ts');
    const written = temporaryDirectory();
    await (await buildProgram('openapi')).parseAsync(['openapi', '--write', written], { from: 'user' });
    const { paths, components } = JSON.parse(readFileSync(join(written, 'openapi.json'), 'utf8'));
    expect(components.schemas.ExportFormat.enum).toContain('dummy');
    expect(components.schemas.ExportFormat.description).toContain('dummy (Dummy format)');
    const { content } = paths['/api/v1/exports/{format}'].get.responses['200'];
    expect(content['text/x-dummy'].example).toBe('dummy\n');
  });

  it('is offered by the pages', async () => {
    const { catalogueRoutes } = await load('src/catalogues/catalogues.routes.ts');
    const app = Fastify();
    await app.register(catalogueRoutes);
    const { exportFormats, importFormats } = (await app.inject('/app/catalogues')).json();
    expect(exportFormats).toContainEqual({ name: 'dummy', label: 'Dummy format' });
    expect(importFormats).toContainEqual({ name: 'dummy', label: 'Dummy file' });
  });

  it('is in the tables of the documentation', async () => {
    const tables = await load('test/support/docs-tables.ts');
    expect(tables.formatsTable()).toContain('| `dummy` | Dummy format | tests | `include` |');
    expect(tables.importersTable()).toContain('| `dummy` | Dummy file |');
    expect(tables.feedKindsTable()).toContain('| `dummy` | a dummy feed |');
    expect(tables.providersTable()).toContain('| `dummy` | IPV4');
  });

  it('takes the options of its entry, and no other', async () => {
    const { optionsFor } = await load('src/formats/catalogue.ts');
    expect(optionsFor('dummy', { include: 'context' }, undefined)).toHaveProperty('context', true);
    expect(optionsFor('dummy', { csvGuard: 'off' }, undefined)).toEqual({
      error: 'csvGuard is for format csv only.',
    });
  });
});
