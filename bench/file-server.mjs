// The limit for spooled exports: node:http sends a file. node file-server.mjs FILE BYTES PORT
import { createReadStream, truncateSync } from 'node:fs';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream';

const [, , file, bytes, port] = process.argv;
// The file gets the size of the export that it is compared with, padded with zeros.
truncateSync(file, Number(bytes));

createServer((_request, response) => {
  response.writeHead(200, { 'content-length': bytes });
  pipeline(createReadStream(file), response, () => {});
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
