import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { CRASHED } from './client.ts';
import { replyTo, type StoreReply } from './messages.ts';
import { connectPglite } from './pglite.ts';
import type { ThreadData, ThreadReply, ThreadRequest } from './thread-connection.ts';

// The thread on which the embedded database runs: its statements are WebAssembly, and block the thread they
// run on.
const port = parentPort as MessagePort;
const { directory, ...options } = workerData as ThreadData;
const connection = await connectPglite(directory, options);
const nothing = { rows: [], affectedRows: undefined };

function send(id: number, reply: StoreReply, inTransaction = false) {
  port.postMessage({ id, reply, inTransaction } satisfies ThreadReply);
}

port.on('message', async ({ id, work }: ThreadRequest) => {
  if (work !== 'close') {
    const reply = await replyTo(connection.query(work.sql, work.parameters));
    const hasEnded = 'error' in reply && reply.error.code === CRASHED;
    send(id, reply, !hasEnded && connection.isInTransaction());
    if (hasEnded) port.close();
    return;
  }
  send(id, await replyTo(connection.close().then(() => nothing)));
  port.close();
});
send(0, nothing);
