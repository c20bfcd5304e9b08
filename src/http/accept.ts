import type { FastifyRequest } from 'fastify';

/**
 * Returns the media type that the client prefers; undefined: Accept allows none of these (RFC 9110 §12.5.1). Texts are sent in UTF-8, so a
 * client may require that: `application/json; charset=utf-8`.
 */
export function acceptedType(request: FastifyRequest, mediaTypes: readonly string[]): string | undefined {
  const offers = mediaTypes.flatMap((type) => [type, `${type};charset=utf-8`]);
  const chosen = request.accepts().type(offers);
  return mediaTypes[Math.floor(offers.indexOf(String(chosen)) / 2)];
}
