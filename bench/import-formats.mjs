// node bench/import-formats.mjs [--rows N] [--relationships N] [--events N] [--only csv|stix|misp] [--embedded]: the same kind of indicators as
// CSV, as a STIX bundle with relationships, and as MISP events, each imported into an empty database; see README.md.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { idOf, sources } from './entities.mjs';
import { SEED } from './generate.mjs';
import { importFile, writeCsv } from './import.mjs';
import { indicators } from './indicators.mjs';
import * as servers from './servers.mjs';

/** Entities that the relationships of the bundle point to. */
const ACTORS = 200;

/** The path of an observable's value in a STIX pattern, and the type of a MISP attribute. */
const PATTERNS = {
  IPV4: ['ipv4-addr:value', 'ip-dst'],
  IPV6: ['ipv6-addr:value', 'ip-dst'],
  DOMAIN: ['domain-name:value', 'domain'],
  URL: ['url:value', 'url'],
  MD5: ['file:hashes.MD5', 'md5'],
  SHA1: ["file:hashes.'SHA-1'", 'sha1'],
  SHA256: ["file:hashes.'SHA-256'", 'sha256'],
};

const quoted = (value) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    relationships: { type: 'string', default: '100000' },
    events: { type: 'string', default: '10000' },
    only: { type: 'string' },
    embedded: { type: 'boolean', default: false },
  },
});
try {
  await bench();
} finally {
  await servers.stopAll();
}

async function bench() {
  const rows = Number(values.rows);
  const now = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000);
  // MISP has no attribute of some types; all three files have the same indicators.
  const inAllFormats = function* () {
    let count = 0;
    for (const indicator of indicators({ count: 2 * rows, now, seed: SEED, sources })) {
      if (!PATTERNS[indicator.type]) continue;
      yield indicator;
      if (++count === rows) return;
    }
  };
  const writers = {
    csv: () => writeCsv(inAllFormats(), rows),
    stix: () => writeStix(inAllFormats(), Number(values.relationships)),
    misp: () => writeMisp(inAllFormats(), rows, Number(values.events)),
  };
  console.log(
    '| file | MB | indicators | relationships | s | indicators a second | to CSV | the same again | to CSV | peak MB |',
  );
  console.log('|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|');
  let csv;
  for (const [format, write] of Object.entries(writers)) {
    if (values.only && values.only !== format) continue;
    const file = await write();
    const url = values.embedded ? undefined : await servers.startPostgres();
    if (url) servers.runTipline(url, 'migrate');
    const settings = values.embedded ? { TIPLINE_DATA_DIR: servers.temporaryDirectory() } : {};
    const { seconds, peak, counts } = await importFile(url, file, { settings });
    const stored = url ? count(url) : { indicators: counts.read, relationships: '–' };
    if (url && stored.indicators !== rows)
      throw new Error(`${format}: ${stored.indicators} of ${rows} are stored.`);
    const again = await importFile(url, file, { settings });
    if (again.counts.new + again.counts.updated > 0)
      throw new Error(`${format}: the same file changes ${JSON.stringify(again.counts)}`);
    const times = [seconds, again.seconds];
    if (format === 'csv') csv = times;
    const megabytes = (bytes) => Math.round(bytes / 1e6);
    const cells = [
      format,
      megabytes(statSync(file).size),
      stored.indicators,
      stored.relationships,
      seconds.toFixed(1),
    ];
    for (const [n, each] of times.entries())
      cells.push(Math.round(rows / each), csv ? (csv[n] / each).toFixed(2) : '–');
    cells.push(megabytes(peak));
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function count(url) {
  const psql = servers.findProgram('psql');
  const sql = 'select (select count(*) from indicator), (select count(*) from relationship)';
  const [indicators, relationships] = execFileSync(psql, [url, '-qAtXc', sql]).toString().trim().split('|');
  return { indicators: Number(indicators), relationships: Number(relationships) };
}

/** Opens a file whose writer waits for the disk. */
function openFile(name) {
  const path = join(servers.temporaryDirectory(), name);
  const file = createWriteStream(path);
  return {
    write: async (text) => file.write(text) || (await once(file, 'drain')),
    async close() {
      file.end();
      await once(file, 'finish');
      return path;
    },
  };
}

/** A bundle: actors, then indicators, some of which have a relationship that follows them. */
async function writeStix(iterator, relationships) {
  const file = openFile('bundle.json');
  const time = new Date(0).toISOString();
  const common = { spec_version: '2.1', created: time, modified: time };
  let related = 0;
  const object = (type, name, fields) => ({
    type,
    id: `${type}--${idOf(`${type} ${name}`)}`,
    ...common,
    ...fields,
  });
  const actors = Array.from({ length: ACTORS }, (_, i) => object('intrusion-set', i, { name: `Group ${i}` }));
  await file.write(
    `{"type":"bundle","id":"bundle--${idOf('bundle')}","objects":[${actors.map((actor) => JSON.stringify(actor)).join(',\n')}`,
  );
  for (const { number, value, type, firstSeen, lastSeen, expiresAt, confidence, tags } of iterator) {
    const indicator = object('indicator', number, {
      modified: lastSeen.toISOString(),
      pattern: `[${PATTERNS[type][0]} = ${quoted(value)}]`,
      pattern_type: 'stix',
      valid_from: firstSeen.toISOString(),
      // STIX 2.1 §4.7: later than valid_from.
      ...(expiresAt > firstSeen && { valid_until: expiresAt.toISOString() }),
      confidence,
      labels: tags,
    });
    await file.write(`,\n${JSON.stringify(indicator)}`);
    if (++related > relationships) continue;
    const ends = { source_ref: indicator.id, target_ref: actors[number % ACTORS].id };
    const fields = { relationship_type: 'indicates', ...ends };
    await file.write(`,\n${JSON.stringify(object('relationship', number, fields))}`);
  }
  await file.write(']}');
  return file.close();
}

/** Events with the same number of attributes each. */
async function writeMisp(iterator, rows, events) {
  const file = openFile('events.json');
  const size = Math.ceil(rows / events);
  await file.write('{"response":[');
  let attributes = [];
  let event = 0;
  const seconds = (date) => String(date.getTime() / 1000);
  const flush = async () => {
    const fields = {
      info: `Event ${event}`,
      date: '2026-01-01',
      threat_level_id: '2',
      timestamp: '1767225600',
    };
    const text = JSON.stringify({
      Event: { uuid: idOf(`event ${event}`), ...fields, Attribute: attributes },
    });
    await file.write(`${event++ > 0 ? ',\n' : ''}${text}`);
    attributes = [];
  };
  for (const { number, value, type, firstSeen, lastSeen, tags } of iterator) {
    attributes.push({
      uuid: idOf(`attribute ${number}`),
      type: PATTERNS[type][1],
      category: 'Network activity',
      value,
      to_ids: true,
      timestamp: seconds(lastSeen),
      first_seen: firstSeen.toISOString(),
      last_seen: lastSeen.toISOString(),
      Tag: tags.map((name) => ({ name })),
    });
    if (attributes.length === size) await flush();
  }
  if (attributes.length > 0) await flush();
  await file.write(']}');
  return file.close();
}
