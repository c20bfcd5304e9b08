// Costs of a server: CPU per request with several processes, memory when idle, time to the first response.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { recordResponses } from './compare.mjs';
import { measure, pathsFile } from './load.mjs';
import { residentBytes } from './memory.mjs';
import * as servers from './servers.mjs';

/** The clock ticks of /proc/…/stat, on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;

/** Returns the CPU seconds of a process and its children, without those that have ended. */
export function cpuSeconds(pid) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const read = (id) => {
    try {
      return readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1].split(' ');
    } catch {
      return null;
    }
  };
  return pids
    .filter((id) => id === String(pid) || read(id)?.[1] === String(pid))
    .reduce((sum, id) => {
      const fields = read(id);
      return fields ? sum + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND : sum;
    }, 0);
}

/** The number of processes behind each port of a set-up. */
const SETUPS = {
  'one process': [1],
  'two processes': [2],
  'four processes': [4],
  'two nodes': [1, 1],
};
const BASELINE = 'one process';
/** In total: four processes have 64 each, as one process has in the other rows. */
const CONNECTIONS = 256;

/**
 * Measures servers that run concurrently, after as long a time under load: a process that has been idle has returned memory to
 * the system and lost the CPU's caches, and its first requests cost more.
 * @returns CPU seconds per request
 */
async function cpuPerRequest(running, key, file, seconds) {
  const connections = CONNECTIONS / running.length;
  const sendLoad = () =>
    Promise.all(running.map(({ url }, i) => measure(url, key, file, seconds, i * 100, { connections })));
  await sendLoad();
  const before = running.map(({ pid }) => cpuSeconds(pid));
  const measured = await sendLoad();
  const used = running.reduce((sum, { pid }, i) => sum + cpuSeconds(pid) - before[i], 0);
  return used / measured.reduce((sum, { requests }) => sum + requests, 0);
}

/**
 * Compares the cost of a request with each set-up to its cost with one process, and the increase to that of node:http alone
 * sending the same bytes: processes that share cores and wait more often cost more per request. The set-ups take turns,
 * because the speed of a core varies.
 * @param others set-ups to compare with one process
 * @returns {Promise<Record<string, {cost: number, baseline: number, ratio: number, bareRatio: number}>>} CPU seconds per
 *   request and ratios to one process, as medians of the turns
 */
export async function processCosts(databaseUrl, redisUrl, key, path, turns, seconds, others) {
  const file = pathsFile([path]);
  const setups = {};
  let responsesFile;
  for (const name of [BASELINE, ...others]) {
    const counts = SETUPS[name];
    const tipline = await startEach(counts, (count) =>
      servers.startTiplineProcess(databaseUrl, redisUrl, { TIPLINE_PROCESSES: String(count) }),
    );
    responsesFile ??= await recordResponses(tipline[0].url, key, [path], false);
    const bare = await startEach(counts, (count) => servers.startBareServer(responsesFile, count));
    setups[name] = { tipline, bare };
    // Warm-up: afterwards every process has cached keys and plans, and its code is compiled.
    const warmUpSeconds = Math.ceil((seconds * counts.reduce((sum, count) => sum + count)) / 2);
    for (const running of [tipline, bare]) await cpuPerRequest(running, key, file, warmUpSeconds);
  }
  const costsByTurn = [];
  for (let turn = 0; turn < turns; turn++) {
    const costs = {};
    for (const [name, { tipline, bare }] of Object.entries(setups)) {
      costs[name] = {
        tipline: await cpuPerRequest(tipline, key, file, seconds),
        bare: await cpuPerRequest(bare, key, file, seconds),
      };
    }
    costsByTurn.push(costs);
  }
  for (const { tipline, bare } of Object.values(setups))
    for (const { stop } of [...tipline, ...bare]) await stop();
  return Object.fromEntries(others.map((name) => [name, summarize(costsByTurn, name)]));
}

async function startEach(counts, start) {
  const running = [];
  for (const count of counts) running.push(await start(count));
  return running;
}

function summarize(costsByTurn, name) {
  const medianOf = (figure) => costsByTurn.map(figure).sort((a, b) => a - b)[costsByTurn.length >> 1];
  return {
    cost: medianOf((costs) => costs[name].tipline),
    baseline: medianOf((costs) => costs[BASELINE].tipline),
    ratio: medianOf((costs) => costs[name].tipline / costs[BASELINE].tipline),
    bareRatio: medianOf((costs) => costs[name].bare / costs[BASELINE].bare),
  };
}

/** V8 returns the memory used during startup after some twenty idle seconds. */
const IDLE_MS = 60_000;

/**
 * Starts a server, sends it one request and leaves it idle; other measurements may run in the meantime.
 * @returns {Promise<() => Promise<number>>} a function that waits until the server has been idle for a minute, stops it and
 *   returns its resident size in bytes
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

/** @returns seconds from the start of the process to the end of its first response */
export async function startSeconds(databaseUrl, redisUrl, key) {
  const startedAt = performance.now();
  const { url, stop } = await servers.startTiplineProcess(databaseUrl, redisUrl);
  const response = await fetch(`${url}/api/v1/indicators`, { headers: { authorization: `Bearer ${key}` } });
  if (response.status !== 200)
    throw new Error(`The first response has status ${response.status}; it must be 200.`);
  await response.text();
  const seconds = (performance.now() - startedAt) / 1000;
  await stop();
  return seconds;
}
