import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const directories: string[] = [];
const disks: string[] = [];

export function removeDirectories(): void {
  for (const disk of disks.splice(0)) execFileSync('umount', [disk]);
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
}

/** A directory that goes with the test file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tipline-cli-'));
  directories.push(directory);
  return directory;
}

/** Makes a directory a small disk of its own, which goes with the test file. @param size in bytes */
export function mountDisk(directory: string, size: number): void {
  // PostgreSQL is another user.
  chmodSync(dirname(directory), 0o755);
  mkdirSync(directory);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', directory], { stdio: 'pipe' });
  disks.push(directory);
}

/** Whether this user may make disks. */
export function canMountDisks(): boolean {
  const directory = temporaryDirectory();
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'none', directory], { stdio: 'pipe' });
  } catch {
    return false;
  }
  execFileSync('umount', [directory]);
  return true;
}
