import type { JsonLimits } from './json-piece.ts';

/** `objects` holds the content of a bundle and of a TAXII 2.1 envelope. */
export const STIX_LIMITS: JsonLimits = { lists: ['objects'], maxBytes: 4 * 1024 * 1024, maxDepth: 64 };
