import { on } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openThreads } from '../threads.ts';
import { type ImportRecord, type RecordParts, UnreadableInput } from './importer.ts';
import type { FileInput } from './recognize.ts';
import { createImporter } from './recognize.ts';

export interface ParserTask {
  kind: string;
  options: Readonly<Record<string, unknown>>;
  fileName: string;
  path: string;
}
/** A file to read, or a request for one more batch of it. */
export type ParserRequest = ParserTask | 'more';

export type ParserMessage =
  | { records: ImportRecord[]; bytes: number }
  | { end: 'complete' }
  | { end: 'unreadable'; message: string }
  | { end: 'failed'; error: unknown };

/** Has the signature of `importerNamed`. */
export type OpenImporter = typeof createImporter;

/**
 * The limit of a thread's heap. Importers hold one record at a time; this bounds the memory that a hostile
 * one takes.
 */
const MAX_HEAP_MB = 1024;
/** Batches that a thread reads ahead, while others are planned and written. */
const AHEAD = 6;

/**
 * Returns importers that read on worker threads, one for each file that is being read, so that parsing never
 * blocks the event loop that serves requests. Their inputs are files.
 * @param script the compiled parser-thread.ts
 */
export function importersInThreads(script: URL): OpenImporter {
  const threads = openThreads(script, MAX_HEAP_MB);

  async function* read(task: ParserTask, onProgress: FileInput['onProgress']): RecordParts {
    const worker = threads.take();
    let isReusable = false;
    const ask = (request: ParserRequest) => worker.postMessage(request);
    try {
      const messages = on(worker, 'message', { close: ['exit'] }) as AsyncIterable<[ParserMessage]>;
      ask(task);
      for (let i = 0; i < AHEAD; i++) ask('more');
      for await (const [message] of messages) {
        if ('end' in message) {
          isReusable = true;
          return endOf(message);
        }
        onProgress?.(message.bytes);
        yield message.records;
        ask('more');
        // Node delivers all messages that a port holds in one turn of the event loop; this lets others run in
        // between.
        await nextTurn();
      }
      throw new Error('The thread that read the file has ended.');
    } catch (error) {
      throw asUnreadable(error);
    } finally {
      if (isReusable) threads.rest(worker);
      else await worker.terminate();
    }
  }

  return (kind, options = {}) => ({
    ...createImporter(kind, options),
    read: ({ fileName, path, onProgress }: FileInput) => read({ kind, options, fileName, path }, onProgress),
  });
}

/** @throws the error that ended the reading, unless the file was read to its end */
function endOf(message: Extract<ParserMessage, { end: string }>): void {
  if (message.end === 'unreadable') throw new UnreadableInput(message.message);
  if (message.end === 'failed') throw message.error;
}

/** Attributes an out-of-memory error to the file: one of its records takes more memory than a thread has. */
function asUnreadable(error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return new UnreadableInput(`reading it takes more than ${MAX_HEAP_MB} MiB of memory`);
}
