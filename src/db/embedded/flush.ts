import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** How many files are flushed at once: the disk then writes them together. */
const CONCURRENT = 16;

/** Flushes a directory with all that is in it. */
export async function flushDirectory(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  const paths = entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .values();
  const flushSome = async () => {
    for (const path of paths) {
      const file = await open(path);
      await file.sync().finally(() => file.close());
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, flushSome));
  flush(directory);
}

/** Flushes a file, or the names in a directory. */
export function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
