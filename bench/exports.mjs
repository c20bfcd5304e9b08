// node bench/exports.mjs [--rows N] [--url postgres://…] [--formats csv,stix]: full exports; README.md beside says how.
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
/** Where the table has what a format reads. */
const COPIED = {
  source: 'source_id',
  firstSeen: 'first_seen',
  lastSeen: 'last_seen',
  expiresAt: 'expires_at',
  createdAt: 'created_at',
  modifiedAt: 'modified_at',
  forDetection: 'for_detection',
};
const ELSEWHERE = ['externalIds', 'indicates'];
/** The machine is not the same from one second to the next: what takes longer than this, in seconds, is done fewer times. */
const QUICK = 6;
const ROUNDS_OF_SLOW = 3;

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
 * Each format in full, beside COPY of the same columns.
 * @param {{formats?: string[], rounds?: number}} options so many rounds, of those that are slow fewer; the one in the middle counts
 */
export async function exportAll(databaseUrl, { formats = FORMATS, rounds: most = 5 } = {}) {
  const key = servers.createKey(databaseUrl);
  const results = [];
  for (const format of formats) {
    const rounds = [];
    do rounds.push(await exportOnce(databaseUrl, key, format));
    while (rounds.length < (rounds[0].first.seconds < QUICK ? most : Math.min(most, ROUNDS_OF_SLOW)));
    const sorted = rounds.toSorted((a, b) => a.ratio - b.ratio);
    results.push({
      ...sorted[Math.floor(sorted.length / 2)],
      overIdle: Math.max(...rounds.map(({ overIdle }) => overIdle)),
    });
    console.error(`${format}: ${rounds.map(({ first }) => first.seconds.toFixed(1)).join(', ')} s`);
  }
  return results;
}

/** In a process of its own, so that none inherits the memory of another. */
async function exportOnce(databaseUrl, key, format) {
  const tipline = await servers.startTiplineProcess(databaseUrl);
  const path = `/api/v1/indicators?format=${format}`;
  await get(tipline.url, key, '/api/v1/indicators?pageSize=1');
  const idle = residentBytes(tipline.pid);
  const peak = watchMemory(tipline.pid);
  const first = await get(tipline.url, key, path);
  const copied = await copyOut(databaseUrl, formatOf(format, DEFAULT_OPTIONS).columns);
  const again = await get(tipline.url, key, path);
  const overIdle = peak.stop().peak - idle;
  const file = await sendFile(again.bytes);
  const unchanged = await get(tipline.url, key, path, { 'if-none-match': first.etag });
  await tipline.stop();
  const ratio = first.bytes / first.seconds / (copied.bytes / copied.seconds);
  const againRatio = file.seconds / again.seconds;
  return { format, first, again, unchanged, copied, overIdle, ratio, againRatio };
}

/** Reads an answer to its end, from a socket, without keeping it. */
function get(url, key, path, headers = {}) {
  const began = performance.now();
  return new Promise((done, fail) => {
    const request = http.get(
      url + path,
      { headers: { authorization: `Bearer ${key}`, ...headers } },
      (response) => {
        let bytes = 0;
        let firstMs = null;
        response.on('data', (chunk) => {
          firstMs ??= performance.now() - began;
          bytes += chunk.length;
        });
        response.on('error', fail);
        response.on('end', () => {
          const { statusCode: status, headers } = response;
          done({ status, bytes, firstMs, seconds: (performance.now() - began) / 1000, etag: headers.etag });
        });
      },
    );
    request.on('error', fail);
  });
}

/** The limit of what is laid aside: a file of that size, sent by node:http alone. */
async function sendFile(bytes) {
  const path = join(servers.temporaryDirectory(), 'sent');
  writeFileSync(path, Buffer.alloc(1 << 20, 'tipline '));
  const { url, stop } = await servers.startFileServer(path, bytes);
  const sent = [];
  for (let i = 0; i < 2; i++) sent.push(await get(url, '', '/'));
  await stop();
  return sent[1];
}

/** The limit: the same columns of every row, as fast as the database gives them to a reader of bytes. */
async function copyOut(url, columns) {
  const names = columns
    .filter((column) => !ELSEWHERE.includes(column))
    .map((column) => COPIED[column] ?? column);
  const began = performance.now();
  const psql = spawn(servers.find('psql'), [url, '-qXc', `copy (select ${names} from indicator) to stdout`]);
  let bytes = 0;
  for await (const chunk of psql.stdout) bytes += chunk.length;
  return { bytes, seconds: (performance.now() - began) / 1000 };
}

function table(results) {
  const mb = (bytes) => (bytes / 1e6).toFixed(0);
  const lines = results.map(({ format, first, again, unchanged, copied, overIdle, ratio, againRatio }) =>
    [
      format,
      mb(first.bytes),
      first.firstMs?.toFixed(0),
      first.seconds.toFixed(1),
      mb(first.bytes / first.seconds),
      mb(copied.bytes / copied.seconds),
      ratio.toFixed(2),
      mb(overIdle),
      again.seconds.toFixed(2),
      againRatio.toFixed(2),
      `${unchanged.status} in ${(unchanged.seconds * 1000).toFixed(0)} ms`,
    ].join(' | '),
  );
  return [
    '| format | MB | first byte ms | s | MB/s | COPY MB/s | ratio | MB over idle | again s | of a file | If-None-Match |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...lines.map((line) => `| ${line} |`),
  ].join('\n');
}
