import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type FileInput, fileInput } from '../importers/file-input.ts';

export interface InputFile extends FileInput {
  /** In bytes. */
  size: number;
  /** Whether the file is named on the command line, not found in a directory. */
  named: boolean;
}

/**
 * Returns the files that the arguments name; those of a directory are sorted by path. Standard input is copied to
 * a temporary file, because importers may read their input twice.
 * @throws when a path does not exist, or no path contains a file
 */
export async function collectInputs(
  paths: readonly string[],
): Promise<{ files: InputFile[]; cleanUp: () => Promise<void> }> {
  const files: InputFile[] = [];
  const temporary: string[] = [];
  const cleanUp = async () => {
    for (const directory of temporary) await rm(directory, { recursive: true, force: true });
  };
  try {
    for (const path of paths) {
      if (path === '-') files.push(await standardInput(temporary));
      else files.push(...(await inputsAt(path)));
    }
    if (files.length === 0) throw new Error(`There is no file in ${paths.join(', ')}.`);
  } catch (error) {
    await cleanUp();
    throw error;
  }
  return { files, cleanUp };
}

async function standardInput(temporary: string[]): Promise<InputFile> {
  const directory = await mkdtemp(join(tmpdir(), 'tipline-'));
  temporary.push(directory);
  const kept = join(directory, 'stdin');
  await pipeline(process.stdin, createWriteStream(kept, { mode: 0o600 }));
  return inputFile(kept, '-', (await stat(kept)).size, true);
}

async function inputsAt(path: string): Promise<InputFile[]> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`There is no file or directory ${path}.`) : error;
  });
  if (!found.isDirectory()) return [inputFile(path, path, found.size, true)];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const inside: InputFile[] = [];
  for (const file of paths) {
    // Symbolic links to files are followed. Links to directories are not, because they may form a cycle.
    const target = await stat(file).catch(() => null);
    if (target?.isFile()) inside.push(inputFile(file, file, target.size, false));
  }
  return inside;
}

function inputFile(path: string, fileName: string, size: number, named: boolean): InputFile {
  return { ...fileInput({ path, fileName }), size, named };
}
