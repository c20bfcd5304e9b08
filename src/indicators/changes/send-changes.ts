import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ChangeFeed, Changes } from '../../changes/change-feed.ts';
import type { Change } from '../../changes/indicator-changes.ts';
import { waitWithin } from '../../changes/watch-wait.ts';
import type { Principal } from '../../db/visibility.ts';
import { acceptedType } from '../../http/accept.ts';
import { sendCompressed } from '../../http/compressed.ts';
import { contentResponses, NO_CACHE, textContent } from '../../http/routes.ts';
import { ref } from '../../http/schema.ts';
import { toIndicator } from '../indicators.mappers.ts';
import { IndicatorChanges } from './changes.schema.ts';

const JSON_TYPE = 'application/json';
const NDJSON_TYPE = 'application/x-ndjson';
/** The media types of changes. */
export const CHANGE_TYPES = [JSON_TYPE, NDJSON_TYPE];

export interface ChangesDeps {
  feed: ChangeFeed;
  /** Aborted when this process is about to stop: requests wait no longer. */
  stopping: AbortSignal;
}

const example = (IndicatorChanges as { examples?: unknown[] }).examples?.[0] as IndicatorChanges;

/** The responses of a route that sends changes. */
export const changeResponses = () =>
  contentResponses(
    {
      [JSON_TYPE]: { schema: ref(IndicatorChanges), example },
      ...textContent(
        NDJSON_TYPE,
        toNdjson({ ...example, changes: example.changes.map((change) => JSON.stringify(change)) }),
      ),
    },
    'Changes; as NDJSON one a line, with `cursor` and `hasMore` in the last line.',
    [400, 409, 410],
  );

/**
 * Sends the next changes of a copy, and waits for them if that is asked for.
 * @param wait for so many seconds at most
 */
export async function sendChanges(
  request: FastifyRequest,
  reply: FastifyReply,
  { feed, stopping }: ChangesDeps,
  asked: Parameters<ChangeFeed['next']>[0],
  principal: Principal,
  wait: number,
): Promise<FastifyReply> {
  let isClosed = false;
  request.raw.once('close', () => {
    isClosed = true;
  });
  const isEnded = () => isClosed || stopping.aborted;
  const found = await feed.next(asked, principal, waitWithin(request, wait), isEnded, toText);
  const isNdjson = acceptedType(request, CHANGE_TYPES) === NDJSON_TYPE;
  reply.header('cache-control', NO_CACHE).type(isNdjson ? NDJSON_TYPE : `${JSON_TYPE}; charset=utf-8`);
  return sendCompressed(request, reply, isNdjson ? toNdjson(found) : toJson(found));
}

const toText = (change: Change) => JSON.stringify(toChange(change));

function toChange(change: Change): IndicatorChanges['changes'][number] {
  return change.op === 'remove' ? change : { op: 'upsert', indicator: toIndicator(change.indicator) };
}

function toNdjson({ changes, ...rest }: Changes<string>): string {
  return [...changes, JSON.stringify(rest)].map((line) => `${line}\n`).join('');
}

function toJson({ changes, ...rest }: Changes<string>): string {
  return `{"changes":[${changes.join(',')}],${JSON.stringify(rest).slice(1)}`;
}
