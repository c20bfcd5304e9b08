import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { Command, Option } from 'commander';
import { widestOf } from '../config/config.ts';
import type { Database, Db } from '../db/database.ts';
import { vacuumDeadRows } from '../db/dead-rows.ts';
import { type Importer, UnreadableInput } from '../importers/importer.ts';
import { fileInput, IMPORTERS, recognizeFormat } from '../importers/recognize.ts';
import { createCounts, type ImportCounts, type WidestNetworks } from '../imports/import-context.ts';
import { ImportStopped, type RecordedRun, recordRun } from '../imports/import-runs.service.ts';
import type { ImportFile, Interruption } from '../imports/imports.service.ts';
import { runImport } from '../imports/run-import.ts';
import { SEVERITIES, type Severity, TLPS, type Tlp } from '../model/vocabulary.ts';
import { findSource } from '../sources/store/sources.queries.ts';
import { cliActor } from './actor.ts';
import { collectInputs, type InputFile, summaryLines, summaryObject } from './import-inputs.ts';
import { label, oneOf, percent } from './options.ts';
import { print, printJson } from './output.ts';
import { progressBar } from './progress.ts';
import { END_SIGNALS } from './server-process.ts';
import { withDatabase } from './store.ts';
import { openImporter } from './threads.ts';

interface ImportOptions {
  source: string;
  format: string;
  dryRun?: boolean;
  tlp: Tlp;
  confidence: number;
  severity: Severity;
  json?: boolean;
}

export function importCommand(): Command {
  return new Command('import')
    .description('import STIX, MISP, CSV, list, abuse.ch, KEV, OTX and galaxy files')
    .argument('<file...>', 'files, directories, or - for standard input')
    .requiredOption('--source <name>', 'the source of the data; created if it does not exist', label)
    .addOption(
      new Option('--format <format>', 'file format')
        .choices(['auto', ...IMPORTERS.map(({ name }) => name)])
        .default('auto'),
    )
    .option('--dry-run', 'report what would change, and write nothing')
    .option(
      '--tlp <tlp>',
      `for a new source: TLP of unmarked data (${TLPS.join(', ')})`,
      oneOf(TLPS),
      'AMBER',
    )
    .option('--confidence <percent>', 'for a new source: default confidence', percent, 50)
    .option(
      '--severity <severity>',
      `for a new source: default severity (${SEVERITIES.join(', ')})`,
      oneOf(SEVERITIES),
      'MEDIUM',
    )
    .option('--json', 'end with one line of JSON')
    .action(importAll);
}

async function importAll(paths: string[], options: ImportOptions, command: Command): Promise<void> {
  // An import must not slow down a server on the same machine.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const counts = createCounts();
  const interrupted = new AbortController();
  const result = options.dryRun ? 'nothing was written' : 'what was imported before stays';
  const interrupt = () => {
    process.stderr.write('Stopping after the current batch; a second signal stops at once.\n');
    interrupted.abort(new ImportStopped(`Interrupted: ${result}.`));
  };
  for (const signal of END_SIGNALS) process.once(signal, interrupt);
  let cleanUp = async () => {};
  try {
    const inputs = await collectInputs(paths, interrupted.signal);
    cleanUp = inputs.cleanUp;
    const problems = await withDatabase(
      async (database, config) => {
        await rejectConflictingDefaults(database.db, options, command);
        return importInputs(database, inputs.files, options, counts, interrupted.signal, widestOf(config));
      },
      { creates: true, schema: 'create' },
    );
    report(counts, problems, options);
    if (problems.length > 0) process.exitCode = 1;
  } finally {
    for (const signal of END_SIGNALS) process.off(signal, interrupt);
    await cleanUp();
  }
}

/**
 * Rejects options that differ from the defaults of an existing source. An import does not change these defaults,
 * so such options would be ignored silently.
 */
async function rejectConflictingDefaults(db: Db, options: ImportOptions, command: Command): Promise<void> {
  const stored = (await findSource(db, options.source))?.defaults;
  if (!stored) return;
  for (const name of ['tlp', 'confidence', 'severity'] as const) {
    if (command.getOptionValueSource(name) === 'default' || stored[name] === options[name]) continue;
    command.error(
      `error: the source "${options.source}" has --${name} ${stored[name]}; leave --${name} out, or change it: tipline sources set "${options.source}" --${name} ${options[name]}`,
      { exitCode: 2 },
    );
  }
}

