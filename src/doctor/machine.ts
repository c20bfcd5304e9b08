import { execFile } from 'node:child_process';
import { constants, existsSync, type Stats, statfsSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { systemReason } from '../model/system-error.ts';
import { error, type Judgement, megabytes, ok, warning } from './finding.ts';

/** Checks of this machine: the runtime, files and their permissions, disk space, the clock. */

/** @param versions such as 20.19.0, the one that runs and the oldest that is supported */
export function judgeNode(version: string, oldest: string): Judgement {
  const parts = (text: string) => text.split('.').map(Number);
  const [[major = 0, minor = 0], [oldMajor = 0, oldMinor = 0]] = [parts(version), parts(oldest)];
  if (major > oldMajor || (major === oldMajor && minor >= oldMinor)) return ok(`Node.js ${version}`);
  return error(`Node.js ${version} is older than ${oldest}`, `Install Node.js ${oldest} or newer.`);
}

type Owned = Pick<Stats, 'mode' | 'uid'>;

/**
 * @param found null: there is none
 * @param user the id of this process's user
 * @param isStore whether the embedded database is in it; otherwise it has only temporary files
 * @param writeProblem why it cannot be written, or made; null: it can
 */
export function judgeDirectory(
  path: string,
  found: Owned | null,
  user: number,
  isStore = true,
  writeProblem: string | null = null,
): Judgement {
  if (writeProblem !== null && !isStore)
    return error(
      `The data directory ${path} cannot be written: ${writeProblem}`,
      'Set TIPLINE_DATA_DIR to a directory that can be written: servers do not start without it.',
    );
  if (found === null && !isStore) return ok(`The data directory ${path} does not exist yet`);
  if (found === null)
    return warning(
      `The data directory ${path} does not exist`,
      'Set TIPLINE_DATA_DIR, or start a server, which creates it.',
    );
  if (found.uid !== user)
    return error(
      `The data directory ${path} belongs to the user with id ${found.uid}, and this is the user with id ${user}`,
      'Run Tipline as its owner, or change the owner of the whole directory.',
    );
  if ((found.mode & 0o077) !== 0)
    return warning(`Other users can open the data directory ${path}`, `Run chmod 700 ${path}.`);
  return ok(`The data directory ${path} is accessible to its owner only`);
}

/** Judges files that contain secrets. @param files by their paths; null: there is none */
export function judgeSecretFiles(files: readonly (readonly [string, Owned | null])[]): Judgement {
  const present = files.filter(([, found]) => found !== null);
  const open = present.filter(([, found]) => ((found?.mode ?? 0) & 0o077) !== 0).map(([path]) => path);
  if (open.length > 0)
    return warning(`Other users can read ${open.join(' and ')}`, `Run chmod 600 ${open.join(' ')}.`);
  return ok(
    present.length > 0
      ? `${present.map(([path]) => path).join(' and ')}: readable by the owner only`
      : 'There are no files with secrets',
  );
}

/** Returns why a directory, or the one in which it would be made, cannot be written; null: it can. */
export async function readWriteProblem(path: string): Promise<string | null> {
  return access(existingPart(resolve(path)), constants.W_OK | constants.X_OK).then(
    () => null,
    (problem) => systemReason(problem) ?? problem.message,
  );
}

/** Reads the owner and the mode of a file or directory; null: there is none. */
export async function statOf(path: string): Promise<Owned | null> {
  return stat(path).catch((problem: NodeJS.ErrnoException) => {
    if (problem.code === 'ENOENT') return null;
    throw problem;
  });
}

export const secretFile = (dataDirectory: string) => join(dataDirectory, 'secret');

interface Space {
  path: string;
  free: number;
  /** TIPLINE_DISK_RESERVE_MB; 0: it is turned off, or the database is elsewhere. */
  reserve: number;
  /** The size of the embedded database, which a backup copies; 0: it is elsewhere. */
  database: number;
}

/** With less than that, exports cannot be written. */
const LEAST_BYTES = 32 * 1024 * 1024;

export function judgeSpace({ path, free, reserve, database }: Space): Judgement {
  const least = Math.max(reserve, LEAST_BYTES);
  const remedy = `Free space on the disk of ${path}, or move TIPLINE_DATA_DIR to a larger one.`;
  if (free < least)
    return error(
      `${megabytes(free)} are free on the disk of ${path}, less than ${megabytes(least)}: nothing is written`,
      remedy,
    );
  if (free < 2 * least)
    return warning(
      `${megabytes(free)} are free on the disk of ${path}; below ${megabytes(least)} nothing is written`,
      remedy,
    );
  if (free < least + database)
    return warning(
      `${megabytes(free)} are free on the disk of ${path}, and a backup needs ${megabytes(database)} for a copy of the database`,
      remedy,
    );
  return ok(`${megabytes(free)} are free on the disk of ${path}`);
}

/** Returns the free bytes on the disk of a directory, or of the one in which it would be created. */
export function freeBytes(path: string): number {
  const found = statfsSync(existingPart(resolve(path)));
  return found.bavail * found.bsize;
}

const existingPart = (path: string): string => (existsSync(path) ? path : existingPart(dirname(path)));

/** @param synchronized as timedatectl reports it; null: it is not known */
export function judgeSynchronization(synchronized: string | null): Judgement | null {
  if (synchronized === null) return null;
  if (synchronized === 'yes') return ok('The clock is synchronized');
  return warning(
    'The clock of this machine is not synchronized',
    'Turn on NTP (timedatectl set-ntp true): expiries, sessions and one-time codes depend on the clock.',
  );
}

const COMMAND_TIMEOUT_MS = 2_000;

/** Returns whether systemd has found the clock synchronized, `yes` or `no`; null: there is no systemd to ask. */
export async function readSynchronization(): Promise<string | null> {
  try {
    const options = ['show', '--property=NTPSynchronized', '--value'];
    const { stdout } = await promisify(execFile)('timedatectl', options, { timeout: COMMAND_TIMEOUT_MS });
    return stdout.trim() || null;
  } catch {
    return null;
  }
}

/** Differences of clocks in milliseconds: one-time codes tolerate 30 s. */
const CLOCK = { warning: 1_000, error: 30_000 };

/** @param difference of the clock of the database and this one, in milliseconds @param uncertainty of it */
export function judgeClock(difference: number, uncertainty: number): Judgement {
  const off = Math.max(0, Math.abs(difference) - uncertainty);
  const message = `The clock of the database is ${(Math.abs(difference) / 1000).toFixed(1)} s ${difference > 0 ? 'ahead of' : 'behind'} this one`;
  const remedy = 'Synchronize the clocks of both machines (NTP).';
  if (off > CLOCK.error) return error(message, remedy);
  if (off > CLOCK.warning) return warning(message, remedy);
  return ok('The clocks of this machine and the database agree');
}
