import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import type { QueryRows } from '../database.ts';

/**
 * A frame is a length (4 bytes, big-endian) and a value by the structured clone algorithm: dates stay dates.
 */
const MAX_FRAME = 512 * 1024 * 1024;

export function writeFrame(socket: Socket, value: StoreRequest | StoreReply | { ready: true }): void {
  const body = serialize(value);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  socket.cork();
  socket.write(head);
  socket.write(body);
  socket.uncork();
}

/** Yields the frames as they arrive; ends with the connection. */
export async function* readFrames(socket: Socket): AsyncGenerator<unknown> {
  let chunks: Buffer[] = [];
  let held = 0;
  let wanted = 4;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    held += chunk.length;
    while (held >= wanted) {
      const all = Buffer.concat(chunks);
      const length = all.readUInt32BE(0);
      if (length > MAX_FRAME) throw new Error('a frame is too large');
      wanted = 4 + length;
      const complete = held >= wanted;
      const rest = complete ? all.subarray(wanted) : all;
      chunks = [rest];
      held = rest.length;
      if (!complete) break;
      yield deserialize(all.subarray(4, wanted));
      wanted = 4;
    }
  }
}

/**
 * A statement for a store that runs elsewhere: in another process (server.ts) or thread (store-thread.ts).
 */
export interface StoreRequest {
  sql: string;
  parameters: readonly unknown[];
}

/**
 * The rows of a statement, or its error as a plain object: serialization and structured cloning lose the
 * properties of an error that callers read.
 */
export type StoreReply =
  | QueryRows
  | { error: { message: string; code?: string; constraint?: string; detail?: string } };

/** Returns the result of a statement as a reply. Never rejects. */
export async function replyTo(work: Promise<QueryRows>): Promise<StoreReply> {
  try {
    return await work;
  } catch (error) {
    const { message, code, constraint, detail } = error as Error & Record<string, string | undefined>;
    return {
      error: { message, ...(code && { code }), ...(constraint && { constraint }), ...(detail && { detail }) },
    };
  }
}

/** @throws the error that the reply holds */
export function rowsOf(reply: StoreReply): QueryRows {
  if ('error' in reply) throw Object.assign(new Error(reply.error.message), reply.error);
  return reply;
}
