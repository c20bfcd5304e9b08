import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tablerIcons } from '../web/tabler-icons.ts';

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  dependencies: Record<string, string>;
};
/** The files that `npm run build` and the server read. */
const FILES = [
  ...['src', 'web'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${folder}/${name}`),
  ),
  ...['build', 'run', 'newest'].map((name) => `scripts/${name}.mjs`),
];
const IMPORT =
  /(?:^(?:import|export)\s+(?!type\s)(?:[\w$*\s{},]+\sfrom\s+)?|\bimport\()['"]([^'".][^'"]*)['"]/gm;
const packageOf = (name: string) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');

describe('a start without devDependencies', () => {
  it('imports only packages of dependencies', () => {
    const imported = new Set<string>();
    for (const file of FILES)
      for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(IMPORT))
        if (!/^(node|icon):/.test(name)) imported.add(packageOf(name));
    expect([...imported].filter((name) => !(name in dependencies))).toEqual([]);
    expect([...imported]).toEqual(expect.arrayContaining(['fastify', 'react', 'vite']));
  });

  it('fails the build for an icon that does not exist', () => {
    const load = tablerIcons().load as unknown as (id: string) => unknown;
    expect(() => load('\0icon:no-such-icon')).toThrow('There is no Tabler icon "no-such-icon".');
    expect(load('\0icon:lock-open')).toMatchObject({ code: expect.stringContaining('strokeWidth="2"') });
  });
});
