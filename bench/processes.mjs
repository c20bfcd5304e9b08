// What a server costs beside its answers: CPU by request with several processes, memory when idle, time to the first answer.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { measure } from './load.mjs';
import { residentBytes } from './memory.mjs';
import * as servers from './servers.mjs';

/** Of /proc/…/stat, on every Linux that Node runs on. */
const TICKS_A_SECOND = 100;

/** CPU seconds of a process and those that it has started, without those that have ended. */
function cpuSeconds(pid) {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const read = (id) => {
    try {
      return readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1].split(' ');
    } catch {
      return null;
    }
  };
  return all
    .filter((id) => id === String(pid) || read(id)?.[1] === String(pid))
    .reduce((sum, id) => {
      const fields = read(id);
      return fields ? sum + (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND : sum;
    }, 0);
}

/** @returns CPU seconds a request of servers that are asked for the same at once */
async function cpuByRequest(running, key, file, seconds) {
  // Keys, plans and answers are known after that.
  for (const { url } of running) await measure(url, key, file, 5);
  const before = running.map(({ pid }) => cpuSeconds(pid));
  const measured = await Promise.all(running.map(({ url }, i) => measure(url, key, file, seconds, i * 100)));
  const used = running.reduce((sum, { pid }, i) => sum + cpuSeconds(pid) - before[i], 0);
  return used / measured.reduce((sum, { requests }) => sum + requests, 0);
}

/** One process, two and four behind one port, and two nodes. @returns CPU seconds a request of each */
export async function processCosts(databaseUrl, redisUrl, key, file, seconds) {
  const costs = {};
  for (const [name, counts] of Object.entries({
    'one process': [1],
    'two processes': [2],
    'four processes': [4],
    'two nodes': [1, 1],
  })) {
    const running = [];
    for (const count of counts)
      running.push(
        await servers.startTiplineProcess(databaseUrl, redisUrl, { TIPLINE_PROCESSES: String(count) }),
      );
    costs[name] = await cpuByRequest(running, key, file, seconds);
    for (const { stop } of running) await stop();
  }
  return costs;
}

/** @returns the resident size of a server that has been asked for something and is left alone, in bytes */
export async function idleBytes(databaseUrl, redisUrl, key) {
  const { url, pid, stop } = await servers.startTiplineProcess(databaseUrl, redisUrl);
  await fetch(`${url}/api/v1/indicators`, { headers: { authorization: `Bearer ${key}` } }).then((response) =>
    response.text(),
  );
  // V8 gives back what starting has taken once nothing has happened for some twenty seconds.
  await delay(60_000);
  const bytes = residentBytes(pid);
  await stop();
  return bytes;
}

/** @returns seconds from the start of the process to the end of its first answer */
export async function startSeconds(databaseUrl, redisUrl, key) {
  const began = performance.now();
  const { url, stop } = await servers.startTiplineProcess(databaseUrl, redisUrl);
  const response = await fetch(`${url}/api/v1/indicators`, { headers: { authorization: `Bearer ${key}` } });
  if (response.status !== 200) throw new Error(`the first answer was ${response.status}`);
  await response.text();
  const seconds = (performance.now() - began) / 1000;
  await stop();
  return seconds;
}
