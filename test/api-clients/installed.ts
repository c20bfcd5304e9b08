import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/directories.ts';
import { type Exit, start } from '../support/processes.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const tsc = join(root, 'node_modules/typescript/bin/tsc');

/** Packs the TypeScript client as npm does. Returns the path of the package. */
async function pack(): Promise<string> {
  const directory = temporaryDirectory();
  const client = join(directory, 'client');
  mkdirSync(client);
  for (const name of ['src', 'package.json', 'tsconfig.json', 'README.md', 'LICENSE'])
    cpSync(join(root, 'clients/typescript', name), join(client, name), { recursive: true });
  await run(process.execPath, [tsc, '-p', client]);
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', directory], { cwd: client });
  const [file = ''] = readdirSync(directory).filter((name) => name.endsWith('.tgz'));
  return join(directory, file);
}

/** Returns a new project in which the packed client is installed, without a network. */
export async function emptyProject(): Promise<string> {
  const project = temporaryDirectory();
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
  await run('npm', ['install', '--offline', '--no-audit', await pack()], { cwd: project });
  return project;
}

/** Compiles a module in a project, strictly. Returns the errors. */
export async function compile(
  project: string,
  name: string,
  text: string,
  options: { types?: string[]; lib?: string[] } = {},
): Promise<string> {
  writeFileSync(join(project, name), text);
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: 'ES2022',
    lib: options.lib ?? ['ES2022'],
    module: 'NodeNext',
    types: options.types ?? [],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [name] }));
  return run(process.execPath, [tsc, '-p', project]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
}

/** Runs a compiled module of a project. */
export function runModule(project: string, name: string, env: Record<string, string>): Promise<Exit> {
  return start(process.execPath, [name], { cwd: project, env }).exit;
}
