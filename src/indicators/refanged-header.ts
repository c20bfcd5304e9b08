import type { FastifyReply } from 'fastify';
import { refangedSearch } from '../model/search-text.ts';

/**
 * Sets the header `X-Query-Refanged` if a search also looks for the refanged form of `q`. The value is
 * percent-encoded, because header values are ASCII.
 */
export function setRefangedHeader(reply: FastifyReply, q: string | undefined): void {
  const refanged = q === undefined ? null : refangedSearch(q);
  if (refanged !== null) reply.header('x-query-refanged', encodeURIComponent(refanged));
}
