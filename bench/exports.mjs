// node bench/exports.mjs [--rows N] [--url postgres://…] [--formats csv,stix]: full exports; see README.md.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DEFAULT_OPTIONS, formatOf } from '../dist/bench.js';
import { generate } from './generate.mjs';
import { residentBytes, watchMemory } from './memory.mjs';
import * as servers from './servers.mjs';

const FORMATS = ['csv', 'ndjson', 'ecs', 'stix', 'misp', 'snort', 'suricata', 'zeek', 'txt', 'rpz'];
/** The columns of `indicator` by the names of the fields that a format reads, where they differ. */
const COLUMN_NAMES = {
  source: 'source_id',
  firstSeen: 'first_seen',
  lastSeen: 'last_seen',
  expiresAt: 'expires_at',
  createdAt: 'created_at',
  modifiedAt: 'modified_at',
  forDetection: 'for_detection',
  ofCertificate: 'of_certificate',
  whitelistedParts: 'whitelisted_parts',
};
/** Fields that come from other tables; COPY leaves them out. */
const JOINED_FIELDS = ['externalIds', 'indicates'];
/** Exports that take longer than this have fewer rounds; short ones need more, because the machine's speed varies. */
const SLOW_SECONDS = 6;
const SLOW_ROUNDS = 3;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = {
    rows: { type: 'string', default: '1000000' },
    url: { type: 'string' },
    formats: { type: 'string', default: FORMATS.join(',') },
  };
  const { values } = parseArgs({ options });
  try {
    const url = values.url ?? (await servers.startPostgres());
    if (!values.url) await generate(url, Number(values.rows), (line) => console.error(line));
    console.log(table(await exportAll(url, { formats: values.formats.split(',') })));
  } finally {
    await servers.stopAll();
  }
}

/**
 * Measures the full export of each format and COPY of the same columns.
 * @param {{formats?: string[], rounds?: number}} options `rounds`: the maximum for each format; slow formats have fewer
 * @returns the round with the median ratio of each format, with the highest memory of all its rounds
 */
export async function exportAll(databaseUrl, { formats = FORMATS, rounds: maxRounds = 5 } = {}) {
  const key = servers.createKey(databaseUrl);
  const results = [];
  for (const format of formats) {
    const rounds = [];
    do rounds.push(await exportOnce(databaseUrl, key, format));
    while (
      rounds.length < (rounds[0].first.seconds < SLOW_SECONDS ? maxRounds : Math.min(maxRounds, SLOW_ROUNDS))
    );
    const sorted = rounds.toSorted((a, b) => a.ratio - b.ratio);
    results.push({
      ...sorted[Math.floor(sorted.length / 2)],
      memoryOverIdle: Math.max(...rounds.map(({ memoryOverIdle }) => memoryOverIdle)),
    });
    console.error(`${format}: ${rounds.map(({ first }) => first.seconds.toFixed(1)).join(', ')} s`);
  }
  return results;
}

/** Exports in a process of its own, so that no format inherits the memory of another. */
async function exportOnce(databaseUrl, key, format) {
  const tipline = await servers.startTiplineProcess(databaseUrl);
  const path = `/api/v1/indicators?format=${format}`;
  await get(tipline.url, key, '/api/v1/indicators?pageSize=1');
  const idle = residentBytes(tipline.pid);
  const peak = watchMemory(tipline.pid);
  const first = await get(tipline.url, key, path);
  const copy = await copyOut(databaseUrl, formatOf(format, DEFAULT_OPTIONS).columns);
  const again = await get(tipline.url, key, path);
  const memoryOverIdle = peak.stop().peak - idle;
  const file = await sendFile(again.bytes);
  const notModified = await get(tipline.url, key, path, { 'if-none-match': first.etag });
  await tipline.stop();
  const ratio = first.bytes / first.seconds / (copy.bytes / copy.seconds);
  const againRatio = file.seconds / again.seconds;
  return { format, first, again, notModified, copy, memoryOverIdle, ratio, againRatio };
}

/** Reads a response to its end and discards it. */
function get(url, key, path, headers = {}) {
  const startedAt = performance.now();
  return new Promise((done, fail) => {
    const request = http.get(
      url + path,
      { headers: { authorization: `Bearer ${key}`, ...headers } },
      (response) => {
        let bytes = 0;
        let firstMs = null;
        response.on('data', (chunk) => {
          firstMs ??= performance.now() - startedAt;
          bytes += chunk.length;
        });
        response.on('error', fail);
        response.on('end', () => {
          const { statusCode: status, headers } = response;
          done({
            status,
            bytes,
            firstMs,
            seconds: (performance.now() - startedAt) / 1000,
            etag: headers.etag,
          });
        });
      },
    );
    request.on('error', fail);
  });
}

/** The limit for spooled exports: node:http alone sends a file of that size. */
async function sendFile(bytes) {
  const path = join(servers.temporaryDirectory(), 'file');
  writeFileSync(path, Buffer.alloc(1 << 20, 'tipline '));
  const { url, stop } = await servers.startFileServer(path, bytes);
  const responses = [];
  for (let i = 0; i < 2; i++) responses.push(await get(url, '', '/'));
  await stop();
  return responses[1];
}

/** The limit for first exports: COPY of the same columns of every row to a reader of bytes. */
async function copyOut(url, columns) {
  const names = columns
    .filter((column) => !JOINED_FIELDS.includes(column))
    .map((column) => COLUMN_NAMES[column] ?? column);
  const startedAt = performance.now();
  const psql = spawn(servers.findProgram('psql'), [
    url,
    '-qXc',
    `copy (select ${names} from indicator) to stdout`,
  ]);
  let bytes = 0;
  for await (const chunk of psql.stdout) bytes += chunk.length;
  return { bytes, seconds: (performance.now() - startedAt) / 1000 };
}

function table(results) {
  const mb = (bytes) => (bytes / 1e6).toFixed(0);
  const lines = results.map(
    ({ format, first, again, notModified, copy, memoryOverIdle, ratio, againRatio }) =>
      [
        format,
        mb(first.bytes),
        first.firstMs?.toFixed(0),
        first.seconds.toFixed(1),
        mb(first.bytes / first.seconds),
        mb(copy.bytes / copy.seconds),
        ratio.toFixed(2),
        mb(memoryOverIdle),
        again.seconds.toFixed(2),
        againRatio.toFixed(2),
        `${notModified.status} in ${(notModified.seconds * 1000).toFixed(0)} ms`,
      ].join(' | '),
  );
  return [
    '| format | MB | first byte ms | s | MB/s | COPY MB/s | ratio | memory over idle MB | again s | ratio to a file | If-None-Match |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...lines.map((line) => `| ${line} |`),
  ].join('\n');
}
