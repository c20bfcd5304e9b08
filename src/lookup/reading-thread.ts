import { type MessagePort, parentPort } from 'node:worker_threads';
import { readTexts } from './reading.ts';
import type { ReadingRequest } from './reading-threads.ts';

// A worker thread that reads the values of one request at a time.
const port = parentPort as MessagePort;

port.on('message', (request: ReadingRequest) => port.postMessage(readTexts(...request)));
