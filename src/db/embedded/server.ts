import type { Socket } from 'node:net';
import type { Engine, Lease } from '../engine.ts';
import { readFrames, writeFrame } from './frames.ts';
import { replyTo, type StoreRequest } from './reply.ts';

/**
 * Lends the embedded database to another process of this user for as long as the connection stands: one lease,
 * any number of statements. When it breaks, what was open is rolled back. It is broken when the other says nothing for
 * `idleMs()`: he must not stop everybody else.
 */
export async function serveStore(socket: Socket, engine: Engine, idleMs: () => number): Promise<void> {
  socket.on('error', () => socket.destroy());
  socket.setTimeout(idleMs(), () => socket.destroy());
  let lease: Lease | null = null;
  try {
    for await (const request of readFrames(socket)) {
      socket.setTimeout(0);
      if (lease === null) {
        // The first frame only says that somebody wants the lease (a look whether we live says nothing).
        lease = await engine.acquire();
        writeFrame(socket, { ready: true });
      } else {
        const { sql, parameters } = request as StoreRequest;
        writeFrame(socket, await replyTo(lease.query(sql, parameters)));
      }
      socket.setTimeout(idleMs());
    }
  } catch {
    socket.destroy();
  } finally {
    await lease?.release();
    socket.end();
  }
}
