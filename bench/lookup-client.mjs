// node lookup-client.mjs URL KEY FILE SECONDS: sends the bodies of a file in turn with QUERY, and discards the results.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';

const [, , url, key, file, seconds] = process.argv;
const CONNECTIONS = 2;
const bodies = readFileSync(file, 'utf8')
  .split('\n')
  .map((body) => ({ bytes: Buffer.from(body), values: JSON.parse(body).values.length }));
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
const startedAt = performance.now();
let [next, values, bytes] = [0, 0, 0];

await Promise.all(Array.from({ length: CONNECTIONS }, sendUntilEnd));
const ms = performance.now() - startedAt;
console.log(JSON.stringify({ perSecond: (values / ms) * 1000, bytesPerSecond: (bytes / ms) * 1000 }));
agent.destroy();

async function sendUntilEnd() {
  while (performance.now() < startedAt + Number(seconds) * 1000) {
    const body = bodies[next++ % bodies.length];
    await send(body.bytes);
    values += body.values;
  }
}

function send(body) {
  return new Promise((done, fail) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    request(`${url}/bulk/lookup`, { method: 'QUERY', agent, headers }, (response) => {
      if (response.statusCode !== 200) fail(new Error(`HTTP ${response.statusCode}`));
      response.on('data', (chunk) => (bytes += chunk.length));
      response.on('end', done);
    })
      .on('error', fail)
      .end(body);
  });
}
