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
  return [...text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(([, path]) =>
    relative(src, join(src, dirname(file), String(path))),
  );
}

/** Folders within a folder that others import without the rest of it. */
const PARTS = [
  'whitelist/matching',
  'indicators/read',
  'indicators/state',
  'entities/resolution',
  'sources/store',
];

/** The folder that a file belongs to; a file directly under src/ is one by itself. */
function folderOf(path: string): string {
  const [first = '', second] = path.split('/');
  const part = `${first}/${second}`;
  return PARTS.includes(part) ? part : first;
}

/** A folder imports only from folders before it. */
const ORDER = [
  'clock.ts',
  'root.ts',
  'version.ts',
  'threads.ts',
  'tracing',
  'model',
  'config',
  'secrets',
  'outbound',
  'rate-limit',
  'formats',
  'importers',
  'whitelist/matching',
  'db',
  'http',
  'indicators/read',
  'changes',
  'audit',
  'backup',
  'accounts',
  'api-keys',
  'sources/store',
  'indicators/state',
  'whitelist',
  'enrichment',
  'entities/resolution',
  'entities',
  'exports',
  'imports',
  'indicators',
  'feeds',
  'crowdsec',
  'lookup',
  'taxii',
  'misp-feed',
  'sources',
  'sigma',
  'health',
  'overview',
  'search',
  'catalogues',
  'mcp',
  'metrics',
  'web-app',
  'sample',
  'doctor',
  'app.ts',
  'worker',
  'cli',
  'main.ts',
];
/** These know neither the database nor HTTP. */
const PURE = ['secrets', 'outbound', 'rate-limit', 'formats', 'importers', 'whitelist/matching'];

describe('imports', () => {
  it.each(files.map((entry) => [entry.file, entry] as const))(
    'of %s are from its own folder and those before it',
    (file, entry) => {
      const own = folderOf(file);
      expect(ORDER).toContain(own);
      const before = PURE.includes(own)
        ? ['threads.ts', 'tracing', 'model']
        : ORDER.slice(0, ORDER.indexOf(own));
      const allowed = [own, ...before];
      expect(importsOf(entry).filter((path) => !allowed.includes(folderOf(path)))).toEqual([]);
    },
  );

  it('form no circle, types included', () => {
    const imports = new Map(files.map((entry) => [entry.file, importsOf(entry)]));
    const done = new Set<string>();
    const circleFrom = (file: string, path: readonly string[]): readonly string[] => {
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
      if (done.has(file)) return [];
      for (const imported of imports.get(file) ?? []) {
        const circle = circleFrom(imported, [...path, file]);
        if (circle.length > 0) return circle;
      }
      done.add(file);
      return [];
    };
    expect(files.flatMap(({ file }) => circleFrom(file, []))).toEqual([]);
  });
});

