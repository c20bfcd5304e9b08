// The upper limit for responses: node:http alone, which sends recorded responses in turn.
// node bare-server.mjs RESPONSES_FILE PORT [PROCESSES]; the file holds [{status, headers, body}, …], with bodies in base64 where `isBase64`.
import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [, , file, port, processes = '1'] = process.argv;

if (Number(processes) > 1 && cluster.isPrimary) {
  let pending = Number(processes);
  cluster.on('listening', () => --pending === 0 && console.log('ready'));
  for (let i = 0; i < Number(processes); i++) cluster.fork();
} else {
  const recorded = JSON.parse(readFileSync(file, 'utf8')).map(({ isBase64, body, ...rest }) => ({
    ...rest,
    body: isBase64 ? Buffer.from(body, 'base64') : body,
  }));
  let next = 0;
  createServer((_request, response) => {
    const { status, headers, body } = recorded[next++ % recorded.length];
    response.writeHead(status, headers);
    response.end(body);
  }).listen(Number(port), '127.0.0.1', () => cluster.isPrimary && console.log('ready'));
}
