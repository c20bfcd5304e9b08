import { type MessagePort, parentPort } from 'node:worker_threads';
import { type ImportRecord, UnreadableInput } from './importer.ts';
import type { ParserMessage, ParserRequest, ParserTask } from './parser-threads.ts';
import { createImporter, fileInput } from './recognize.ts';

// A worker thread that reads one file at a time and posts its records in batches, one batch per request.
const port = parentPort as MessagePort;
/** A batch ends with this many records, or once this much of the file was read for it, whichever comes first. */
const BATCH = { records: 500, bytes: 1024 * 1024 };
let wanted = 0;
let wake = () => {};

port.on('message', (request: ParserRequest) => {
  if (request === 'more') {
    wanted++;
    wake();
  } else void parse(request);
});

async function parse({ kind, options, fileName, path }: ParserTask): Promise<void> {
  wanted = 0;
  let bytes = 0;
  let sentBytes = 0;
  let records: ImportRecord[] = [];
  const send = async () => {
    while (wanted === 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    wanted--;
    post({ records, bytes });
    records = [];
    sentBytes = bytes;
  };
  const onProgress = (read: number) => {
    bytes = read;
  };
  try {
    for await (const part of createImporter(kind, options).read(fileInput({ fileName, path, onProgress })))
      for (const record of part) {
        const isFull = records.push(record) >= BATCH.records || bytes - sentBytes >= BATCH.bytes;
        if (isFull) await send();
      }
    await send();
    post({ end: 'complete' });
  } catch (error) {
    await send();
    if (error instanceof UnreadableInput) post({ end: 'unreadable', message: error.message });
    else post({ end: 'failed', error });
  }
}

function post(message: ParserMessage): void {
  port.postMessage(message);
}
