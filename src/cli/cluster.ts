import cluster, { type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { RunningServer } from './running-server.ts';
import { stopOnSignals } from './signals.ts';

/**
 * Several servers behind one port, each a process. The one that was started makes the others, hands them connections in
 * turn (node:cluster), and makes another in place of one that ends. It answers nothing itself.
 */

/** What the process that was started tells the others by: the option that all but the first get. */
export const SECONDARY = '--secondary';
const RESTART_MS = 1_000;
/** Where the cores are shared among processes, threads of each for its garbage only wake more of them. */
const OF_SEVERAL = ['--single-threaded-gc'];

/** From one of them to the process that was started, and back. */
type Message = { server: RunningServer } | { ask: 'metrics'; id: number };
interface Answer {
  metricsFor: number;
  text: string | null;
}

/** Whether this process is one of several that another has made. */
export const isOneOfSeveral = (): boolean => cluster.isWorker;

/** @throws when one of them does not come up; then all have ended */
export async function startProcesses(
  count: number,
  onEnd: (details: { pid: number | undefined; code: number; signal: string }) => void,
): Promise<RunningServer> {
  const all = new AggregatorRegistry();
  const commandLine = process.argv.slice(2);
  const execArgv = [...process.execArgv, ...OF_SEVERAL];
  let stopping = false;
  const fork = (slot: number): Worker => {
    cluster.setupPrimary({ execArgv, args: slot === 0 ? commandLine : [...commandLine, SECONDARY] });
    const worker = cluster.fork();
    worker.on('message', async (message: Message) => {
      if (!('ask' in message)) return;
      const text = await all.clusterMetrics().catch(() => null);
      if (worker.isConnected()) worker.send({ metricsFor: message.id, text } satisfies Answer);
    });
    return worker;
  };
  const keep = (worker: Worker, slot: number): void => {
    worker.once('exit', async (code, signal) => {
      if (stopping) return;
      onEnd({ pid: worker.process.pid, code, signal });
      await delay(RESTART_MS);
      if (!stopping) keep(fork(slot), slot);
    });
  };
  /** From when it answers on, it is replaced. */
  const start = async (slot: number): Promise<RunningServer> => {
    const worker = fork(slot);
    const server = await listening(worker);
    keep(worker, slot);
    return server;
  };
  const stop = async () => {
    stopping = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(
      workers.map((worker) => {
        const ended = new Promise((done) => worker.once('exit', done));
        worker.process.kill('SIGTERM');
        return ended;
      }),
    );
  };
  stopOnSignals(stop);
  try {
    // The first makes the tables, and tells what is wrong once.
    const server = await start(0);
    await Promise.all(Array.from({ length: count - 1 }, (_, i) => start(i + 1)));
    return server;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Its own words are on standard error already. */
function listening(worker: Worker): Promise<RunningServer> {
  return new Promise((done, fail) => {
    worker.on('message', (message: Message) => {
      if ('server' in message) done(message.server);
    });
    worker.once('exit', () => fail(new Error('A process of the server did not come up.')));
  });
}

/** Starts this one, and tells the process that was started that it answers. */
export async function startOneOfSeveral(start: () => Promise<RunningServer>): Promise<void> {
  try {
    process.send?.({ server: await start() } satisfies Message);
  } catch (error) {
    // What connects the two would keep it running.
    cluster.worker?.disconnect();
    throw error;
  }
}

/** The metrics of all processes together, whichever is asked; `own` are those of this one. */
export function metricsOfAll(own: Registry): () => Promise<string> {
  // It answers the one that was started, when that asks.
  AggregatorRegistry.setRegistries(own);
  new AggregatorRegistry();
  const waiting = new Map<number, (text: string | null) => void>();
  let last = 0;
  process.on('message', ({ metricsFor, text }: Partial<Answer>) => {
    if (metricsFor === undefined) return;
    waiting.get(metricsFor)?.(text ?? null);
    waiting.delete(metricsFor);
  });
  return async () => {
    const id = ++last;
    const text = await new Promise<string | null>((done) => {
      waiting.set(id, done);
      process.send?.({ ask: 'metrics', id } satisfies Message);
    });
    return text ?? own.metrics();
  };
}
