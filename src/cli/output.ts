import { randomBytes } from 'node:crypto';
import { constants, fstatSync, type Stats, statSync } from 'node:fs';
import { chmod, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { devNull } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { systemReason } from '../model/system-error.ts';

/** The destination of a command's result. */
export interface Output {
  stream: Writable;
  /** Moves the complete file to its path. */
  commit(): Promise<void>;
  /** Deletes the incomplete file; an existing one stays unchanged. Has no effect after `commit`. */
  discard(): Promise<void>;
}

const nothing = async () => {};
const STANDARD_OUTPUT: Output = { stream: process.stdout, commit: nothing, discard: nothing };

/**
 * Opens the output of a command. `-` or no path is standard output. A pipe or a device is written to directly. A
 * file is replaced once the new one is complete, and retains its mode. Symbolic links are followed.
 * @throws an error of the file system, also for a pipe without a reader, because opening it would block
 */
export async function openOutput(path = '-'): Promise<Output> {
  if (path === '-') return STANDARD_OUTPUT;
  const before = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (before && isStandardOutput(before)) return STANDARD_OUTPUT;
  if (before && !before.isFile()) {
    const checked = await open(path, constants.O_WRONLY | constants.O_NONBLOCK);
    // Once more in blocking mode: Node writes files on its thread pool. The reader of a pipe sees its end when nobody has it open.
    const handle = await open(path, 'w').finally(() => checked.close());
    return { stream: handle.createWriteStream(), commit: nothing, discard: nothing };
  }
  return openFile(before ? await realpath(path) : await linkTarget(path), before);
}

function isStandardOutput({ dev, ino }: Stats): boolean {
  const own = fstatSync(1);
  return own.dev === dev && own.ino === ino;
}

/**
 * Returns whether standard output discards all text: it is the null device, which Node.js also opens in place of a closed one, so that
 * writes succeed.
 */
export const isOutputDiscarded = (): boolean => fstatSync(1).rdev === statSync(devNull).rdev;

async function linkTarget(path: string): Promise<string> {
  const target = await readlink(path).catch(() => null);
  return target === null ? path : resolve(dirname(path), target);
}

async function openFile(path: string, before: Stats | null): Promise<Output> {
  // In a shared directory, another user could place a symbolic link at a predictable path. The name is random,
  // and `wx` fails if the path exists.
  const unfinished = join(dirname(path), `.tipline-${randomBytes(8).toString('hex')}.part`);
  const handle = await open(unfinished, 'wx');
  return {
    stream: handle.createWriteStream(),
    async commit() {
      if (before) await chmod(unfinished, before.mode & 0o777);
      await sync(unfinished);
      await rename(unfinished, path);
    },
    async discard() {
      await rm(unfinished, { force: true });
    },
  };
}

/** Writes a file to its disk: after a crash, the renamed file must not be empty. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  await handle.sync().finally(() => handle.close());
}

/** Returns whether an error is that of a pipe that its reader has closed. */
export const isClosedPipe = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'EPIPE';

/**
 * Reports the first error of standard output and sets the exit code. A pipe that its reader closes (`tipline … | head`) is no failure:
 * the command continues without its output, because it may be in the middle of its changes.
 * @returns a function that tells whether an error needs no other report
 */
export function watchStandardOutput(exitCode: number): (error: unknown) => boolean {
  const errors = new Set<unknown>();
  let isReported = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    errors.add(error);
    if (isClosedPipe(error)) return;
    process.exitCode = exitCode;
    if (isReported) return;
    isReported = true;
    process.stderr.write(`Cannot write to standard output: ${systemReason(error) ?? error.message}.\n`);
  });
  // Cannot be reported, and must not end the command either.
  process.stderr.on('error', () => {});
  return (error) => errors.has(error);
}

/** Ends the process with exit code 0 when the reader closes the pipe: for commands that change nothing and may not end by themselves. */
export function exitWithReader(): void {
  process.stdout.on('error', (error) => {
    if (isClosedPipe(error)) process.exit(0);
  });
}

/** Returns a time in UTC, to the minute. */
export function minute(date: Date | null): string {
  return date ? `${date.toISOString().slice(0, 16).replace('T', ' ')}Z` : 'never';
}

/**
 * Prints a line for people, without control characters: names that others chose must not end it or send escape sequences to the
 * terminal.
 */
export function print(line: string): void {
  process.stdout.write(`${line.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
