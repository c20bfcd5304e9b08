// The limit that answers are measured against: node:http alone, sending answers that it was given, in turn.
// node bare-server.mjs ANSWERS_FILE PORT [PROCESSES]; the file holds [{status, headers, body}, …].
import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [, , file, port, processes = '1'] = process.argv;

if (Number(processes) > 1 && cluster.isPrimary) {
  let missing = Number(processes);
  cluster.on('listening', () => --missing === 0 && console.log('ready'));
  for (let i = 0; i < Number(processes); i++) cluster.fork();
} else {
  const answers = JSON.parse(readFileSync(file, 'utf8'));
  let next = 0;
  createServer((_request, response) => {
    const { status, headers, body } = answers[next++ % answers.length];
    response.writeHead(status, headers);
    response.end(body);
  }).listen(Number(port), '127.0.0.1', () => cluster.isPrimary && console.log('ready'));
}
