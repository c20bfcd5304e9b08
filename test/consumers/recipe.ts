import { execFile, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { type CreateOptions, definitionOf, feedsCommand } from '../../src/cli/feeds.ts';
import { keysCommand } from '../../src/cli/keys.ts';
import { createFeed } from '../../src/feeds/feeds.service.ts';
import type { Scope } from '../../src/model/account.ts';
import type { IndicatorType, Tlp } from '../../src/model/vocabulary.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { EMBEDDED } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { commandsOf, type Page, readPage, wordsOf } from '../support/integration-pages.ts';
import { until } from '../support/processes.ts';

// A page of docs/integrations, carried out: its feeds and keys are made, its files written below a directory, its commands run.

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));
const SYSTEM_PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const BY = { who: 'test', now: NOW };
const DAY = 86_400_000;
/** A program that has not done it by then never will. */
const WAIT_MS = 300_000;

/** Whether a program of Debian is installed. */
export const isInstalled = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`], { env: { ...process.env, PATH: SYSTEM_PATH } }).status ===
  0;

/** What the server lists at first, and then. */
export interface Values {
  type: IndicatorType;
  /** Listed at first; whitelisted later. */
  listed: string;
  /** Whitelisted from the start. */
  whitelisted: string;
  expired: string;
  /** Listed until the clock moves. */
  expiring: string;
  /** Listed later. */
  added: string;
}

export const DOMAINS: Values = {
  type: 'DOMAIN',
  listed: 'listed.example',
  whitelisted: 'whitelisted.example',
  expired: 'expired.example',
  expiring: 'expiring.example',
  added: 'added.example',
};
export const ADDRESSES: Values = {
  type: 'IPV4',
  listed: '198.51.100.7',
  whitelisted: '198.51.100.8',
  expired: '198.51.100.9',
  expiring: '198.51.100.10',
  added: '198.51.100.11',
};

/** What a consumer blocks of the values, at first and after the change. */
export const AT_FIRST = { listed: true, whitelisted: false, expired: false, expiring: true, added: false };
export const AFTER_CHANGE = {
  listed: false,
  whitelisted: false,
  expired: false,
  expiring: false,
  added: true,
};

export interface Recipe {
  page: Page;
  harness: Harness;
  /** http://127.0.0.1:port */
  address: string;
  /** The directory that stands for the root of the file system in the page. */
  root: string;
  /** The key of the page. */
  key: string;
  /** The text of the page's file, with the paths and addresses of the test. */
  file(path: string): string;
  /** The text of the page's only block without a path that matches. */
  fragment(pattern: RegExp): string;
  /** Writes a file below the root, with missing folders. @returns its path */
  write(path: string, text: string, mode?: number): string;
  /** Stands for a program in the commands of the page: a shell script, in which `$@` are the arguments. */
  program(name: string, script: string): void;
  /** Runs the commands of the page that match. @throws when there is none, or one fails */
  run(pattern: RegExp): Promise<string>;
  shell(command: string): Promise<string>;
  /** Whitelists, expires and adds. */
  change(...values: Values[]): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server with the values, and writes the files of a page and runs its `tipline` commands. */
export async function openRecipe(name: string, ...values: Values[]): Promise<Recipe> {
  const page = readPage(name);
  const harness = await startHarness(EMBEDDED);
  const address = await harness.app.listen({ port: 0, host: '127.0.0.1' });
  await harness.load(values.flatMap(recordsAtFirst));
  for (const { whitelisted } of values)
    await addEntry(harness.db, whitelisted, undefined, { ...BY, reason: 'ours' }, 'RED');
  const root = temporaryDirectory();
  const bin = join(root, 'bin');
  mkdirSync(bin);
  const keys = await runTipline(harness, page);
  const key = keys.at(-1) ?? (await harness.newKey());
  const local = (text: string) =>
    text
      .replaceAll('https://tipline.example', address)
      .replaceAll('tip_...', key)
      .replace(/(?<![\w.}/])\/(?=(?:etc|var|opt|run|home)\/)/g, `${root}/`);
  const write = (path: string, text: string, mode = 0o644) => {
    const target = join(root, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    chmodSync(target, mode);
    return target;
  };
  for (const { path, text } of page.blocks) if (path !== null) write(path, local(text));
  for (const [path] of page.text.matchAll(/\/(?:etc|var|opt|run)\/[\w./-]+/g))
    mkdirSync(dirname(join(root, path)), { recursive: true });
  write('netrc', `machine 127.0.0.1 login tipline password ${key}\n`, 0o600);
  chmodSync(root, 0o755);
  const env = {
    ...process.env,
    PATH: `${bin}:${EXAMPLES}:${SYSTEM_PATH}`,
    TIPLINE_NETRC: join(root, 'netrc'),
    TIPLINE_KEY: key,
    NODE_OPTIONS: '',
  };
  const shell = (command: string) =>
    new Promise<string>((resolve, reject) => {
      const options = { env, cwd: root, maxBuffer: 1 << 26, timeout: 2 * WAIT_MS };
      const child = execFile('bash', ['-ec', local(command)], options, (error, stdout, stderr) =>
        error ? reject(new Error(`${command}\n${stdout}${stderr}`)) : resolve(stdout),
      );
      child.stdin?.end();
    });
  const recipe: Recipe = {
    page,
    harness,
    address,
    root,
    key,
    file: (path) => {
      const block = page.blocks.find((one) => one.path === path);
      if (!block) throw new Error(`${name}.md has no file ${path}.`);
      return local(block.text);
    },
    fragment(pattern) {
      const [block, another] = page.blocks.filter(
        ({ path, text }) => path === null && pattern.test(text.trimStart()),
      );
      if (!block || another) throw new Error(`${name}.md must have one block that matches ${pattern}.`);
      return local(block.text);
    },
    write,
    program: (program, script) => void write(join('bin', program), `#!/bin/sh\n${script}\n`, 0o755),
    async run(pattern) {
      const commands = commandsOf(page).filter((command) => pattern.test(command));
      if (commands.length === 0) throw new Error(`${name}.md has no command ${pattern}.`);
      let output = '';
      for (const command of commands) output += await shell(command);
      return output;
    },
    shell,
    async change(...changed) {
      const now = new Date(NOW.getTime() + 2 * DAY);
      harness.clock.now = now;
      for (const { listed, type, added } of changed) {
        await addEntry(harness.db, listed, undefined, { ...BY, now, reason: 'ours' }, 'RED');
        await harness.load([indicatorRecord(type, added, { confidence: 90 })]);
      }
    },
    async close() {
      await Promise.all((children.get(recipe) ?? []).map(end));
      await harness.close();
    },
  };
  return recipe;
}

