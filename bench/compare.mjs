import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measure, pathsFile } from './load.mjs';
import * as servers from './servers.mjs';

/** Answers that the bare server sends in turn, where each request is for another thing. */
const ANSWERS = 1_000;
/** Added by node:http itself, or about the connection and not the answer. */
const NOT_SENT = ['connection', 'keep-alive', 'date', 'transfer-encoding'];

/**
 * Ours and the limit in turn, round by round, so that what disturbs the machine disturbs both.
 * @param {{against?: 'database', unchanged?: boolean}} asked against what reads the database too; with the tag of what is
 *   asked for
 */
export async function compare(asked) {
  const { databaseUrl, redisUrl, key, paths, against, unchanged = false, rounds, seconds } = asked;
  const ours = await servers.startTiplineProcess(databaseUrl, redisUrl);
  const { etag } = (await ask(ours.url, key, paths[0])).headers;
  const more = unchanged ? { etag } : {};
  const limit =
    against === 'database'
      ? await servers.startDatabaseServer(databaseUrl)
      : await servers.startBareServer(await captured(ours.url, key, paths, unchanged));
  const file = pathsFile(paths);
  const pairs = [];
  // Neither is measured while it is still being compiled.
  for (const { url } of [ours, limit]) await measure(url, key, file, seconds, 0, more);
  for (let round = 0; round < rounds; round++) {
    const start = round * Math.floor(paths.length / rounds);
    pairs.push({
      ours: await measure(ours.url, key, file, seconds, start, more),
      limit: await measure(limit.url, key, file, seconds, start, more),
    });
  }
  await ours.stop();
  await limit.stop();
  const of = (side) => ({ perSecond: median(pairs.map((pair) => pair[side].perSecond)) });
  const ratio = median(pairs.map((pair) => pair.ours.perSecond / pair.limit.perSecond));
  return { ours: of('ours'), limit: of('limit'), ratio };
}

/** A file of answers for the bare server, as they were given or without a body. */
export async function captured(url, key, paths, isEmpty) {
  const answers = [];
  for (const path of paths.slice(0, ANSWERS)) {
    const { status, headers, body } = await ask(url, key, path);
    answers.push({
      status,
      headers: isEmpty ? { ...headers, 'content-length': '0' } : headers,
      body: isEmpty ? '' : body,
    });
  }
  const file = join(servers.temporaryDirectory(), 'answers.json');
  writeFileSync(file, JSON.stringify(answers));
  return file;
}

async function ask(url, key, path) {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !NOT_SENT.includes(name)));
  return { status: response.status, headers, body: await response.text() };
}

function median(list) {
  const sorted = list.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}
