import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { inject } from 'vitest';

export interface Exit {
  /** null: ended by a signal. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Waits for words on standard output. @throws when the process ends without them, or they do not come */
  says(words: RegExp): Promise<RegExpMatchArray>;
  signal(signal: NodeJS.Signals): void;
  exit: Promise<Exit>;
}

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** For its standard input, which ends after it. */
  input?: string | Buffer;
  /** Its standard input does not end. */
  inputStaysOpen?: boolean;
  /** Nobody reads its standard output, or any of its output: the pipe is closed before it writes anything. */
  unread?: 'stdout' | 'all';
}

const alive = new Map<number, Running>();

/** Ends those that a test file has started, also when a test failed in the middle. */
export async function endProcesses(): Promise<void> {
  for (const { signal, exit } of [...alive.values()]) {
    signal('SIGCONT');
    signal('SIGKILL');
    await exit;
  }
}

/** Starts a process that sees nothing of our settings, in a directory without an `.env`. */
export function start(
  command: string,
  args: string[],
  { env, cwd, input, inputStaysOpen, unread }: RunOptions = {},
): Running {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(command, args, {
    cwd: cwd ?? tmpdir(),
    env: {
      PATH,
      HOME,
      NODE_OPTIONS: '--throw-deprecation',
      PUBLIC_API_RATE_LIMIT_PER_WINDOW: '1000000',
      ...env,
    },
    stdio: 'pipe',
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
  if (unread !== undefined) child.stdout.destroy();
  if (unread === 'all') child.stderr.destroy();
  // One that ends before it has read its input is no fault of ours.
  child.stdin.on('error', () => {});
  child.stdin.write(input ?? '');
  if (!inputStaysOpen) child.stdin.end();
  const pid = child.pid ?? 0;
  const exit = new Promise<Exit>((done) => {
    child.once('close', (code) => {
      alive.delete(pid);
      done({ code, ...said });
    });
  });
  const running: Running = {
    pid,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    signal: (signal) => void child.kill(signal),
    exit,
    says: (words) =>
      until(`${words} from ${args.join(' ')}`, () => {
        const match = said.stdout.match(words);
        if (match || !hasEnded(child)) return match;
        throw new Error(`it ended without saying ${words}:\n${said.stdout}${said.stderr}`);
      }),
  };
  alive.set(pid, running);
  return running;
}

function hasEnded({ exitCode, signalCode }: { exitCode: number | null; signalCode: string | null }): boolean {
  return exitCode !== null || signalCode !== null;
}

/** `tipline ARGS` as this tree compiles to. */
export function tipline(args: string[], options?: RunOptions): Running {
  const main = inject('productMain');
  if (main === null) throw new Error('the sources do not compile; see above');
  return start(process.execPath, [main, ...args], options);
}

/** Runs a command to its end. */
export async function run(args: string[], options?: RunOptions): Promise<Exit> {
  return tipline(args, options).exit;
}

/** Asks until the answer is neither null, undefined nor false. @throws when that takes longer than `ms` */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  ms = 300_000,
): Promise<Exclude<T, null | undefined | false>> {
  const deadline = performance.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false)
      return answer as Exclude<T, null | undefined | false>;
    if (performance.now() > deadline) throw new Error(`waited ${ms} ms in vain: ${what}`);
    await delay(25);
  }
}
