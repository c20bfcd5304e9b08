import { Worker } from 'node:worker_threads';

/** An idle thread ends after this time. */
const IDLE_MS = 10_000;

/** Worker threads of one script, of which each has one user at a time. */
export interface Threads {
  /** Returns an idle thread, or a new one. */
  take(): Worker;
  /** Returns a thread that can be used again; others are to be terminated. */
  rest(worker: Worker): void;
}

/** @param maxHeapMb the limit of a thread's heap */
export function openThreads(script: URL, maxHeapMb: number): Threads {
  const idle = new Map<Worker, NodeJS.Timeout>();

  const start = (): Worker => {
    const worker = new Worker(script, { resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } });
    // A thread may fail when nothing reads from it any more. Without a listener that would end the process.
    worker.on('error', () => {});
    worker.once('exit', () => {
      clearTimeout(idle.get(worker));
      idle.delete(worker);
    });
    return worker;
  };
  return {
    take() {
      const [resting] = idle.keys();
      if (!resting) return start();
      clearTimeout(idle.get(resting));
      idle.delete(resting);
      resting.ref();
      return resting;
    },
    rest(worker) {
      worker.unref();
      const end = () => {
        // It must not be taken again while it ends.
        idle.delete(worker);
        void worker.terminate();
      };
      idle.set(worker, setTimeout(end, IDLE_MS).unref());
    },
  };
}
