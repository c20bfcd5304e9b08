// node bench/from-nothing.mjs [--rows N] [--keep]: an empty database filled by `tipline import`, a million indicators a file, while a server with its
// worker runs and the lists that come with Tipline apply; see README.md. --keep: the database stays until the script is stopped.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { sources } from './entities.mjs';
import { SEED } from './generate.mjs';
import { importFile, writeCsv } from './import.mjs';
import { indicators } from './indicators.mjs';
import * as servers from './servers.mjs';

const FILE_ROWS = 1_000_000;
/** What the sources' own comments, undoing and the change feed take is counted apart. */
const APART = "('attribute', 'import_change', 'import_batch', 'indicator_history', 'revision_log')";

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '10000000' }, keep: { type: 'boolean', default: false } },
});
try {
  await bench(Number(values.rows));
  if (values.keep) await once(process, 'SIGTERM');
} finally {
  await servers.stopAll();
}

async function bench(rows) {
  const url = await servers.startPostgres();
  const now = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000);
  const generated = indicators({ count: rows, now, seed: SEED, sources });
  servers.runTipline(url, 'migrate');
  const server = await servers.startTiplineProcess(url);
  let seconds = 0;
  for (let done = 0; done < rows; done += FILE_ROWS) {
    const file = await writeCsv(generated, Math.min(FILE_ROWS, rows - done));
    const imported = await importFile(url, file);
    rmSync(file);
    seconds += imported.seconds;
    const perSecond = Math.round(imported.counts.read / imported.seconds);
    console.log(
      `${done + imported.counts.read} indicators: ${seconds.toFixed(0)} s, this file ${perSecond} a second, ` +
        `peak ${(imported.peak / 1e6).toFixed(0)} MB, ${JSON.stringify(imported.counts)}`,
    );
  }
  await server.stop();
  console.log(sizes(url));
  console.log(
    `${rows} indicators in ${seconds.toFixed(0)} s: ${Math.round(rows / seconds)} a second. ${url}`,
  );
}

/** Returns the bytes that each relation takes for an indicator, the largest first. */
function sizes(url) {
  return execFileSync(servers.findProgram('psql'), [
    url,
    '-qX',
    '-c',
    `with relation as (
       select coalesce(t.relname, c.relname) as of, c.relname as name, pg_table_size(c.oid) as bytes
       from pg_class c left join pg_index i on i.indexrelid = c.oid left join pg_class t on t.oid = i.indrelid
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'i'))
     select name, of in ${APART} as apart, round(bytes / (select count(*) from indicator)::numeric, 1) as bytes_each
     from relation where bytes > 1e6 order by bytes desc`,
  ]).toString();
}
