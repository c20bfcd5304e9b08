import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const directories: string[] = [];

export function removeDirectories(): void {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
}

/** A directory that goes with the test file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tipline-cli-'));
  directories.push(directory);
  return directory;
}
