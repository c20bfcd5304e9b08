// node bench/resident.mjs [--rows N | --url postgres://…] [--seconds N] [--embedded]: resident memory and CPU time of a server under load,
// after its worker has evaluated the indicators.
import { parseArgs } from 'node:util';
import { startEmbedded } from './embedded.mjs';
import { generate } from './generate.mjs';
import { measure, pathsFile } from './load.mjs';
import { residentBytes, watchMemory } from './memory.mjs';
import { cpuSeconds } from './processes.mjs';
import * as servers from './servers.mjs';
import { distinctLists } from './uncached.mjs';

const options = {
  rows: { type: 'string', default: '100000' },
  url: { type: 'string' },
  seconds: { type: 'string', default: '10' },
  embedded: { type: 'boolean', default: false },
};
/** The worker has evaluated the indicators by then: none is hidden any more while it is requested. */
const SETTLED_MS = 90_000;
const mb = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;

try {
  await bench(parseArgs({ options }).values);
} finally {
  await servers.stopAll();
}

async function bench({ rows, url: filled, seconds, embedded }) {
  const { url, pid, key } = embedded
    ? await startEmbedded(Number(rows))
    : await startOnPostgres(filled, rows);
  await new Promise((done) => setTimeout(done, SETTLED_MS));
  const ids = await readIds(url, key);
  const loads = {
    'row 1': ['/api/v1/indicators?pageSize=100'],
    'row 4': distinctLists().map(({ path }) => path),
    details: ids.map((id) => `/api/v1/indicators/${id}`),
    contexts: ids.map((id) => `/api/v1/indicators/${id}/context`),
  };
  console.log(
    `| load | peak | after it | CPU a request |\n|---|--:|--:|--:|\n| none | | ${mb(residentBytes(pid))} | |`,
  );
  for (const [name, paths] of Object.entries(loads)) {
    const file = pathsFile(paths);
    const warmUp = await measure(url, key, file, 3);
    const memory = watchMemory(pid);
    const before = cpuSeconds(pid);
    const { requests } = await measure(url, key, file, Number(seconds), warmUp.requests);
    const micros = ((cpuSeconds(pid) - before) / requests) * 1e6;
    const { peak } = memory.stop();
    console.log(`| ${name} | ${mb(peak)} | ${mb(residentBytes(pid))} | ${micros.toFixed(0)} µs |`);
  }
}

async function startOnPostgres(filled, rows) {
  const database = filled ?? (await servers.startPostgres());
  if (!filled) await generate(database, Number(rows), () => {});
  const key = servers.createKey(database);
  const { url, pid } = await servers.startTiplineProcess(database, await servers.startRedis());
  return { url, pid, key };
}

async function readIds(url, key) {
  const ids = [];
  for (let page = 1; page <= 20; page++) {
    const path = `/api/v1/indicators?pageSize=500&page=${page}`;
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
    ids.push(...(await response.json()).data.map(({ id }) => id));
  }
  return ids;
}
