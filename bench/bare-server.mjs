// The limit that answers are measured against: node:http alone, sending answers that it was given, in turn.
// node bare-server.mjs ANSWERS_FILE PORT; the file holds [{status, headers, body}, …].
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [, , file, port] = process.argv;
const answers = JSON.parse(readFileSync(file, 'utf8'));
let next = 0;

createServer((_request, response) => {
  const { status, headers, body } = answers[next++ % answers.length];
  response.writeHead(status, headers);
  response.end(body);
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
