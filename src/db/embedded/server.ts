import type { Socket } from 'node:net';
import type { Engine, Lease } from '../engine.ts';
import { readFrames, writeFrame } from './frames.ts';
import { replyTo, type StoreRequest } from './reply.ts';

/**
 * Serves the embedded database to another process of this user for as long as the connection lasts: one
 * lease, any number of statements. When the connection ends, an open transaction is rolled back. A client
 * that is silent for `idleMs()` is disconnected, so that it cannot block all others.
 */
export async function serveStore(socket: Socket, engine: Engine, idleMs: () => number): Promise<void> {
  socket.on('error', () => socket.destroy());
  socket.setTimeout(idleMs(), () => socket.destroy());
  let lease: Lease | null = null;
  try {
    for await (const request of readFrames(socket)) {
      socket.setTimeout(0);
      if (lease === null) {
        // The first frame only requests the lease (a process that checks whether this one lives sends no
        // frame).
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
