import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../src/cli/program.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const readme = read('README.md');

/** What stands in backticks in the first column of the table under a heading. */
function firstColumn(heading: string): string[] {
  const section = readme.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  return [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, word]) => String(word));
}

describe('the README', () => {
  it('names every setting that is read, and no other', () => {
    const settings = [
      ...read('src/config.ts').matchAll(/(?:text|integer|urls?|networks|directory|onOrOff)\('([A-Z_]+)'/g),
    ];
    const known = new Set(settings.map(([, name]) => String(name)));
    expect(firstColumn('Configuration').sort()).toEqual([...known].sort());
  });

  it('names no setting that tipline --help leaves out', () => {
    const help = read('src/cli/program.ts');
    expect(firstColumn('Configuration').filter((name) => !help.includes(name))).toEqual([]);
  });

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

describe('ARCHITECTURE.md', () => {
  it.each(readdirSync(new URL('../src', import.meta.url)))('says what src/%s holds', (name) => {
    expect(read('ARCHITECTURE.md')).toMatch(new RegExp(`^\\|[^|]*\`(?:src/)?${name}/?\``, 'm'));
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
