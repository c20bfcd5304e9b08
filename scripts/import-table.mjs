// Brings the counts of the shared data (test/importers/shared-data-counts.json) into docs/importing.md, between its
// markers; with --check, says whether they stand there; with --print, prints them.
import { readFileSync, writeFileSync } from 'node:fs';

const COUNTS = new URL('../test/importers/shared-data-counts.json', import.meta.url);
const DOCS = new URL('../docs/importing.md', import.meta.url);
const [START, END] = ['<!-- counts -->', '<!-- /counts -->'];
const REJECTED = /^rejected (\w+): (.*)$/;

const table = importTable(JSON.parse(readFileSync(COUNTS, 'utf8')));
if (process.argv.includes('--print')) process.stdout.write(table);
else bringIn(readFileSync(DOCS, 'utf8'), process.argv.includes('--check'));

/** One line a file: records read, accepted, and rejected by reason. */
function importTable(counts) {
  const rows = Object.entries(counts).map(([file, outcomes]) => {
    const entries = Object.entries(outcomes);
    const rejected = entries.filter(([outcome]) => REJECTED.test(outcome));
    const [read, refused] = [sum(entries), sum(rejected)];
    const reasons = rejected.map(
      ([outcome, count]) => `${count} ${escaped(outcome.replace(REJECTED, '$2'))}`,
    );
    return `| ${file} | ${read} | ${read - refused} | ${reasons.join('; ') || '–'} |`;
  });
  return `${['| file | read | accepted | rejected |', '|---|--:|--:|---|', ...rows].join('\n')}\n`;
}

function sum(entries) {
  return entries.reduce((total, [, count]) => total + count, 0);
}

function escaped(text) {
  return text.replaceAll('|', '\\|');
}

function bringIn(docs, checkOnly) {
  const [from, to] = [docs.indexOf(START), docs.indexOf(END)];
  if (from < 0 || to < from) fail(`docs/importing.md has no ${START} … ${END}`);
  const wanted = `${docs.slice(0, from + START.length)}\n${table}${docs.slice(to)}`;
  if (wanted.replace(/\n+(?=<!-- \/counts)/, '\n') === docs.replace(/\n+(?=<!-- \/counts)/, '\n')) return;
  if (checkOnly) fail('docs/importing.md does not show the counts: run node scripts/import-table.mjs');
  writeFileSync(DOCS, wanted);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
