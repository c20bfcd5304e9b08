import type { QueryRows } from '../engine.ts';

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
