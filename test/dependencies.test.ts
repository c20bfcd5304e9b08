import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { tablerIcons } from '../web/tabler-icons.ts';

const IMPORT =
  /(?:^(?:import|export)\s+(?!type\s)(?:[\w$*\s{},]+\sfrom\s+)?|\bimport\()['"]([^'".][^'"]*)['"]/gm;
const packageOf = (name: string) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');

/** Folders with a package.json of their own, which is no workspace. */
const OTHERS = ['test/chart/programs', 'test/clients', 'test/mcp-conformance'];

/** The files below a folder, without those of OTHERS, in which CI installs packages meanwhile. */
function filesIn(folder: string): string[] {
  if (OTHERS.includes(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

/** The packages that the sources in a folder import. */
function importedIn(folder: string): string[] {
  const names = filesIn(folder)
    .filter((path) => /\.(tsx?|mjs)$/.test(path))
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(IMPORT)])
    .map(([, name]) => String(name))
    .filter((name) => !/^(node|icon):/.test(name));
  return [...new Set(names.map(packageOf))];
}

/** The packages that a package.json lists under a heading. */
function listedIn(file: string, heading: 'dependencies' | 'devDependencies' = 'dependencies'): string[] {
  return Object.keys(JSON.parse(readFileSync(file, 'utf8'))[heading]);
}

const runtime = listedIn('package.json');
const build = [...runtime, ...listedIn('src/package.json'), ...listedIn('web/package.json')];

describe('a start without devDependencies', () => {
  it('imports only packages of dependencies', () => {
    const imported = ['src', 'web'].flatMap(importedIn);
    expect(imported.filter((name) => !build.includes(name))).toEqual([]);
    expect(imported).toEqual(expect.arrayContaining(['fastify', 'react', 'vite']));
  });

  it('fails the build for an icon that does not exist', () => {
    const load = tablerIcons().load as unknown as (id: string) => unknown;
    expect(() => load('\0icon:no-such-icon')).toThrow('There is no Tabler icon "no-such-icon".');
    expect(load('\0icon:lock-open')).toMatchObject({ code: expect.stringContaining('strokeWidth="2"') });
  });
});

describe('tests, benchmarks and scripts', () => {
  it('import only packages that a package.json lists', () => {
    const listed = [...build, ...listedIn('package.json', 'devDependencies')];
    const imported = ['test', 'bench', 'scripts'].flatMap(importedIn);
    expect(imported.filter((name) => !listed.includes(name))).toEqual([]);
  });
});

describe('the notices of third parties', () => {
  it.each([
    ['src', 'THIRD-PARTY-NOTICES.txt'],
    ['web/src', 'web/THIRD-PARTY-NOTICES.txt'],
  ])('have the licence of each package that %s imports', (folder, file) => {
    const notices = readFileSync(join(dirname(inject('productMain') ?? ''), file), 'utf8');
    const bundled = importedIn(folder).filter((name) => !runtime.includes(name));
    expect(bundled.filter((name) => !notices.includes(`\n${name} `))).toEqual([]);
    expect(notices).toMatch(/Permission is hereby granted, free of charge/);
  });

  it('have the licences of copied files and of icons', () => {
    const directory = dirname(inject('productMain') ?? '');
    const read = (file: string) => readFileSync(join(directory, file), 'utf8');
    expect(read('THIRD-PARTY-NOTICES.txt')).toMatch(/^swagger-ui-dist \d\S+ \(Apache-2\.0\)$/m);
    expect(read('web/THIRD-PARTY-NOTICES.txt')).toMatch(/^@iconify-json\/tabler \d\S+ \(MIT\)$/m);
  });
});

describe('the dependencies of the package that users install', () => {
  it('contain nothing that the bundles contain', () => {
    const bundled = ['src/package.json', 'web/package.json'].flatMap((file) => listedIn(file));
    expect(runtime.filter((name) => bundled.includes(name))).toEqual([]);
  });
});
