import cluster, { type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { rotateTicketKeys, type TicketKeys } from '../http/tls.ts';
import { type RunningServer, stopOnSignals } from './server-process.ts';

/**
 * Several server processes behind one port. The primary forks the server processes, distributes connections
 * among them round-robin (node:cluster) and replaces a process that exits. The primary serves no requests.
 */

/** The hidden option that the primary passes to every server process except the first. */
export const SECONDARY = '--secondary';
const RESTART_MS = 1_000;
/** Several processes share the cores: garbage-collection threads of each would only compete for them. */
const CLUSTER_EXEC_ARGV = ['--single-threaded-gc'];

/** A message from a server process to the primary; `Answer` is the reply. */
type Message = { server: RunningServer } | { ask: 'metrics'; id: number };
interface Answer {
  metricsFor: number;
  text: string | null;
}
/** A message from the primary to each server process: the key of session tickets, in base64. */
interface TicketKey {
  ticketKey: string;
}

/** Returns whether this process is a server process that a primary has forked. */
export const isClusterWorker = (): boolean => cluster.isWorker;

/**
 * Starts the server processes and stops them on the signals that request it.
 * @param onEnd called when a server process exits unexpectedly
 * @param shutdownDelayMs the time that each server process waits after SIGTERM before it closes anything
 * @returns the first server
 * @throws when a server process does not start; all others have exited by then
 */
export async function startCluster(
  count: number,
  onEnd: (details: { pid: number | undefined; code: number; signal: string }) => void,
  shutdownDelayMs: number,
): Promise<RunningServer> {
  const all = new AggregatorRegistry();
  const commandLine = process.argv.slice(2);
  const execArgv = [...process.execArgv, ...CLUSTER_EXEC_ARGV];
  let stopping = false;
  let ticketKey: TicketKey | undefined;
  rotateTicketKeys((key) => {
    ticketKey = { ticketKey: key.toString('base64') };
    for (const worker of running()) if (worker.isConnected()) worker.send(ticketKey);
  });
  const fork = (slot: number): Worker => {
    cluster.setupPrimary({ execArgv, args: slot === 0 ? commandLine : [...commandLine, SECONDARY] });
    const worker = cluster.fork();
    worker.send(ticketKey as TicketKey);
    worker.on('message', async (message: Message) => {
      if (!('ask' in message)) return;
      const text = await all.clusterMetrics().catch(() => null);
      if (worker.isConnected()) worker.send({ metricsFor: message.id, text } satisfies Answer);
    });
    return worker;
  };
  const restartOnExit = (worker: Worker, slot: number): void => {
    worker.once('exit', async (code, signal) => {
      if (stopping) return;
      onEnd({ pid: worker.process.pid, code, signal });
      await delay(RESTART_MS);
      if (!stopping) restartOnExit(fork(slot), slot);
    });
  };
  /** A process is replaced after its exit only if it has listened before. */
  const start = async (slot: number): Promise<RunningServer> => {
    const worker = fork(slot);
    const server = await listening(worker);
    restartOnExit(worker, slot);
    return server;
  };
  /** Returns whether all server processes have exited with code 0. */
  const stop = async () => {
    stopping = true;
    const codes = await Promise.all(
      running().map((worker) => {
        const ended = new Promise<number | null>((done) => worker.once('exit', done));
        worker.process.kill('SIGTERM');
        return ended;
      }),
    );
    return codes.every((code) => code === 0);
  };
  stopOnSignals({ close: stop, delayMs: shutdownDelayMs });
  try {
    // The first process starts alone: it creates the tables, and reports a wrong setup only once.
    const server = await start(0);
    await Promise.all(Array.from({ length: count - 1 }, (_, i) => start(i + 1)));
    return server;
  } catch (error) {
    await stop();
    throw error;
  }
}

const running = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

/** Resolves once the server process listens. A process that fails has reported the cause on standard error. */
function listening(worker: Worker): Promise<RunningServer> {
  return new Promise((done, fail) => {
    worker.on('message', (message: Message) => {
      if ('server' in message) done(message.server);
    });
    worker.once('exit', () => fail(new Error('A server process failed to start.')));
  });
}

/** Starts this server process and reports to the primary that it listens. */
export async function startClusterWorker(start: () => Promise<RunningServer>): Promise<void> {
  try {
    process.send?.({ server: await start() } satisfies Message);
  } catch (error) {
    // An open IPC channel would keep this process running.
    cluster.worker?.disconnect();
    throw error;
  }
}

/**
 * Returns the key of session tickets that all server processes share: a client that comes back is handed to any of them.
 * Called before anything else listens to the messages of the primary.
 */
export function clusterTicketKeys(): TicketKeys {
  let last: Buffer | undefined;
  const users: ((key: Buffer) => void)[] = [];
  process.on('message', ({ ticketKey }: Partial<TicketKey>) => {
    if (ticketKey === undefined) return;
    last = Buffer.from(ticketKey, 'base64');
    for (const use of users) use(last);
  });
  return (use) => {
    users.push(use);
    if (last) use(last);
  };
}

/**
 * Returns a reader of the aggregated metrics of all server processes, which it requests from the primary.
 * @param own metrics of this process, returned alone if the primary cannot aggregate
 */
export function clusterMetrics(own: Registry): () => Promise<string> {
  // The constructor registers the listener that sends `own` to the primary on request.
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
