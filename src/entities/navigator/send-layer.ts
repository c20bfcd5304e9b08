import type { FastifyReply } from 'fastify';
import { skippedField } from '../../formats/skipped.ts';
import { FILE_NAME_HEADER, NO_CACHE } from '../../http/routes.ts';
import type { Layer } from './navigator.mappers.ts';
import type { NavigatorLayerAnswer } from './navigator.schema.ts';

/** The OpenAPI description of the headers of `sendLayer`. */
export const LAYER_HEADERS = {
  ...FILE_NAME_HEADER,
  'X-Skipped': {
    type: 'string',
    description:
      'How many techniques are left out and, as parameters, why: `3;no-attack-id=2;other-domain=1`.',
  },
};

/** Sends a layer as a file. @param name a part of the file's name */
export function sendLayer(
  reply: Pick<FastifyReply, 'headers'>,
  name: string,
  { layer, skipped }: Layer,
): NavigatorLayerAnswer {
  reply.headers({
    'cache-control': NO_CACHE,
    'content-disposition': `attachment; filename="tipline-navigator-${name}.json"`,
    'x-skipped': skippedField(skipped),
  });
  return layer;
}