/** Imports the files; a run of the command is an entry in the history, a dry run is not. */
async function importInputs(
  database: Pick<Database, 'db' | 'diskProblem' | 'kind' | 'shared'>,
  files: InputFile[],
  options: ImportOptions,
  counts: ImportCounts,
  interrupted: AbortSignal,
  widest: WidestNetworks,
): Promise<Interruption[]> {
  const { db, kind, shared } = database;
  // No server can open an embedded database that this process holds.
  const exclusive = kind === 'embedded' && !shared;
  const { source, tlp, confidence, severity, dryRun = false } = options;
  const run = dryRun ? null : await startRecord(db, files, options, counts, new Date());
  const interruptions = await runImport(db, () => new Date(), {
    source,
    defaults: { tlp, confidence, severity },
    files: withImporters(files, options.format, run),
    run,
    dryRun,
    counts,
    tlpCeiling: 'RED',
    widest,
    exclusive,
    signal: interrupted,
    onError: () => ({ state: 'failed', problem: 'See the output of the command.' }),
  });
  // The import is complete whatever becomes of this. A server's worker does it otherwise.
  if (exclusive && !dryRun)
    await vacuumDeadRows(database).catch((error) =>
      process.stderr.write(`The dead rows of the database stay: ${error.message}\n`),
    );
  return interruptions;
}

/** Records the run in the import history. */
function startRecord(
  db: Db,
  files: InputFile[],
  { source, format }: ImportOptions,
  counts: ImportCounts,
  now: Date,
) {
  const [first, ...others] = files.map(({ fileName }) => basename(fileName));
  const fileBytes = files.reduce((sum, { size }) => sum + size, 0);
  const fileName = others.length > 0 ? `${first} and ${others.length} more` : (first ?? 'no file');
  const wanted = { source, fileName, fileBytes, format, dryRun: false };
  return recordRun(db, wanted, counts, cliActor(now), () => {});
}

const EMPTY = 'empty, or not of a format that can be recognized: see --format';
const UNKNOWN = 'not of a format that can be recognized: see --format';

/**
 * Yields the files with their importers, and shows a progress bar while a file is read; of a file without an importer,
 * if it was named, the reason.
 */
async function* withImporters(
  files: InputFile[],
  format: ImportOptions['format'],
  run: Pick<RecordedRun, 'readBytes'> | null,
): AsyncGenerator<ImportFile | Interruption> {
  for (const file of files) {
    const found = await importerFor(file, format);
    if (typeof found !== 'string') {
      const bar = progressBar(file);
      const { path, fileName } = file;
      try {
        yield {
          importer: openImporter(found.name),
          input: fileInput({ path, fileName, onProgress: bar.update }),
        };
      } finally {
        bar.stop();
        if (run) run.readBytes += file.size;
      }
    } else if (file.named) yield { fileName: file.fileName, message: found };
    // A directory may contain files of other formats, so these are no error.
    else process.stderr.write(`${file.fileName}: skipped, ${found}\n`);
  }
}

/** Returns the importer for a file, or the reason why there is none. */
async function importerFor(file: InputFile, format: ImportOptions['format']): Promise<Importer | string> {
  if (format !== 'auto') return IMPORTERS.find(({ name }) => name === format) ?? UNKNOWN;
  try {
    return (await recognizeFormat(file)) ?? (file.size === 0 ? EMPTY : UNKNOWN);
  } catch (error) {
    if (error instanceof UnreadableInput) return error.message;
    throw error;
  }
}

function report(counts: ImportCounts, problems: Interruption[], { json, dryRun }: ImportOptions): void {
  for (const { fileName, message } of problems) {
    process.stderr.write(`${fileName}: ${message}\n`);
  }
  if (json) {
    printJson(summaryObject(counts));
    return;
  }
  if (dryRun) print('Dry run: nothing was written.');
  for (const line of summaryLines(counts)) print(line);
  const kept = [...counts.kinds.values()].some((kind) => kind.new + kind.updated > 0);
  if (problems.length > 0 && kept && !dryRun) print('Records read before the error were imported.');
}
