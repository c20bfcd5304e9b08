import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { find, temporaryDirectory } from './servers.mjs';

const run = promisify(execFile);
const CONNECTIONS = 64;
const beside = (name) => fileURLToPath(new URL(name, import.meta.url));
export const GENERATOR = find('wrk', false) ? 'wrk' : 'node:http';

/** Writes the paths that are to be asked for in turn to a file, for `measure`. */
export function pathsFile(paths) {
  const file = join(temporaryDirectory(), 'paths');
  writeFileSync(file, `${paths.join('\n')}\n`);
  return file;
}

/**
 * Asks a server in another process, over kept connections, as fast as it answers.
 * @param {number} start where in the file to begin, so that a repetition asks for others
 * @param {{etag?: string, perSecond?: number, connections?: number}} more the tag of what is there already; a pace below
 *   what it can do (wrk alone)
 * @returns {Promise<{perSecond: number, p50Ms: number, p99Ms: number}>}
 * @throws when one request fails or is refused
 */
export async function measure(
  url,
  key,
  file,
  seconds,
  start = 0,
  { etag = '', perSecond = 0, connections = CONNECTIONS } = {},
) {
  const pauseMs = perSecond > 0 ? (connections * 1000) / perSecond : 0;
  const env = {
    ...process.env,
    BENCH_KEY: key,
    BENCH_PATHS: file,
    BENCH_START: String(start),
    BENCH_ETAG: etag,
    BENCH_PAUSE_MS: String(pauseMs),
  };
  // Answers that are late are slow, not failed.
  const wrk = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '60s',
    '-s',
    beside('paths.lua'),
    url,
  ];
  const { stdout } =
    GENERATOR === 'wrk'
      ? await run(find('wrk'), wrk, { env })
      : await run(
          process.execPath,
          [beside('load-generator.mjs'), url, String(connections), String(seconds)],
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
