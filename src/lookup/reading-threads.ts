import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { bulkhead } from 'cockatiel';
import { openThreads } from '../threads.ts';
import type { Asking, Question } from './questions.ts';
import { type ReadTexts, readTexts } from './reading.ts';

/** Values to read, and the separator of their results. */
export type ReadingRequest = [asking: Asking, separator: string];

/** Fewer values are read here: that takes less time than a new thread. */
const FEW = 100;
/** The limit of a thread's heap. Requests have few values. */
const MAX_HEAP_MB = 256;

/**
 * Returns a reader that uses worker threads, as many as there are processors, so that reading many values never blocks the
 * event loop that serves requests.
 * @param script the compiled reading-thread.ts
 */
export function readingInThreads(script: URL): ReadTexts {
  const threads = openThreads(script, MAX_HEAP_MB);
  const turns = bulkhead(availableParallelism(), Number.POSITIVE_INFINITY);

  const readInThread = async (...request: ReadingRequest) => {
    const worker = threads.take();
    try {
      const answer = once(worker, 'message') as Promise<[(string | Question)[]]>;
      worker.postMessage(request);
      const [parts] = await answer;
      threads.rest(worker);
      return parts;
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  };
  return async (...request) =>
    request[0].values.length < FEW ? readTexts(...request) : turns.execute(() => readInThread(...request));
}
