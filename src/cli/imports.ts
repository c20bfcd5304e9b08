import { Command } from 'commander';
import type { Counted } from '../imports/import-context.ts';
import { countRuns, findRuns } from '../imports/import-runs.queries.ts';
import type { RestoredKind, RestorePreview } from '../imports/restore.service.ts';
import { previewUndo, runPendingUndos, startUndo } from '../imports/undo.service.ts';
import { isUuid } from '../model/uuid.ts';
import { cliActor } from './actor.ts';
import { PLURALS } from './import-inputs.ts';
import { count, UsageError } from './options.ts';
import { print, printJson } from './output.ts';
import { withDatabase } from './store.ts';

const DEFAULT_LIMIT = 20;

type Run = Awaited<ReturnType<typeof findRuns>>[number];

export function importsCommand(): Command {
  const imports = new Command('imports').description('list and undo imports');
  imports
    .command('list')
    .description('list imports with their ids, newest first')
    .option('--limit <count>', 'number of imports', count, DEFAULT_LIMIT)
    .option('--json', 'print a JSON array')
    .action(list);
  imports
    .command('undo')
    .description('undo an import; without --yes, only preview the changes')
    .argument('<id>', 'the id of the import, see: imports list')
    .option('--yes', 'apply the changes')
    .option('--json', 'print one JSON object')
    .action(undo);
  return imports;
}

async function list({ limit, json }: { limit: number; json?: boolean }): Promise<void> {
  const { runs, total } = await withDatabase(async ({ db }) => ({
    runs: await findRuns(db, { limit, offset: 0 }),
    total: await countRuns(db),
  }));
  if (json) return printJson(runs);
  if (total === 0) return print('There are no imports. Import a file: tipline import FILE --source NAME');
  for (const run of runs) for (const line of runLines(run)) print(line);
  if (runs.length < total) print(`${runs.length} of ${total} imports; --limit sets how many are shown.`);
}

async function undo(id: string, { yes = false, json }: { yes?: boolean; json?: boolean }): Promise<void> {
  if (!isUuid(id)) throw new UsageError(`${id} is not an import id. To list imports: tipline imports list`);
  const preview = await withDatabase(async ({ db }) => {
    const by = cliActor();
    const found = await previewUndo(db, id, by.now);
    if (!yes) return found;
    await startUndo(db, id, by);
    await runPendingUndos(db, { now: () => new Date() });
    return found;
  });
  if (json) return printJson({ undone: yes, ...preview });
  for (const line of previewLines(preview)) print(line);
  print(yes ? 'Undone.' : `Nothing was changed. To undo it: tipline imports undo ${id} --yes`);
}

function runLines(run: Run): string[] {
  const { id, startedAt, state, dryRun, source, fileName, who, problem, undo: undone, undoneBy } = run;
  const lines = [
    `${id}  ${startedAt.toISOString()}  ${state}${dryRun ? ' (dry run)' : ''}  ${source}`,
    `  ${fileName} · ${who}`,
    ...countLines(run),
  ];
  if (problem !== null) lines.push(`  ${problem}`);
  if (undone !== null) lines.push(`  ${undone === 'done' ? 'undone' : 'being undone'} by ${undoneBy}`);
  return lines;
}

function countLines({ counts }: Run): string[] {
  return Object.entries(counts).map(
    ([kind, counted]) =>
      `  ${PLURALS[kind as keyof typeof PLURALS]}: new ${counted.new}, updated ${counted.updated}, unchanged ${counted.unchanged}, rejected ${counted.rejected}`,
  );
}

/** Returns the lines that show what an undo or a removal would change, with counts. */
export function previewLines({ kinds, shown }: RestorePreview): string[] {
  const counted = Object.entries(kinds) as [Exclude<Counted, 'score'>, RestoredKind][];
  if (counted.length === 0) return ['It would change nothing.'];
  const columns = ['reverted', 'of these hidden', 'unchanged'];
  const lines = [''.padEnd(15) + columns.map((column) => column.padStart(17)).join('')];
  for (const [kind, { restored, withdrawn, restated }] of counted) {
    const numbers = [restored, withdrawn, restated].map((number) => String(number).padStart(17));
    lines.push(PLURALS[kind].padEnd(15) + numbers.join(''));
  }
  lines.push(
    '',
    'Reverted: the previous statements of the source apply again. Hidden: no source is left.',
    'Unchanged: a later import of the same source states it again.',
  );
  const difference = shown.after - shown.before;
  lines.push('', `Visible indicators: ${shown.before} now, ${shown.after} after (${signed(difference)}).`);
  return lines;
}

const signed = (number: number) => (number > 0 ? `+${number}` : String(number));
