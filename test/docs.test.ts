import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../src/cli/program.ts';
import { readConfig } from '../src/config/config.ts';
import { DEPRECATIONS } from '../src/http/deprecation.ts';
import { ruledTechniques, rulesOf } from '../src/sigma/technique-rules.ts';
import { temporaryDirectory } from './support/directories.ts';
import {
  chartValuesTable,
  feedKindsTable,
  formatsTable,
  importersTable,
  limitSourcesTable,
  presetsTable,
  providersTable,
  rulesAsQueriesTable,
  settingsFile,
  settingsTable,
  techniquesTable,
} from './support/docs-tables.ts';
import { integrationsTable, protocolsTable } from './support/integration-pages.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const readme = read('README.md');

/** What stands in backticks in the first column of the table under a heading. */
function firstColumn(heading: string): string[] {
  const section = readme.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  return [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, word]) => String(word));
}

describe('the documentation', () => {
  it.each([
    ['README.md', settingsTable()],
    ['README.md', formatsTable()],
    ['docs/importing.md', importersTable()],
    ['docs/intake.md', feedKindsTable()],
    ['docs/intake.md', providersTable()],
    ['docs/detection-rules.md', techniquesTable()],
    ['docs/sigma-queries.md', rulesAsQueriesTable()],
    ['docs/feeds.md', presetsTable()],
    ['docs/feeds.md', limitSourcesTable()],
    ['docs/integrations/README.md', integrationsTable()],
    ['docs/integrations/README.md', protocolsTable()],
    ['packaging/helm/tipline/README.md', chartValuesTable()],
  ])('in %s has this table of the code; WRITE_DOCS=1 writes it: %#', (path, table) => {
    const [head = ''] = table.split('\n');
    const before = read(path);
    const start = before.indexOf(`${head}\n`);
    // An empty line ends the table, or the end of the file.
    const end = `${before}\n`.indexOf('\n\n', start) + 1;
    if (process.env.WRITE_DOCS)
      writeFileSync(
        new URL(`../${path}`, import.meta.url),
        before.slice(0, start) + table + before.slice(end),
      );
    expect(read(path)).toContain(table);
  });
});

describe('the documentation of technique rules', () => {
  it('counts the rules and techniques', () => {
    const techniques = ruledTechniques();
    const counts = `${techniques.flatMap(rulesOf).length} rules for ${techniques.length} techniques`;
    expect(read('docs/formats.md')).toContain(counts);
  });
});

describe('the README', () => {
  it('names every endpoint of the description, and no other', () => {
    const { paths } = JSON.parse(read('openapi/openapi.json')) as { paths: Record<string, unknown> };
    expect(firstColumn('Endpoints').sort()).toEqual(Object.keys(paths).sort());
  });

  it('names every query parameter of the lists', () => {
    const { paths } = JSON.parse(read('openapi/openapi.json'));
    for (const path of ['/api/v1/indicators', '/api/v1/actors', '/api/v1/campaigns']) {
      for (const { name } of paths[path].get.parameters) expect(readme).toContain(`\`${name}\``);
    }
  });

  it('names every command, and no other', async () => {
    const words = firstColumn('Commands').map((command) => command.split(' ')[0]);
    const { commands } = await buildProgram(undefined);
    expect(words.sort()).toEqual(commands.map((command) => command.name()).sort());
  });
});

describe('docs/installing.md', () => {
  it('names the Node.js version of package.json', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    const [, version = ''] = /^>=(.+)$/.exec(engines.node) ?? [];
    expect(read('docs/installing.md')).toContain(`Node.js ${version} or newer`);
    expect(readme).toContain(`Node.js ${version} or newer`);
  });
});

describe('docs/versions.md', () => {
  it('lists what is deprecated in this version', () => {
    const text = read('docs/versions.md');
    expect(text.includes('Nothing is deprecated in this version.')).toBe(DEPRECATIONS.length === 0);
    for (const { url, parameter = '' } of DEPRECATIONS)
      expect(text).toContain(`| \`${url}\` | ${parameter} |`);
  });
});

