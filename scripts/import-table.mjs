// Writes the import counts of the real data files (test/imports/real-data-counts.json) into docs/importing.md, between
// its markers. With --check, it only fails if the table is out of date.
import { readFileSync, writeFileSync } from 'node:fs';

const COUNTS = new URL('../test/imports/real-data-counts.json', import.meta.url);
const DOCS = new URL('../docs/importing.md', import.meta.url);
const [START, END] = ['<!-- counts -->', '<!-- /counts -->'];

const docs = readFileSync(DOCS, 'utf8');
const [from, to] = [docs.indexOf(START), docs.indexOf(END)];
if (from < 0 || to < from) fail(`docs/importing.md has no ${START} … ${END}`);
const wanted = `${docs.slice(0, from + START.length)}\n${table(JSON.parse(readFileSync(COUNTS, 'utf8')))}${docs.slice(to)}`;
if (wanted !== docs) {
  if (process.argv.includes('--check'))
    fail('docs/importing.md does not show the counts: run node scripts/import-table.mjs');
  writeFileSync(DOCS, wanted);
}

/** Returns a table with one row per file: objects read, new, repeated in the file, and rejected by reason. */
function table(counts) {
  const rows = Object.entries(counts).map(([file, { read, new: fresh, updated, unchanged, reasons }]) => {
    const told = Object.entries(reasons).map(
      ([reason, count]) => `${count} ${reason.replaceAll('|', '\\|')}`,
    );
    return `| ${file} | ${read} | ${fresh} | ${updated + unchanged} | ${told.join('; ') || '–'} |`;
  });
  return `${['| file | read | new | repeats | rejected |', '|---|--:|--:|--:|---|', ...rows].join('\n')}\n`;
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
