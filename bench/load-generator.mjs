// Replaces wrk with paths.lua where wrk is not installed. node load-generator.mjs URL CONNECTIONS SECONDS
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';

const [, , url, connections, seconds] = process.argv;
const paths = readFileSync(process.env.BENCH_PATHS, 'utf8').trim().split('\n');
const { BENCH_KEY, BENCH_ETAG } = process.env;
const headers = { authorization: `Bearer ${BENCH_KEY}`, ...(BENCH_ETAG && { 'if-none-match': BENCH_ETAG }) };
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const times = [];
let failed = 0;
let next = Number(process.env.BENCH_START);

const startedAt = performance.now();
const end = startedAt + Number(seconds) * 1000;
await Promise.all(Array.from({ length: Number(connections) }, sendUntilEnd));
times.sort((a, b) => a - b);
const percentile = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
const result = {
  requests: times.length,
  seconds: (performance.now() - startedAt) / 1000,
  p50Ms: percentile(0.5),
  p99Ms: percentile(0.99),
  failed,
};
console.log(JSON.stringify(result));
agent.destroy();

async function sendUntilEnd() {
  while (performance.now() < end) {
    const sentAt = performance.now();
    const status = await send(paths[next++ % paths.length]);
    if (status === 0 || status >= 400) failed++;
    times.push(performance.now() - sentAt);
  }
}

function send(path) {
  return new Promise((done) => {
    const request = get(url + path, { agent, headers }, (response) => {
      response.resume();
      response.on('end', () => done(response.statusCode));
    });
    request.on('error', () => done(0));
  });
}
