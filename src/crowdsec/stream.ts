import type { Spool, Spooled } from '../exports/spool.ts';
import { ApiError } from '../http/errors.ts';
import { changesSince, TooManyChanges } from './changed-decisions.ts';
import { type Deletion, toDeletedDecision } from './decisions.ts';
import { writeEverything } from './everything.ts';
import {
  type Client,
  findDeletions,
  findPosition,
  type Sent,
  type StoredPosition,
  writePosition,
} from './positions.queries.ts';
import { isOverdue } from './renewal.ts';
import { isSameExtent, type StreamDeps, type StreamRequest } from './request-context.ts';

/** A deletion is repeated for so long: a bouncer may not have applied a response that it has received. */
const REPEAT_MS = 5 * 60_000;
/** How often it is recorded that a client is still there. */
const SEEN_MS = 3_600_000;

/** A response of the stream. */
type StreamBody = { text: string } | { spooled: Spooled };

export interface StreamResponse {
  body: StreamBody;
  /** Records that the client has been sent the response; called only if it has been sent completely. */
  record(): Promise<void>;
}

export type DecisionStream = ReturnType<typeof openDecisionStream>;

/** Returns the stream of decisions: everything that is in force first, then what has changed since the last complete response. */
export function openDecisionStream(deps: StreamDeps & { spool: Spool; onError(error: Error): void }) {
  const { db } = deps.database;
  /** Positions that are being written, by their clients: the next request must begin from them. */
  const writing = new Map<string, Promise<void>>();

  const record = (
    client: Client,
    before: StoredPosition | undefined,
    sent: Sent,
    now: Date,
  ): Promise<void> => {
    const key = keyOf(client);
    const written = writePosition(db, client, before, sent, now)
      .catch(deps.onError)
      .finally(() => {
        if (writing.get(key) === written) writing.delete(key);
      });
    writing.set(key, written);
    return written;
  };

  async function everything(
    client: Client,
    request: StreamRequest,
    position: StoredPosition | undefined,
    repeated: readonly Deletion[],
  ): Promise<StreamResponse> {
    let sent: Omit<Sent, 'repeatedSince'> | undefined;
    const pieces = writeEverything(deps, request, { position, repeated }, (end) => {
      sent = end;
    });
    const spooled = await fill(deps.spool, pieces, 2, deps.onError);
    return {
      body: { spooled },
      async record() {
        if (sent) await record(client, position, { ...sent, repeatedSince: sinceOf(request) }, request.now);
      },
    };
  }

  async function changed(
    client: Client,
    request: StreamRequest,
    position: StoredPosition,
    repeated: readonly Deletion[],
  ): Promise<StreamResponse> {
    const found = await changesSince(deps, request, position);
    const { decisions, deletions, cursors, renewedAt } = found;
    const still = repeated.filter(({ value }) => !decisions.has(value) && !deletions.has(value));
    const renewed = request.deletesBeforeRenewal
      ? [...decisions.values()].flatMap(({ decision: { id, value }, isRenewal }) =>
          isRenewal ? [{ id, value }] : [],
        )
      : [];
    const deleted = [...deletions.values(), ...still, ...renewed].map(toDeletedDecision);
    const text = JSON.stringify({ new: [...decisions.values()].map(({ decision }) => decision), deleted });
    const restored = repeated.map(({ value }) => value).filter((value) => decisions.has(value));
    const isUnchanged =
      deletions.size === 0 &&
      restored.length === 0 &&
      renewedAt === position.renewedAt &&
      Object.entries(cursors).every(([id, cursor]) => cursor === position.cursors[id]) &&
      Number(request.now) - Number(position.seenAt) < SEEN_MS;
    return {
      body: { text },
      async record() {
        if (isUnchanged) return;
        const sent = {
          position: { cursors, filter: request.filter, renewedAt },
          deleted: [...deletions.values()],
          restored,
          repeatedSince: sinceOf(request),
        };
        await record(client, position, sent, request.now);
      },
    };
  }

  return {
    /**
     * Returns the next response to a client.
     * @param isStartup whether the client asks for everything
     * @throws {ApiError} 503 when there is no room for another response
     */
    async next(client: Client, given: StreamRequest, isStartup: boolean): Promise<StreamResponse> {
      await writing.get(keyOf(client));
      const position = await findPosition(db, client);
      // The clock of another node may have been ahead.
      const points = Object.values(position?.cursors ?? {}).map(({ synced }) => synced.at);
      const now = new Date(Math.max(Number(given.now), ...points));
      const request = { ...given, now, feeds: given.feeds.map((feed) => at(feed, now)) };
      const repeated = position ? await findDeletions(db, position.id, sinceOf(request)) : [];
      if (
        position &&
        !isStartup &&
        isSameExtent(position, request) &&
        !isOverdue(position.renewedAt, Number(now))
      ) {
        try {
          return await changed(client, request, position, repeated);
        } catch (error) {
          const isGone = error instanceof ApiError && error.code === 'gone';
          if (!isGone && !(error instanceof TooManyChanges)) throw error;
        }
      }
      return everything(client, request, position, repeated);
    },
    /** Waits until all positions are written. */
    async close(): Promise<void> {
      await Promise.all(writing.values());
    },
  };
}

const keyOf = ({ keyId, address, userAgent }: Client) => JSON.stringify([keyId, address, userAgent]);

const sinceOf = ({ now }: StreamRequest) => new Date(now.getTime() - REPEAT_MS);

const at = (feed: StreamRequest['feeds'][number], now: Date) => ({
  ...feed,
  principal: { ...feed.principal, now },
});

/**
 * Spools a response. Its first pieces are read before it begins, so that an unavailable database is a 503.
 * @param count the number of pieces up to and including the first one that needs the database
 * @throws {ApiError} 503 when there is no room for another response
 */
export async function fill(
  spool: Spool,
  pieces: AsyncGenerator<string>,
  count: number,
  onError: (error: Error) => void,
): Promise<Spooled> {
  if (spool.isFull())
    throw new ApiError('service_unavailable', 'Too many responses are being sent.', { 'retry-after': '30' });
  const read: string[] = [];
  for (let i = 0; i < count; i++) {
    const { done, value } = await pieces.next();
    if (!done) read.push(value);
  }
  async function* all() {
    try {
      yield* read;
      yield* pieces;
    } finally {
      // Also where the first pieces are not written to their end: the snapshot is open.
      await pieces.return(undefined);
    }
  }
  return spool.fill(all(), onError);
}