describe('compose.yaml', () => {
  it('names the image of this version', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    const images = [...read('compose.yaml').matchAll(/image: localhost\/tipline:(\S+)/g)];
    expect(images.map(([, tag]) => tag)).toEqual([version]);
  });

  it('names other images with a version', () => {
    const images = [...read('compose.yaml').matchAll(/image: (docker\.io\S+)/g)].map(([, name]) => name);
    expect(images).toHaveLength(3);
    for (const image of images) expect(image).toMatch(/:\d+(\.\d+)*$/);
  });
});

describe('the commands for units of an npm installation', () => {
  const commands = read('docs/installing.md').split('## The units for an npm installation')[1] ?? '';
  const replaced = [...commands.matchAll(/s#(\/usr\/[^#]+)#/g)].map(([, path]) => String(path));

  it.each(['tipline.service', 'tipline-worker.service'])('replace the paths in %s', (unit) => {
    expect(replaced).toEqual(['/usr/bin/node', '/usr/lib/tipline/tipline']);
    expect(read(`packaging/systemd/${unit}`)).toContain(
      `=${replaced[0]} --env-file=/etc/tipline/tipline.env ${replaced[1]} `,
    );
  });

  it('set a data directory that .env.example has', () => {
    expect(read('.env.example')).toMatch(/^#TIPLINE_DATA_DIR=/m);
    expect(commands).toContain('^\\#TIPLINE_DATA_DIR=');
  });
});

describe('.env.example', () => {
  const example = read('.env.example');

  it('is written from the schema of the settings', async () => {
    await expect(settingsFile()).toMatchFileSnapshot('../.env.example');
  });

  it('is accepted with every setting in it', () => {
    const envFile = join(temporaryDirectory(), '.env');
    const enabled = example.replace(/^#(?=[A-Z_]+=)/gm, '').replace(/=$/gm, `=${'x'.repeat(32)}`);
    // This directory exists on every machine.
    writeFileSync(envFile, enabled.replace('./sigma-rules', '.'));
    const values = Object.entries(readConfig({ env: {}, envFile }));
    expect(values.filter(([, value]) => value === undefined)).toEqual([]);
  });
});

describe('ARCHITECTURE.md', () => {
  it.each(readdirSync(new URL('../src', import.meta.url)))('says what src/%s holds', (name) => {
    expect(read('ARCHITECTURE.md')).toMatch(new RegExp(`^\\|[^|]*\`(?:src/)?${name}/?\``, 'm'));
  });
});

describe('docs/integrations/taxii-conformance.md', () => {
  it('names tests that exist', () => {
    const source = read('test/api/taxii-conformance.test.ts');
    // Of a test with cases, the name is a pattern with one place for the case.
    const patterns = [...source.matchAll(/\bit(?:\.each\(\[[\s\S]*?\]\))?\(\s*'((?:[^'\\]|\\.)*)'/g)].map(
      ([, name = '']) =>
        new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('%s', '(.+)')}$`),
    );
    const named = [...read('docs/integrations/taxii-conformance.md').matchAll(/^\| [\d(].* \| (.+) \|$/gm)]
      .map(([, name]) => String(name))
      .filter((name) => name !== '—');
    expect(named.length).toBeGreaterThan(30);
    const exists = (name: string) =>
      patterns.some((pattern) => {
        const cases = pattern.exec(name)?.slice(1);
        return cases?.every((text) => source.includes(`'${text}'`));
      });
    expect(named.filter((name) => !exists(name))).toEqual([]);
  });
});

describe('links between the documents', () => {
  const documents = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'CHANGELOG.md',
    'sample/ORIGINS.md',
    'bench/README.md',
    'examples/README.md',
    'clients/typescript/README.md',
    'clients/python/README.md',
  ].concat(
    readdirSync(new URL('../docs', import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => `docs/${file}`),
  );

  it.each(documents)('of %s lead somewhere', (document) => {
    const targets = [...read(document).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target]) =>
      String(target),
    );
    const missing = targets.filter(
      (target) => !existsSync(new URL(`../${join(dirname(document), target)}`, import.meta.url)),
    );
    expect(missing).toEqual([]);
  });
});
