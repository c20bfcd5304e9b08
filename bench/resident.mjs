// node bench/resident.mjs [--rows N | --url postgres://…] [--seconds N]: resident memory and CPU time of a server under load.
import { parseArgs } from 'node:util';
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
};
const mb = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;

try {
  await bench(parseArgs({ options }).values);
} finally {
  await servers.stopAll();
}

async function bench({ rows, url: filled, seconds }) {
  const url = filled ?? (await servers.startPostgres());
  if (!filled) await generate(url, Number(rows), () => {});
  const key = servers.createKey(url);
  const server = await servers.startTiplineProcess(url, await servers.startRedis());
  const loads = {
    'row 1': ['/api/v1/indicators?pageSize=100'],
    'row 4': distinctLists().map(({ path }) => path),
  };
  console.log(
    `| load | peak | after it | CPU a request |\n|---|--:|--:|--:|\n| none | | ${mb(residentBytes(server.pid))} | |`,
  );
  for (const [name, paths] of Object.entries(loads)) {
    const file = pathsFile(paths);
    const warmUp = await measure(server.url, key, file, 3);
    const memory = watchMemory(server.pid);
    const before = cpuSeconds(server.pid);
    const { requests } = await measure(server.url, key, file, Number(seconds), warmUp.requests);
    const micros = ((cpuSeconds(server.pid) - before) / requests) * 1e6;
    const { peak } = memory.stop();
    console.log(`| ${name} | ${mb(peak)} | ${mb(residentBytes(server.pid))} | ${micros.toFixed(0)} µs |`);
  }
}
