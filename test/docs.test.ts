import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../src/cli/program.ts';
import { readConfig } from '../src/config/config.ts';
import { DEPRECATIONS } from '../src/http/deprecation.ts';
import { ruledTechniques, rulesOf } from '../src/sigma/technique-rules.ts';
import { documents } from './support/code-blocks.ts';
import { temporaryDirectory } from './support/directories.ts';
import { commandsReference } from './support/docs-commands.ts';
import {
  chartValuesTable,
  errorsTable,
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

/** What stands in backticks in the first column of a table. */
const firstColumn = (path: string): string[] =>
  [...read(path).matchAll(/^\| `([^`]+)`/gm)].map(([, word]) => String(word));

describe('the documentation', () => {
  it.each([
    ['docs/reference/configuration.md', settingsTable()],
    ['docs/formats.md', formatsTable()],
    ['docs/reference/errors.md', errorsTable()],
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

describe('docs/reference/commands.md', () => {
  it('has each command with its options; WRITE_DOCS=1 writes them', async () => {
    const path = 'docs/reference/commands.md';
    const [start, end] = ['<!-- commands -->\n', '<!-- /commands -->'];
    const commands = await commandsReference();
    const [before = '', rest = ''] = read(path).split(start);
    const [, after = ''] = rest.split(end);
    if (process.env.WRITE_DOCS)
      writeFileSync(new URL(`../${path}`, import.meta.url), before + start + commands + end + after);
    expect(read(path)).toContain(start + commands + end);
  });

  it('names every command in its overview, and no other', async () => {
    const [overview = ''] = read('docs/reference/commands.md').split('## Each command');
    const words = [...overview.matchAll(/^\| `([\w-]+)/gm)].map(([, word]) => String(word));
    const { commands } = await buildProgram(undefined);
    expect(words.sort()).toEqual(commands.map((command) => command.name()).sort());
  });
});

describe('docs/reference/endpoints.md', () => {
  const path = 'docs/reference/endpoints.md';
  const { paths } = JSON.parse(read('openapi/openapi.json')) as {
    paths: Record<
      string,
      Record<string, { security: Record<string, string[]>[]; parameters: { name: string }[] }>
    >;
  };

  it('names every endpoint of the OpenAPI document, and no other', () => {
    const endpoints = firstColumn(path).filter((name) => name.startsWith('/'));
    expect(endpoints.sort()).toEqual(Object.keys(paths).sort());
  });

  it('names the scopes of each endpoint', () => {
    const rows = [...read(path).matchAll(/^\| `(\/[^`]+)` \| ([^|]*) \|/gm)];
    const stated = rows.map(([, endpoint, scopes = '']) => [
      endpoint,
      [...scopes.matchAll(/`([^`]+)`/g)].map(([, scope]) => scope),
    ]);
    const actual = rows.map(([, endpoint = '']) => [
      endpoint,
      [
        ...new Set(
          Object.values(paths[endpoint] ?? {}).flatMap(({ security }) =>
            security.flatMap((one) => Object.values(one).flat()),
          ),
        ),
      ],
    ]);
    expect(stated).toEqual(actual);
  });

  it('names every query parameter of the lists', () => {
    for (const list of ['/api/v1/indicators', '/api/v1/actors', '/api/v1/campaigns'])
      for (const { name } of paths[list]?.get?.parameters ?? []) expect(read(path)).toContain(`\`${name}\``);
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

describe('docs/integrations', () => {
  const pages = readdirSync(new URL('../docs/integrations', import.meta.url)).map((file) =>
    read(`docs/integrations/${file}`),
  );
  const named = (text: string, command: string) =>
    [...text.matchAll(new RegExp(`\\btipline keys ${command} ([\\w-]+)`, 'g'))].map(([, name]) =>
      String(name),
    );

  it('gives each feed a slug of its own, so that several pages can be followed', () => {
    const slugs = pages.flatMap((text) =>
      [...text.matchAll(/tipline feeds create ([a-z0-9-]+)/g)].map(([, slug]) => slug),
    );
    expect(slugs.length).toBeGreaterThan(30);
    expect(slugs.filter((slug, i) => slugs.indexOf(slug) !== i)).toEqual([]);
  });

  it('gives each key a name of its own, by which the page revokes it', () => {
    const created = pages.flatMap((text) => named(text, 'create --name'));
    expect(created.length).toBeGreaterThan(40);
    expect(created.filter((name, i) => created.indexOf(name) !== i)).toEqual([]);
    for (const text of pages)
      for (const name of [...named(text, 'revoke'), ...named(text, 'rotate')])
        if (name !== 'ID') expect(named(text, 'create --name')).toContain(name);
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
  const linked = [
    ...documents(),
    'ARCHITECTURE.md',
    'SECURITY.md',
    'CHANGELOG.md',
    'sample/ORIGINS.md',
    'whitelist/README.md',
    ...readdirSync(new URL('../docs/adr', import.meta.url)).map((file) => `docs/adr/${file}`),
  ];

  it.each(linked)('of %s lead somewhere', (document) => {
    const links = [...prose(document).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    const broken = links.filter(([, path, anchor]) => {
      const target = path ? join(dirname(document), path) : document;
      if (!existsSync(new URL(`../${target}`, import.meta.url))) return true;
      return anchor !== undefined && !anchorsOf(target).has(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it.each(linked)('of %s to other hosts are addresses', (document) => {
    const addresses = [...prose(document).matchAll(/\]\((https?:[^)\s]*)\)/g)].map(([, link]) =>
      String(link),
    );
    expect(addresses.filter((address) => !URL.canParse(address))).toEqual([]);
  });

  /** A document without its code, in which brackets are no links. */
  function prose(document: string): string {
    return read(document).replaceAll(/^( *)```[\s\S]*?^ *```$|`[^`\n]*`/gm, 'code');
  }

  /** The anchors of the headings of a document, as forges make them. */
  function anchorsOf(document: string): Set<string> {
    const text = read(document).replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
    const anchors = new Set<string>();
    for (const [, heading = ''] of text.matchAll(/^#+ (.+)$/gm)) {
      const slug = heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-');
      let anchor = slug;
      for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
      anchors.add(anchor);
    }
    return anchors;
  }
});

describe('README.md', () => {
  it('is one screen of text', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(75);
  });

  it('has a picture that is small enough', () => {
    const { size } = statSync(new URL('../docs/images/application.png', import.meta.url));
    expect(size).toBeLessThan(150_000);
  });
});
