import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../clients/typescript/src/index.js';
import { compile, emptyProject } from './installed.ts';
import { hasPython, PYTHON_CLIENT, python } from './python.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = (directory: string, end: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .map((name) => join(directory, name));

describe('both clients', () => {
  it('are in step with the OpenAPI document', () => {
    execFileSync(process.execPath, [join(root, 'scripts/clients.mjs'), '--check'], { stdio: 'pipe' });
  });

  it('have the version of the API', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'clients/typescript/package.json'), 'utf8'));
    const { info } = JSON.parse(readFileSync(join(root, 'openapi/openapi.json'), 'utf8'));
    expect([version, VERSION]).toEqual([info.version, info.version]);
  });
});

describe('the npm package', () => {
  let project: string;
  let installed: string;
  beforeAll(async () => {
    project = await emptyProject();
    installed = join(project, 'node_modules/tipline-client');
  });

  it('has modules, types and a README, and depends on nothing', () => {
    const names = files(installed, '').map((name) => name.slice(installed.length + 1));
    expect(names).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts']),
    );
    expect(names.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))).toEqual([]);
    expect(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))).not.toHaveProperty(
      'dependencies',
    );
  });

  it('uses nothing of Node.js', () => {
    const found = files(join(installed, 'dist'), '.js').filter((name) =>
      /\bnode:|\bBuffer\b|\bprocess\.|\brequire\(|\bglobal\./.test(readFileSync(name, 'utf8')),
    );
    expect(found).toEqual([]);
  });

  const program = (severity: string) => `
    import { Tipline, TiplineError, type Indicator } from 'tipline-client';
    const tipline = new Tipline({ url: 'https://tipline.example.org', key: 'tip_' });
    const values: string[] = [];
    for await (const { value } of tipline.iterateIndicators({ severity: '${severity}', q: undefined })) values.push(value);
    const { data }: { data: Indicator[] } = await tipline.listIndicators({}, { signal: AbortSignal.timeout(1) });
    const confidence: number = data[0]?.confidence ?? 0;
    for await (const { changes } of tipline.followFeedChanges('edge'))
      for (const change of changes) values.push(change.op === 'upsert' ? change.indicator.id : change.id);
    const bytes: ReadableStream<Uint8Array> = (await tipline.exportIndicators('csv')).body;
    const isError = (error: unknown): boolean => error instanceof TiplineError && error.status === 410;
    export { bytes, confidence, isError };
  `;

  it('compiles strictly with the types of browsers, without those of Node.js', async () => {
    expect(await compile(project, 'user.ts', program('HIGH'), { lib: ['ES2022', 'DOM'] })).toBe('');
  });

  it('rejects values that the API does not have', async () => {
    const errors = await compile(project, 'user.ts', program('SEVERE'), { lib: ['ES2022', 'DOM'] });
    expect(errors).toMatch(/'"SEVERE"' is not assignable to type/);
  });
});

describe.skipIf(!hasPython)('the Python package', () => {
  it('has the syntax of Python 3.9', async () => {
    const script =
      'import ast, pathlib, sys\nfor name in sys.argv[1:]: ast.parse(pathlib.Path(name).read_text("utf-8"), name, feature_version=(3, 9))';
    const { code, stderr } = await python(['-c', script, ...files(PYTHON_CLIENT, '.py')]);
    expect([code, stderr]).toEqual([0, '']);
  });

  it('imports the standard library only', async () => {
    const script = `
import ast, pathlib, sys
for name in sys.argv[1:]:
    for node in ast.walk(ast.parse(pathlib.Path(name).read_text("utf-8"))):
        if isinstance(node, ast.Import): modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0: modules = [node.module]
        else: continue
        for module in modules:
            if module.split(".")[0] not in sys.stdlib_module_names: print(name, module)
`;
    const { stdout, stderr } = await python(['-c', script, ...files(join(PYTHON_CLIENT, 'src'), '.py')]);
    expect([stdout, stderr]).toEqual(['', '']);
  });

  it('does what the examples in its functions say', async () => {
    const script = `
import doctest, importlib, pkgutil, tipline
results = [doctest.testmod(importlib.import_module(f"tipline.{module.name}")) for module in pkgutil.iter_modules(tipline.__path__)]
print(sum(result.attempted for result in results), sum(result.failed for result in results))
`;
    const { stdout, stderr } = await python(['-c', script]);
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^[1-9]\d 0\n$/), '']);
  });

  it('waits, repeats, reads and splits as its tests say', { tags: ['nightly'] }, async () => {
    const { code, stderr } = await python(['-m', 'unittest', 'discover', '-s', join(PYTHON_CLIENT, 'tests')]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/Ran \d\d tests in .*\n\nOK\n$/)]);
  });
});
