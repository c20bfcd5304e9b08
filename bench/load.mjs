import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findProgram, temporaryDirectory } from './servers.mjs';

const run = promisify(execFile);
const CONNECTIONS = 64;
const pathTo = (name) => fileURLToPath(new URL(name, import.meta.url));
export const GENERATOR = findProgram('wrk', false) ? 'wrk' : 'node:http';

/** Writes the paths that `measure` requests in turn to a file. @returns its path */
export function pathsFile(paths) {
  const file = join(temporaryDirectory(), 'paths');
  writeFileSync(file, `${paths.join('\n')}\n`);
  return file;
}

/**
 * Sends requests to a server from another process over keep-alive connections, as fast as it responds.
 * @param {number} start index of the first path in the file, so that a later round requests other paths
 * @param {{etag?: string, perSecond?: number, connections?: number, encoding?: string}} options `etag`: for If-None-Match;
 *   `perSecond`: a rate below the maximum (wrk only); `encoding`: for Accept-Encoding (wrk only)
 * @returns {Promise<{requests: number, perSecond: number, p50Ms: number, p99Ms: number}>}
 * @throws {Error} if any request fails or has an error status
 */
export async function measure(
  url,
  key,
  file,
  seconds,
  start = 0,
  { etag = '', perSecond = 0, connections = CONNECTIONS, encoding = '' } = {},
) {
  const pauseMs = perSecond > 0 ? (connections * 1000) / perSecond : 0;
  const env = {
    ...process.env,
    BENCH_KEY: key,
    BENCH_PATHS: file,
    BENCH_START: String(start),
    BENCH_ETAG: etag,
    BENCH_ENCODING: encoding,
    BENCH_PAUSE_MS: String(pauseMs),
  };
  // With a long timeout, late responses count as slow rather than as failed.
  const wrk = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '60s',
    '-s',
    pathTo('paths.lua'),
    url,
  ];
  const { stdout } =
    GENERATOR === 'wrk'
      ? await run(findProgram('wrk'), wrk, { env })
      : await run(
          process.execPath,
          [pathTo('load-generator.mjs'), url, String(connections), String(seconds)],
          {
            env,
          },
        );
  const result = JSON.parse(stdout.trim().split('\n').at(-1));
  if (result.failed > 0)
    throw new Error(`${result.failed} of ${result.requests} requests failed at ${url}: ${stdout}`);
  return {
    requests: result.requests,
    perSecond: result.requests / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
  };
}
