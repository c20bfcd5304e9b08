// What a server costs beside its answers: CPU by request with several processes, memory when idle, time to the first answer.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { captured } from './compare.mjs';
import { measure, pathsFile } from './load.mjs';
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

/** How many processes each of the set-ups has behind each of its ports. */
const SETUPS = {
  'one process': [1],
  'two processes': [2],
  'four processes': [4],
  'two nodes': [1, 1],
};
const ONE = 'one process';
/** As many for each of four processes as the other rows have for one; every set-up gets them all. */
const CONNECTIONS = 256;

/**
 * Of servers that are asked for the same at once, and are kept busy: whoever has waited for its turn has given memory back
 * and fallen out of the caches, and first pays for that, each process for itself.
 * @returns CPU seconds a request
 */
async function cpuByRequest(running, key, file, seconds) {
  const connections = CONNECTIONS / running.length;
  const asked = () =>
    Promise.all(running.map(({ url }, i) => measure(url, key, file, seconds, i * 100, { connections })));
  await asked();
  const before = running.map(({ pid }) => cpuSeconds(pid));
  const measured = await asked();
  const used = running.reduce((sum, { pid }, i) => sum + cpuSeconds(pid) - before[i], 0);
  return used / measured.reduce((sum, { requests }) => sum + requests, 0);
}

/**
 * What a request costs with each set-up beside one process, and by how much it rises where node:http alone answers with the
 * same: processes that wait more often, on cores that they share, are slower for each request. They take turns, since a
 * core's speed moves, and what they cost with it.
 * @param others set-ups beside one process
 * @returns {Promise<Record<string, {cost: number, ofOne: number, ratio: number, bare: number}>>} CPU seconds a request and
 *   ratios, medians of the turns
 */
export async function processCosts(databaseUrl, redisUrl, key, path, turns, seconds, others) {
  const file = pathsFile([path]);
  const setups = {};
  const answers = {};
  for (const name of [ONE, ...others]) {
    const counts = SETUPS[name];
    const ours = await startEach(counts, (count) =>
      servers.startTiplineProcess(databaseUrl, redisUrl, { TIPLINE_PROCESSES: String(count) }),
    );
    answers.file ??= await captured(ours[0].url, key, [path], false);
    const bare = await startEach(counts, (count) => servers.startBareServer(answers.file, count));
    setups[name] = { ours, bare };
    // Each of the processes knows its keys and plans after that, and is compiled.
    const warming = Math.ceil((seconds * counts.reduce((sum, count) => sum + count)) / 2);
    for (const running of [ours, bare]) await cpuByRequest(running, key, file, warming);
  }
  const all = [];
  for (let turn = 0; turn < turns; turn++) {
    const costs = {};
    for (const [name, { ours, bare }] of Object.entries(setups)) {
      costs[name] = {
        ours: await cpuByRequest(ours, key, file, seconds),
        bare: await cpuByRequest(bare, key, file, seconds),
      };
    }
    all.push(costs);
  }
  for (const { ours, bare } of Object.values(setups)) for (const { stop } of [...ours, ...bare]) await stop();
  return Object.fromEntries(others.map((name) => [name, compared(all, name)]));
}

async function startEach(counts, start) {
  const running = [];
  for (const count of counts) running.push(await start(count));
  return running;
}

function compared(turns, name) {
  const medianOf = (figure) => turns.map(figure).sort((a, b) => a - b)[turns.length >> 1];
  return {
    cost: medianOf((costs) => costs[name].ours),
    ofOne: medianOf((costs) => costs[ONE].ours),
    ratio: medianOf((costs) => costs[name].ours / costs[ONE].ours),
    bare: medianOf((costs) => costs[name].bare / costs[ONE].bare),
  };
}

/** V8 gives back what starting has taken once nothing has happened for some twenty seconds. */
const IDLE_MS = 60_000;

/**
 * Starts a server, asks it for something and leaves it alone: others may be measured meanwhile.
 * @returns {Promise<() => Promise<number>>} its resident size once it has been idle for a minute, in bytes; ends it
 */
export async function startIdle(databaseUrl, redisUrl, key) {
  const { url, pid, stop } = await servers.startTiplineProcess(databaseUrl, redisUrl);
  const response = await fetch(`${url}/api/v1/indicators`, { headers: { authorization: `Bearer ${key}` } });
  await response.text();
  const idle = delay(IDLE_MS, undefined, { ref: false });
  return async () => {
    await idle;
    const bytes = residentBytes(pid);
    await stop();
    return bytes;
  };
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