const children = new Map<Recipe, ReturnType<typeof spawn>[]>();

/** Ends a process and those that it has started. */
async function end(child: ReturnType<typeof spawn>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await ended;
  clearTimeout(timer);
}

/** A program that a test has started. */
export interface Program {
  pid: number;
  /** Waits for a condition. @throws when the program has ended */
  until(what: string, isMet: () => Promise<boolean>): Promise<void>;
}

/** Starts a program in the foreground; it ends with the recipe. */
export function startProgram(recipe: Recipe, program: string, args: string[]): Program {
  const child = spawn(program, args, {
    cwd: recipe.root,
    env: { ...process.env, PATH: SYSTEM_PATH, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => (output = `${output}${text}`.slice(-4000)));
  child.on('error', (error) => (output += error));
  children.set(recipe, [...(children.get(recipe) ?? []), child]);
  return {
    pid: child.pid ?? 0,
    until: async (what, isMet) => {
      await until(
        what,
        async () => {
          if (child.exitCode !== null || child.signalCode !== null)
            throw new Error(`${program} ended while waiting for ${what}: ${output}`);
          return isMet();
        },
        WAIT_MS,
      ).catch((error) => {
        throw new Error(`${error.message}\n${output}`);
      });
    },
  };
}

function recordsAtFirst({ type, listed, whitelisted, expired, expiring }: Values) {
  const record = (value: string, days: number | null) =>
    indicatorRecord(type, value, {
      confidence: 90,
      ...(days !== null && { expiresAt: new Date(NOW.getTime() + days * DAY) }),
    });
  return [record(listed, null), record(whitelisted, null), record(expired, -1), record(expiring, 1)];
}

/** Carries out the lines `npx tipline feeds create …` and `keys create …` of a page. @returns the keys */
export async function runTipline(harness: Harness, page: Page): Promise<string[]> {
  const keys: string[] = [];
  for (const command of commandsOf(page)) {
    const [npx, tipline, noun, verb, ...rest] = wordsOf(command);
    if (npx !== 'npx' || tipline !== 'tipline') continue;
    if (noun === 'feeds' && verb === 'create') {
      const { args, options } = parse<CreateOptions>(feedsCommand(), verb, rest);
      await createFeed(harness.db, definitionOf(args[0] ?? '', options), BY);
    }
    if (noun === 'keys' && verb === 'create') {
      const { options } = parse<KeyOptions>(keysCommand(), verb, rest);
      const { name, scope: scopes = [], feed: feeds = [], tlpCeiling = 'RED' } = options;
      // The network of the example is not that of the test.
      keys.push(await harness.newKey({ name, scopes, feeds, tlpCeiling }));
    }
  }
  return keys;
}

interface KeyOptions {
  name: string;
  scope?: Scope[];
  feed?: string[];
  tlpCeiling?: Tlp;
}

/** Parses arguments as the command line does. @throws what the command line would reject */
function parse<T>(command: Command, verb: string, argv: string[]): { args: string[]; options: T } {
  const found = command.commands.find((one) => one.name() === verb);
  if (!found) throw new Error(`There is no command ${command.name()} ${verb}.`);
  found.exitOverride().action(() => {});
  found.parse(argv, { from: 'user' });
  return { args: found.args, options: found.opts() as T };
}
