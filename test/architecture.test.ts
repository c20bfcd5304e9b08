import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src/', import.meta.url));

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(join(src, file), 'utf8') }));

/** Our own files that a file imports, as paths under src/. */
function importsOf({ file, text }: (typeof files)[number]): string[] {
  return [...text.matchAll(/from '(\.[^']+)'/g)].map(([, path]) =>
    relative(src, join(src, dirname(file), String(path))),
  );
}

const room = (path: string) => (path.includes('/') ? String(path.split('/')[0]) : path);

/** What each room may lean on, besides itself. Arrows run one way. */
const MAY_IMPORT: Record<string, string[]> = {
  model: [],
  formats: ['model'],
  importers: ['model'],
  outbound: [],
  secrets: [],
  whitelist: ['model'],
  enrichment: ['model', 'kv', 'outbound', 'clock.ts'],
  kv: ['model'],
  db: ['model', 'root.ts'],
  http: ['model', 'db', 'kv', 'clock.ts', 'version.ts'],
  features: [
    'model',
    'db',
    'kv',
    'http',
    'importers',
    'enrichment',
    'formats',
    'outbound',
    'secrets',
    'whitelist',
    'clock.ts',
    'root.ts',
    'version.ts',
  ],
  worker: ['features', 'enrichment', 'secrets', 'db', 'clock.ts'],
  'app.ts': ['features', 'http', 'db', 'kv', 'importers', 'clock.ts', 'version.ts'],
  'worker-app.ts': ['features', 'http', 'db', 'kv', 'clock.ts', 'version.ts'],
  cli: [
    'app.ts',
    'worker-app.ts',
    'worker',
    'config.ts',
    'features',
    'enrichment',
    'outbound',
    'secrets',
    'http',
    'db',
    'kv',
    'importers',
    'formats',
    'model',
    'clock.ts',
    'root.ts',
    'version.ts',
  ],
  'main.ts': ['cli', 'config.ts'],
  'config.ts': ['model'],
  'clock.ts': [],
  'root.ts': [],
  'version.ts': ['root.ts'],
};

describe('the house', () => {
  it.each(files.map((entry) => [entry.file, entry] as const))(
    '%s leans only on what it may',
    (file, entry) => {
      const own = room(file);
      const allowed = [own, ...(MAY_IMPORT[own] ?? [])];
      expect(MAY_IMPORT).toHaveProperty([own]);
      expect(importsOf(entry).filter((path) => !allowed.includes(room(path)))).toEqual([]);
    },
  );

  it('keeps the environment in config.ts', () => {
    const readers = files.filter(({ text }) => /process\.env\b/.test(text)).map(({ file }) => file);
    expect(readers).toEqual(['config.ts']);
  });

  it('keeps SQL in queries and in db/', () => {
    const speaks = /from 'kysely'|\.(selectFrom|insertInto|updateTable|deleteFrom)\(/;
    const types = /^import type .* from 'kysely';$/gm;
    const speakers = files.filter(({ text }) => speaks.test(text.replace(types, ''))).map(({ file }) => file);
    const elsewhere = speakers.filter((file) => !file.startsWith('db/') && !file.endsWith('.queries.ts'));
    expect(elsewhere).toEqual([]);
  });

  it('keeps routes of features apart', () => {
    const crossing = files.flatMap((entry) =>
      importsOf(entry).filter((path) => path.endsWith('.routes.ts') && room(entry.file) === 'features'),
    );
    expect(crossing).toEqual([]);
  });

  it('keeps model/ without I/O and without a clock', () => {
    const impure = /node:(fs|net|http|child_process|dns|timers)|Date\.now\(|new Date\(\)|Math\.random\(/;
    const found = files
      .filter(({ file, text }) => room(file) === 'model' && impure.test(text))
      .map(({ file }) => file);
    expect(found).toEqual([]);
  });

  it('puts the door of visibility on every query of a marked table', () => {
    const marked =
      /\b(?:from|join|selectFrom\(')\s*(?:indicator|actor|campaign|technique|software|report|relationship)\b/;
    // A table whose name is a parameter is one of them.
    const reads = (text: string) => marked.test(text) || text.includes('sql.table(');
    const readers = files.filter(
      ({ file, text }) =>
        /features\/(indicators|actors|campaigns|health|exports|misp-feed|sigma)\/.*\.queries\.ts$/.test(
          file,
        ) &&
        reads(text) &&
        !text.includes("from '../../db/visibility.ts'"),
    );
    expect(readers.map(({ file }) => file)).toEqual([]);
  });
});

describe('the pages', () => {
  const web = fileURLToPath(new URL('../web/src/', import.meta.url));
  const pages = readdirSync(web, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );

  it.each(pages)('%s takes from the server nothing but pure rules, and types of operations', (file) => {
    const text = readFileSync(join(web, file), 'utf8');
    const taken = [...text.matchAll(/^import (type )?[^;]*? from '((?:\.\.\/)+src\/[^']+)'/gm)];
    const wrong = taken.filter(([, type, path]) => {
      const place = String(path).replace(/^(\.\.\/)+src\//, '');
      const isRule = place.startsWith('model/');
      const isOperation = type !== undefined && /\.schema\.ts$|^http\/operation\.ts$/.test(place);
      return !isRule && !isOperation;
    });
    expect(wrong.map(([statement]) => statement)).toEqual([]);
  });
});

describe('TLP ceilings', () => {
  it.each(files.map((entry) => [entry.file, entry] as const))('of %s have no default', (_, { text }) => {
    const defaults = text.match(/\b(?:seesUpTo|\w*[cC]eiling)\??(?:: Tlp)? = '[A-Z_]+'|\bseesUpTo\?:/g);
    expect(defaults).toBeNull();
  });
});
