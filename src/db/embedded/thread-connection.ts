import { Worker } from 'node:worker_threads';
import type { Engine, QueryRows } from '../database.ts';
import { rowsOf, type StoreReply, type StoreRequest } from './messages.ts';

/** What opens an embedded database: a server, which answers requests for weeks, or a command, which ends soon. */
export type Use = 'server' | 'command';

/** See `OpenOptions`. */
export interface ThreadData {
  directory: string;
  use: Use;
  isUnflushed?: boolean;
}

export interface ThreadRequest {
  id: number;
  work: StoreRequest | 'close';
}

/** A reply of the thread. The first one, with id 0, reports that the database is open. */
export interface ThreadReply {
  id: number;
  reply: StoreReply;
  inTransaction: boolean;
}

interface Pending {
  resolve: (reply: StoreReply) => void;
  reject: (error: Error) => void;
}

/** The code of the error when PostgreSQL exits while it opens its files; the message is the reason that it has logged. */
export const DAMAGED = 'DAMAGED';

/**
 * PGlite hangs when the disk fills up during recovery; recovery from a log of a gigabyte takes a fraction of
 * this.
 */
const OPEN_MS = 180_000;

/**
 * Opens the embedded database on a thread of its own, so that no statement blocks the event loop that serves
 * requests.
 * @param script the compiled store-thread.ts
 * @throws when the database cannot be opened, or its thread has ended
 */
export async function connectThread(script: URL, workerData: ThreadData): Promise<Connection> {
  const worker = new Worker(script, { workerData });
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let inTransaction = false;
  let failure: Error | null = null;
  const fail = (error: Error) => {
    failure ??= error;
    for (const { reject } of pending.values()) reject(failure);
    pending.clear();
  };
  worker.on('message', ({ id, reply, ...state }: ThreadReply) => {
    inTransaction = state.inTransaction;
    pending.get(id)?.resolve(reply);
    pending.delete(id);
    // An idle thread does not keep a process alive that forgets to close the store.
    if (pending.size === 0) worker.unref();
  });
  worker.on('error', (cause: Error & { code?: unknown }) =>
    fail(
      cause.code === DAMAGED
        ? cause
        : new Error(`The embedded database has failed: ${cause.message}`, { cause }),
    ),
  );
  worker.on('exit', () => fail(new Error('The embedded database is closed.')));

  const wait = (id: number) =>
    new Promise<StoreReply>((resolve, reject) => {
      if (failure) return reject(failure);
      worker.ref();
      pending.set(id, { resolve, reject });
    });
  const ask = async (work: ThreadRequest['work']): Promise<QueryRows> => {
    const id = ++lastId;
    const reply = wait(id);
    worker.postMessage({ id, work } satisfies ThreadRequest);
    return rowsOf(await reply);
  };

  const late = setTimeout(() => void worker.terminate(), OPEN_MS);
  await wait(0).finally(() => clearTimeout(late));
  return {
    query: (sql, parameters) => ask({ sql, parameters }),
    isInTransaction: () => inTransaction && failure === null,
    async close() {
      if (failure) return;
      await ask('close');
      await worker.terminate();
    },
  };
}

/** An engine that this process holds: every commit goes through it. */
export interface OwnEngine extends Engine {
  /** Registers a function that is called after each commit, before the caller of the commit continues. */
  onCommit(tell: () => void): void;
}

/**
 * The connection itself: to PGlite on this thread (pglite.ts) or on a thread of its own (store-thread.ts).
 */
export interface Connection {
  query(sql: string, parameters: readonly unknown[]): Promise<QueryRows>;
  /** Whether the last statement left a transaction open. */
  isInTransaction(): boolean;
  /**
   * Opens the connection again if the database has exited; called before each lease.
   * @returns whether this is a new session
   */
  reconnect?(): Promise<boolean>;
  close(): Promise<void>;
}