/** What a file imports at its start, without types: packages, and our own files as paths under src/. */
function loadedBy(file: string): string[] {
  const text = files.find((one) => one.file === file)?.text ?? '';
  return [...text.matchAll(/^(?:import|export) (?!type )(?:([^;']*?) from )?'([^']+)';$/gm)]
    .filter(([, names = '']) => !/^\{(\s*type \w+( as \w+)?,?)+\s*\}$/.test(names))
    .map(([, , path = '']) => (path.startsWith('.') ? relative(src, join(src, dirname(file), path)) : path));
}

/** Packages that are loaded with a file. */
function packagesOf(file: string): string[] {
  const loaded = new Set([file]);
  for (const one of loaded) for (const path of loadedBy(one)) loaded.add(path);
  return [...loaded].filter((path) => !path.endsWith('.ts') && !path.startsWith('node:'));
}

/** Commands that have the routes. */
const WITH_ROUTES = ['demo', 'openapi', 'serve', 'worker'];

describe('the commands', () => {
  const program = readFileSync(join(src, 'cli/program.ts'), 'utf8');
  const commands = [...program.matchAll(/import\('\.\/([\w-]+)\.ts'\)/g)].map(([, name = '']) => name);

  it.each(commands.filter((name) => !WITH_ROUTES.includes(name)))(
    '%s starts without Fastify and undici, whose loading takes a tenth of a second',
    (name) => {
      const packages = packagesOf(`cli/${name}.ts`);
      expect(packages).toContain('commander');
      const all = [...packagesOf('main.ts'), ...packages];
      expect(all.filter((path) => /^(fastify|undici)$/.test(path))).toEqual([]);
    },
  );

  it.each(['keys', 'users'])('%s starts without the public suffixes and the whitelist', (name) => {
    expect(
      packagesOf(`cli/${name}.ts`).filter((path) => /^(tldts|tr46|re2js|typebox.*)$/.test(path)),
    ).toEqual([]);
  });
});

describe('the source code', () => {
  it('reads the environment in one place', () => {
    const readers = files.filter(({ text }) => /process\.env\b/.test(text)).map(({ file }) => file);
    expect(readers).toEqual(['config/config.ts']);
  });

  it('hands settings and dependencies on by name: a secret goes only where it is named', () => {
    const spreads = files.filter(({ text }) => /\.\.\.(deps|config)\b/.test(text)).map(({ file }) => file);
    expect(spreads.filter((file) => !file.startsWith('cli/'))).toEqual([]);
  });

  it('keeps SQL in queries and in db/', () => {
    const speaks = /from 'kysely'|\.(selectFrom|insertInto|updateTable|deleteFrom)\(/;
    const types = /^import type .* from 'kysely';$/gm;
    const speakers = files.filter(({ text }) => speaks.test(text.replace(types, ''))).map(({ file }) => file);
    const elsewhere = speakers.filter((file) => !file.startsWith('db/') && !file.endsWith('.queries.ts'));
    expect(elsewhere).toEqual([]);
  });

  it('imports routes in the two applications alone', () => {
    const others = files.filter(({ file }) => !['app.ts', 'worker/worker-app.ts'].includes(file));
    expect(others.flatMap(importsOf).filter((path) => path.endsWith('.routes.ts'))).toEqual([]);
  });

  it('keeps model/ without I/O and without a clock', () => {
    const impure = /node:(fs|net|http|child_process|dns|timers)|Date\.now\(|new Date\(\)|Math\.random\(/;
    const found = files
      .filter(({ file, text }) => folderOf(file) === 'model' && impure.test(text))
      .map(({ file }) => file);
    expect(found).toEqual([]);
  });

  it('applies visibility to every query of a marked table', () => {
    const marked =
      /\b(?:from|join|selectFrom\(')\s*(?:indicator|actor|campaign|technique|software|report|relationship)\b/;
    // A table whose name is a parameter is one of them.
    const reads = (text: string) => marked.test(text) || text.includes('sql.table(');
    const readers = files.filter(
      ({ file, text }) =>
        /^(indicators\/(read\/)?[^/]*|entities\/(actors|campaigns|navigator)\/[^/]*|(health|exports|misp-feed|sigma)\/.*)\.queries\.ts$/.test(
          file,
        ) &&
        reads(text) &&
        !text.includes("/db/visibility.ts'"),
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
      const isOperation = type !== undefined && /\.schema\.ts$|^http\/routes\.ts$/.test(place);
      return !isRule && !isOperation;
    });
    expect(wrong.map(([statement]) => statement)).toEqual([]);
  });
});

describe('TLP ceilings', () => {
  it.each(files.map((entry) => [entry.file, entry] as const))('of %s have no default', (_, { text }) => {
    const defaults = text.match(
      /\b(?:tlpCeiling|\w*[cC]eiling)\??(?:: Tlp)? = '[A-Z_]+'|\btlpCeiling\?: Tlp[,)]/g,
    );
    expect(defaults).toBeNull();
  });
});
