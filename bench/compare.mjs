import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measure, pathsFile } from './load.mjs';
import * as servers from './servers.mjs';

/** The number of recorded responses that the bare server sends in turn, where every request is for another object. */
const MAX_RESPONSES = 1_000;
/** Headers that node:http adds itself, or that describe the connection rather than the response. */
const SKIPPED_HEADERS = ['connection', 'keep-alive', 'date', 'transfer-encoding'];

/**
 * Measures Tipline and the limit in turn, round by round, so that disturbances of the machine affect both.
 * @param {{limitKind?: 'bare' | 'database', notModified?: boolean}} options the server that sets the limit; whether
 *   requests carry the current ETag
 */
export async function compare(options) {
  const { databaseUrl, redisUrl, key, paths, limitKind = 'bare', notModified = false } = options;
  const { rounds, seconds } = options;
  const tipline = await servers.startTiplineProcess(databaseUrl, redisUrl);
  const { etag } = (await send(tipline.url, key, paths[0])).headers;
  const loadOptions = notModified ? { etag } : {};
  const limit =
    limitKind === 'database'
      ? await servers.startDatabaseServer(databaseUrl)
      : await servers.startBareServer(await recordResponses(tipline.url, key, paths, notModified));
  const file = pathsFile(paths);
  const pairs = [];
  // Warm-up: neither server is measured before its code is compiled.
  for (const { url } of [tipline, limit]) await measure(url, key, file, seconds, 0, loadOptions);
  for (let round = 0; round < rounds; round++) {
    const start = round * Math.floor(paths.length / rounds);
    pairs.push({
      tipline: await measure(tipline.url, key, file, seconds, start, loadOptions),
      limit: await measure(limit.url, key, file, seconds, start, loadOptions),
    });
  }
  await tipline.stop();
  await limit.stop();
  const medianOf = (side) => ({ perSecond: median(pairs.map((pair) => pair[side].perSecond)) });
  const ratio = median(pairs.map((pair) => pair.tipline.perSecond / pair.limit.perSecond));
  return { tipline: medianOf('tipline'), limit: medianOf('limit'), ratio };
}

/** Writes a file of responses for the bare server, with their bodies or with empty ones. @returns its path */
export async function recordResponses(url, key, paths, isEmpty) {
  const responses = [];
  for (const path of paths.slice(0, MAX_RESPONSES)) {
    const { status, headers, body } = await send(url, key, path);
    responses.push({
      status,
      headers: isEmpty ? { ...headers, 'content-length': '0' } : headers,
      body: isEmpty ? '' : body,
    });
  }
  const file = join(servers.temporaryDirectory(), 'responses.json');
  writeFileSync(file, JSON.stringify(responses));
  return file;
}

async function send(url, key, path) {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  const headers = Object.fromEntries(
    [...response.headers].filter(([name]) => !SKIPPED_HEADERS.includes(name)),
  );
  return { status: response.status, headers, body: await response.text() };
}

function median(list) {
  const sorted = list.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}
