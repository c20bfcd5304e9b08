import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type FileInput, fileInput } from '../importers/recognize.ts';
import { type Counted, emptyCounts, type ImportCounts } from '../imports/import-context.ts';
import { fileProblem } from './options.ts';

export interface InputFile extends FileInput {
  /** In bytes. */
  size: number;
  /** Whether the file is named on the command line, not found in a directory. */
  named: boolean;
}

/**
 * Returns the files that the arguments name; those of a directory are sorted by path. Standard input is copied to
 * a temporary file, because importers may read their input twice.
 * @param signal ends the reading of standard input, of which no file stays then
 * @throws when a path does not exist, or no path contains a file
 */
export async function collectInputs(
  paths: readonly string[],
  signal: AbortSignal,
): Promise<{ files: InputFile[]; cleanUp: () => Promise<void> }> {
  const files: InputFile[] = [];
  const temporary: string[] = [];
  const cleanUp = async () => {
    for (const directory of temporary) await rm(directory, { recursive: true, force: true });
  };
  try {
    for (const path of paths) {
      if (path === '-') files.push(await standardInput(temporary, signal));
      else files.push(...(await inputsAt(path)));
    }
    if (files.length === 0) throw new Error(`There is no file in ${paths.join(', ')}.`);
  } catch (error) {
    await cleanUp();
    signal.throwIfAborted();
    throw error;
  }
  return { files, cleanUp };
}

async function standardInput(temporary: string[], signal: AbortSignal): Promise<InputFile> {
  try {
    const directory = await mkdtemp(join(tmpdir(), 'tipline-'));
    temporary.push(directory);
    const kept = join(directory, 'stdin');
    await pipeline(process.stdin, createWriteStream(kept, { mode: 0o600 }), { signal });
    return inputFile(kept, '-', (await stat(kept)).size, true);
  } catch (error) {
    const problem = fileProblem(error, tmpdir());
    if (problem === undefined) throw error;
    throw new Error(
      `${problem} Standard input is copied there: set TMPDIR to a directory with space for it.`,
      {
        cause: error,
      },
    );
  }
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

export const PLURALS: Record<Counted, string> = {
  indicator: 'indicators',
  actor: 'actors',
  campaign: 'campaigns',
  technique: 'techniques',
  software: 'software',
  report: 'reports',
  attribute: 'attributes',
  relationship: 'relationships',
  score: 'EPSS scores',
};

/** Returns the counts of indicators, with those of each other kind in the files as members. */
export function summaryObject({ kinds, hidden }: ImportCounts): Record<string, unknown> {
  const others = [...kinds]
    .filter(([kind]) => kind !== 'indicator')
    .map(([kind, counts]) => [PLURALS[kind], counts]);
  return { ...(kinds.get('indicator') ?? emptyCounts()), hidden, ...Object.fromEntries(others) };
}

export function summaryLines({ kinds, examples, hidden }: ImportCounts): string[] {
  const columns = ['read', 'new', 'updated', 'unchanged', 'rejected'] as const;
  const lines = [''.padEnd(15) + columns.map((column) => column.padStart(11)).join('')];
  for (const kind of Object.keys(PLURALS) as Counted[]) {
    const counts = kinds.get(kind);
    if (!counts && kind !== 'indicator') continue;
    const numbers = columns.map((column) => String((counts ?? emptyCounts())[column]).padStart(11));
    lines.push(PLURALS[kind].padEnd(15) + numbers.join(''));
  }
  if (hidden > 0) lines.push('', `Of the new and updated indicators the whitelist hides ${hidden}.`);
  for (const [kind, { reasons }] of kinds) {
    const sorted = Object.entries(reasons).sort(([, a], [, b]) => b - a);
    if (sorted.length > 0) lines.push('', `Rejected ${PLURALS[kind]}:`);
    for (const [reason, count] of sorted) lines.push(`${String(count).padStart(8)}  ${reason}`);
  }
  if (examples.length > 0) lines.push('', 'For example:');
  for (const { where, reason } of examples.slice(0, 5)) lines.push(`  ${where}: ${reason}`);
  return lines;
}
