import { type MessagePort, parentPort } from 'node:worker_threads';
import { type ImportRecord, UnreadableInput } from './importer.ts';
import type { ParserMessage, ParserRequest, ParserTask } from './parser-threads.ts';
import { createImporter, fileInput } from './recognize.ts';

// A worker thread that reads one file at a time and posts its records in batches, one batch per request.
const port = parentPort as MessagePort;
/**
 * A batch ends with one of these: the number of its records, that of their tags, of which each record may have inherited many, or the
 * bytes of the file that were read for it.
 */
const BATCH = { records: 500, tags: 5_000, bytes: 1024 * 1024 };
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
  let tags = 0;
  let records: ImportRecord[] = [];
  const send = async () => {
    while (wanted === 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    wanted--;
    post({ records, bytes });
    records = [];
    tags = 0;
    sentBytes = bytes;
  };
  const onProgress = (read: number) => {
    bytes = read;
    // Some importers read the file a second time from its beginning.
    sentBytes = Math.min(sentBytes, read);
  };
  try {
    for await (const part of createImporter(kind, options).read(fileInput({ fileName, path, onProgress })))
      for (const record of part) {
        if ('tags' in record) tags += record.tags.length;
        const isFull = records.push(record) >= BATCH.records || tags >= BATCH.tags;
        if (isFull || bytes - sentBytes >= BATCH.bytes) await send();
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
