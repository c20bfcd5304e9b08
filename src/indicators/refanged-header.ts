import type { FastifyReply } from 'fastify';
import { refangedSearch } from '../model/search-text.ts';

/** Says which other text a search looked for. Header values are ASCII: it is percent-encoded. */
export function tellRefanged(reply: FastifyReply, q: string | undefined): void {
  const refanged = q === undefined ? null : refangedSearch(q);
  if (refanged !== null) reply.header('x-query-refanged', encodeURIComponent(refanged));
}
