// Counts the files of attack samples in which the technique rules find something: node scripts/sigma-figures.mjs FOLDER.
// --rules takes other rules, --without omits those with a tag, --half reads one half of the files only, --hits and
// --misses list what was found in a file and the files without a hit. Reads event logs of Windows (.evtx; needs
// evtxexport of Debian's libevtx-utils), and events as JSON, one per line, in files or archives (.json, .jsonl, .zip,
// .tar.gz; needs unzip and tar).
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';
import { parseAllDocuments } from 'yaml';

const ENTITIES = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rules: { type: 'string', default: join(root, 'sigma') },
    without: { type: 'string', multiple: true, default: [] },
    half: { type: 'string', default: 'all' },
    hits: { type: 'boolean', default: false },
    misses: { type: 'boolean', default: false },
  },
});
const HALVES = ['all', 'training', 'held-out'];
if (positionals.length !== 1 || !HALVES.includes(options.half))
  fail(
    `usage: sigma-figures.mjs FOLDER [--rules FOLDER] [--without TAG]… [--half ${HALVES.join('|')}] [--hits] [--misses]`,
  );

const { compile } = (await runnerImport(join(root, 'test/sigma/sigma-match.ts'))).module;
const { asCategory, logSourcesOf } = (await runnerImport(join(root, 'test/sigma/log-sources.ts'))).module;

const [folder] = positionals;
const rules = readRules(options.rules);
const rulesBySource = new Map();
const found = [];

for (const file of filesIn(folder)) {
  const half = halfOf(file);
  if (options.half !== 'all' && options.half !== half) continue;
  const hits = new Map();
  let events = 0;
  for await (const event of eventsOf(file)) {
    events++;
    const sources = logSourcesOf(event);
    const renamed = asCategory(event);
    for (const source of sources)
      for (const rule of rulesFor(source)) {
        if (!rule.test(renamed)) continue;
        const of = hits.get(rule) ?? [];
        of.push(renamed);
        hits.set(rule, of);
      }
  }
  if (events > 0) found.push({ file: relative(folder, file), half, events, hits });
}
report();

function report() {
  for (const half of HALVES.slice(1)) {
    const files = found.filter((entry) => entry.half === half);
    const hit = files.filter(({ hits }) => hits.size > 0);
    const count = files.reduce((sum, { hits }) => sum + [...hits.values()].flat().length, 0);
    const read = files.reduce((sum, { events }) => sum + events, 0);
    if (files.length > 0)
      console.log(`${half}: ${hit.length} of ${files.length} files; ${count} hits in ${read} events`);
  }
  if (options.hits)
    for (const { file, hits } of found)
      for (const [rule, events] of hits) {
        console.log(`${file}\n  ${events.length} ${rule.name}: ${rule.title}`);
        for (const event of distinct(events)) console.log(`    ${event}`);
      }
  if (options.misses)
    for (const { file, hits, events } of found)
      if (hits.size === 0) console.log(`missed: ${file} (${events} events)`);
}

/** Up to five different summaries of events. */
function distinct(events) {
  const FIELDS = [
    ['ParentImage', 'Image', 'CommandLine', 'User'],
    ['SourceImage', 'TargetImage', 'GrantedAccess'],
    ['Image', 'TargetObject', 'Details'],
    ['Image', 'ImageLoaded'],
    ['Image', 'TargetFilename'],
    ['Image', 'DestinationIp', 'DestinationPort'],
    ['ScriptBlockText'],
  ];
  const texts = events.map((event) => {
    const fields = FIELDS.find((names) => names.slice(0, 2).every((name) => name in event));
    const entries = fields ? fields.map((name) => [name, event[name]]) : Object.entries(event);
    return JSON.stringify(Object.fromEntries(entries)).slice(0, 600);
  });
  return [...new Set(texts)].slice(0, 5);
}

/** The half that a file belongs to, by the hash of its name: rules are written without looking at the other one. */
function halfOf(file) {
  const [first = 0] = createHash('sha256').update(basename(file)).digest();
  return first % 2 === 0 ? 'training' : 'held-out';
}

function filesIn(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(evtx|jsonl?|zip|t(ar\.)?gz)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function readRules(path) {
  const files = readdirSync(path, { recursive: true }).filter((name) => name.endsWith('.yml'));
  const unsupported = [];
  const read = files.flatMap((name) =>
    parseAllDocuments(readFileSync(join(path, name), 'utf8')).flatMap((document) => {
      const { title, tags = [], logsource, detection } = document.toJS();
      if (!detection || tags.some((tag) => options.without.includes(tag))) return [];
      try {
        return [{ name: basename(name, '.yml'), title, logsource, test: compile(detection) }];
      } catch (error) {
        unsupported.push(`${name}: ${error.message}`);
        return [];
      }
    }),
  );
  console.log(`${read.length} rules; ${unsupported.length} use what the evaluator does not support`);
  return read;
}

function rulesFor(source) {
  const key = JSON.stringify(source);
  const kept = rulesBySource.get(key);
  if (kept) return kept;
  const chosen = rules.filter(({ logsource }) =>
    ['product', 'category', 'service'].every(
      (name) => logsource[name] === undefined || logsource[name] === source[name],
    ),
  );
  rulesBySource.set(key, chosen);
  return chosen;
}

async function* eventsOf(file) {
  if (file.endsWith('.evtx')) return yield* windowsEvents(run('evtxexport', ['-f', 'xml', file]));
  for await (const line of createInterface({ input: linesOf(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (!line.startsWith('{')) continue;
    let event;
    try {
      event = JSON.parse(line);
    } catch {
      continue;
    }
    yield flat(event);
  }
}

function linesOf(file) {
  if (file.endsWith('.zip')) return run('unzip', ['-p', '-P', '', file]);
  if (/gz$/.test(file)) return run('tar', ['xzOf', file]);
  return createReadStream(file);
}

function run(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  child.on('error', (error) => fail(`${command}: ${error.message}`));
  return child.stdout;
}

/** Nested objects by the path of their fields, as rules for cloud logs name them; Azure writes EventData as text. */
function flat(event, prefix = '') {
  const entries = Object.entries(event).flatMap(([name, value]) => {
    if (name === 'EventData' && typeof value === 'string') return Object.entries(asObject(value));
    if (value === null) return [];
    if (typeof value === 'object') return Object.entries(flat(value, `${prefix}${name}.`));
    return [[prefix + name, typeof value === 'number' ? value : String(value)]];
  });
  return Object.fromEntries(entries);
}

function asObject(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

async function* windowsEvents(stream) {
  let lines = [];
  for await (const line of createInterface({ input: stream })) {
    if (line.startsWith('<Event ')) lines = [];
    lines.push(line);
    if (line.startsWith('</Event>')) yield windowsEvent(lines.join('\n'));
  }
}

/** The fields of an event in the XML that evtxexport writes. */
function windowsEvent(xml) {
  const event = {};
  for (const [, tag, name, text] of xml.matchAll(/<(\w+)(?: Name="([^"]*)")?[^<>]*>([^<>]*)<\/\w+>/g)) {
    const key = name ?? tag;
    // Windows writes numbers without leading zeros (0x1410), evtxexport with them (0x00001410).
    const value = text
      .replace(/&(\w+);/g, (entity, word) => ENTITIES[word] ?? entity)
      .replace(/^0x0+(?=\w)/, '0x');
    event[key] = key === 'EventID' ? Number(value) : key in event ? `${event[key]}\n${value}` : value;
  }
  event.Provider_Name = /<Provider Name="([^"]*)"/.exec(xml)?.[1] ?? '';
  return event;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
