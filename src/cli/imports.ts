import { Command } from 'commander';
import { countRuns, findRuns } from '../features/imports/import-runs.queries.ts';
import { print, withDatabase } from './dependencies.ts';
import { PLURALS } from './import-summary.ts';
import { count } from './options.ts';

const DEFAULT_LIMIT = 20;

type Run = Awaited<ReturnType<typeof findRuns>>[number];

export function importsCommand(): Command {
  const imports = new Command('imports').description('the history of imported files');
  imports
    .command('list')
    .description('show imports with their ids, the newest first')
    .option('--limit <count>', 'how many', count, DEFAULT_LIMIT)
    .option('--json', 'print a JSON array')
    .action(list);
  return imports;
}

async function list({ limit, json }: { limit: number; json?: boolean }): Promise<void> {
  const { runs, total } = await withDatabase(async ({ db }) => ({
    runs: await findRuns(db, { limit, offset: 0 }),
    total: await countRuns(db),
  }));
  if (json) return print(JSON.stringify(runs));
  if (total === 0) return print('There are no imports. Import a file: tipline import FILE --source NAME');
  for (const run of runs) for (const line of runLines(run)) print(line);
  if (runs.length < total) print(`${runs.length} of ${total} imports; --limit sets how many are shown.`);
}

function runLines(run: Run): string[] {
  const { id, startedAt, state, dryRun, source, fileName, who, problem } = run;
  const lines = [
    `${id}  ${startedAt.toISOString()}  ${state}${dryRun ? ' (dry run)' : ''}  ${source}`,
    `  ${fileName} · ${who}`,
    ...countLines(run),
  ];
  if (problem !== null) lines.push(`  ${problem}`);
  return lines.map(withoutControls);
}

function countLines({ counts }: Run): string[] {
  return Object.entries(counts).map(
    ([kind, counted]) =>
      `  ${PLURALS[kind as keyof typeof PLURALS]}: new ${counted.new}, updated ${counted.updated}, unchanged ${counted.unchanged}, rejected ${counted.rejected}`,
  );
}

/** A name that an uploader chose must not control the terminal that lists it. */
function withoutControls(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ');
}
