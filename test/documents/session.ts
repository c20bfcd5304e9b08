import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { compile, emptyProject } from '../api-clients/installed.ts';
import { isInstalled } from '../consumers/recipe.ts';
import { type CodeBlock, isAsPrinted } from '../support/code-blocks.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { type Running, start, until } from '../support/processes.ts';
import { freePort } from '../support/servers.ts';

/** The addresses of Tipline in the documents. */
const DOCUMENTED = /https?:\/\/(?:tipline\.example(?:\.org)?(?::\d+)?|127\.0\.0\.1:80[08]0)(?![\w.-])/g;
/** Directories of a system in the documents, which are below the directory of the session. */
const SYSTEM_PATH = /(?<![\w.}/])\/(?=(?:etc|var|opt|backups)\/)/g;
const ROOT = new URL('../../', import.meta.url).pathname;

/** A user's terminals: commands of one block see the variables, the directory and the files of those before. */
export interface Session {
  /** http://127.0.0.1:port */
  address: string;
  /** Values of this installation, by those that the documents have. */
  replaced: Map<string, string>;
  /** Runs shell commands. @returns what they print @throws when they fail */
  shell(commands: string): Promise<string>;
  /** Runs a block, and compares what it prints with the block that shows its output. @throws when it fails or differs */
  run(block: CodeBlock, output?: CodeBlock): Promise<void>;
  /** Runs shell commands before the blocks of a document, in a new directory of its own. */
  prepare(commands: string): Promise<void>;
  /** Runs programs that use the clients. @throws when one fails */
  runPython(text: string): Promise<void>;
  runTypeScript(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a session in an empty directory, in which `tipline` and `npx tipline` are commands. */
export async function startSession(): Promise<Session> {
  const directory = temporaryDirectory();
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const state = join(directory, '.session');
  const bin = join(state, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = (name: string, script: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program('tipline', `exec "${process.execPath}" "${inject('productMain')}" "$@"`);
  program('npx', `shift; exec "${bin}/tipline" "$@"`);
  const env = {
    PATH: `${bin}:${ROOT}examples:${process.env.PATH}`,
    HOME: directory,
    REPOSITORY: ROOT,
    PORT: String(port),
    // Without background jobs, no source is fetched, no provider queried and no webhook called.
    TIPLINE_WORKER: 'off',
    PYTHONPATH: `${ROOT}clients/python/src`,
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const servers: Running[] = [];
  const here = () =>
    existsSync(join(state, 'cwd')) ? readFileSync(join(state, 'cwd'), 'utf8').trim() : directory;
  const replaced = new Map<string, string>();
  const local = (text: string) =>
    [...replaced].reduce(
      (result, [documented, actual]) => result.replaceAll(documented, actual),
      text.replaceAll(DOCUMENTED, address).replaceAll(SYSTEM_PATH, `${directory}/`),
    );

  /** Runs commands with the variables and in the directory of those before. */
  async function shell(commands: string): Promise<string> {
    const script = `set -a; [ ! -f ${state}/variables ] || . ${state}/variables
${commands}
export -p > ${state}/variables; pwd > ${state}/cwd`;
    const { code, stdout, stderr } = await start('bash', ['-ec', script], { env, cwd: here() }).exit;
    if (code !== 0) throw new Error(`${commands}\nexit code ${code}\n${stdout.slice(-2000)}${stderr}`);
    return stdout;
  }

  /** Starts a server in a terminal of its own, and waits until it has printed the output. */
  async function serve(commands: string, output: CodeBlock | undefined): Promise<void> {
    const server = start('bash', ['-ec', `exec ${commands.trim()}`], { env, cwd: here() });
    servers.push(server);
    let hasEnded = false;
    void server.exit.then(() => (hasEnded = true));
    await until(`the output of ${commands}`, () => {
      if (hasEnded) throw new Error(`${commands} ended:\n${server.stdout()}${server.stderr()}`);
      return isAsPrinted(server.stdout(), local(output?.text ?? '…'));
    });
  }

  return {
    address,
    replaced,
    shell: (commands) => shell(local(commands)),
    async run({ document, line, language, title, needs, text }, output) {
      const where = `${document}:${line}`;
      if (needs !== null && !isInstalled(needs)) return console.log(`(${where}: no ${needs} here)`);
      const commands = local(text);
      if (title?.endsWith(' terminal')) return serve(commands, output);
      if (title !== null) {
        mkdirSync(dirname(join(here(), title)), { recursive: true });
        return writeFileSync(join(here(), title), commands);
      }
      if (language !== 'sh')
        throw new Error(`${where}: a block in ${language} needs the name of a file as its title.`);
      const printed = await shell(commands).catch((error) => {
        throw new Error(`${where}: ${error.message}`);
      });
      if (output && !isAsPrinted(printed, local(output.text)))
        throw new Error(`${where} prints\n${printed}\nand not\n${output.text}`);
    },
    async prepare(commands) {
      const own = temporaryDirectory();
      const start = `TIPLINE_DATA_DIR=${directory}/data; cd ${own}; eval "$(tipline demo --show-key)"`;
      await shell(`${start}\n${local(commands)}`);
    },
    async runPython(text) {
      writeFileSync(join(here(), 'examples.py'), local(text));
      await shell('python3 examples.py');
    },
    async runTypeScript(text) {
      const project = await emptyProject();
      const problems = await compile(project, 'examples.ts', local(text), { types: ['node'] });
      if (problems !== '') throw new Error(problems);
      await shell(`cd ${project}; "${process.execPath}" examples.js`);
    },
    async close() {
      for (const server of servers) {
        server.signal('SIGTERM');
        await server.exit;
      }
    },
  };
}
