/**
 * Builds sample/, the data that `npm run demo` loads, from a directory of public data sets:
 *
 *   node scripts/make-sample.mjs <data directory>
 *
 * sample/ORIGINS.md lists the files that the directory must contain, with their repositories and commits. The
 * output is reproducible: the same directory gives the same bytes. The script retains ORIGINS.md and rewrites all
 * other files of sample/.
 */
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { attackBundle } from './sample/attack.mjs';
import { csvFiles } from './sample/csv.mjs';
import { enrichmentFiles } from './sample/enrichments.mjs';
import { dataDirectory } from './sample/files.mjs';
import { kerrdownBundle } from './sample/kerrdown.mjs';
import { maltrailBundle } from './sample/maltrail.mjs';
import { LICENSES, SOURCES } from './sample/manifest.mjs';
import { mispEvents } from './sample/misp.mjs';
import { stixBundles } from './sample/stix.mjs';

const directory = process.argv[2];
if (directory === undefined) {
  console.error('usage: node scripts/make-sample.mjs <data directory>');
  process.exit(2);
}
const target = fileURLToPath(new URL('../sample/', import.meta.url));
const data = dataDirectory(directory, target);

for (const name of readdirSync(target)) {
  if (name !== 'ORIGINS.md') rmSync(path.join(target, name), { recursive: true });
}
data.writeJson('attack/enterprise.json', attackBundle(data));
data.writeJson('stix/maltrail-attributed.json', maltrailBundle(data));
data.writeJson('stix/kerrdown.json', kerrdownBundle(data));
for (const [name, bundle] of stixBundles(data)) data.writeJson(`stix/${name}`, bundle);
for (const [name, event] of mispEvents(data)) data.writeJson(`misp/${name}`, event);
for (const [name, lines] of csvFiles(data)) data.writeCsv(`csv/${name}`, lines);
for (const [name, answer] of enrichmentFiles(data)) data.writeJson(`enrichments/${name}`, answer);
for (const name of LICENSES) data.writeText(`LICENSES/${name}`, data.readText(`LICENSES/${name}`));
data.writeText('manifest.json', `${JSON.stringify(SOURCES, null, 2)}\n`);
console.log(`${data.written()} bytes written to sample/`);
