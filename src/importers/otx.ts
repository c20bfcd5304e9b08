import { type Importer, UnreadableInput } from './importer.ts';
import { readJsonFeed } from './json-feed.ts';
import type { JsonLimits } from './json-piece.ts';
import { jsonShape } from './json-shape.ts';
import { readPulse } from './otx-pulse.ts';
import { printable } from './printable.ts';
import { field, isObject, textOf } from './record-fields.ts';
import { readHead } from './text-input.ts';

/** A pulse is held in memory whole, because values that its indicators inherit may follow them. */
const CAPS = { maxBytes: 64 * 1024 * 1024, maxDepth: 32 };

/**
 * Imports OTX: a response of `pulses/subscribed` and its like (`{"results": […]}`), a list of pulses, or one
 * pulse.
 */
export const otxImporter: Importer = {
  name: 'otx',
  label: 'OTX pulses',

  recognizes(head) {
    const shape = jsonShape(head);
    if (shape === null) return false;
    // Members of the first pulse, with which a page begins.
    const hasPulse =
      /"(author_name|adversary|attack_ids|pulse_source)"\s*:/.test(head) && /"indicators"\s*:/.test(head);
    const isPage =
      shape.keys.has('results') && (shape.keys.has('next') || shape.keys.has('prefetch_pulse_ids'));
    return isPage || (hasPulse && (shape.keys.has('results') || shape.keys.has('indicators')));
  },

  async *read(input) {
    const shape = jsonShape(await readHead(input));
    const isPulse = shape?.root === 'object' && shape.keys.has('indicators') && !shape.keys.has('results');
    const lists = isPulse ? [] : ['results'];
    const limits: JsonLimits = { ...CAPS, lists };
    yield* readJsonFeed(input, {
      limits,
      of: 'report',
      readRecord: readPulse,
      rootIsRecord: isPulse,
      checkRoot,
    });
  },
};

/** A refusal is `{"detail": "Authentication required"}`. */
function checkRoot(root: unknown): void {
  if (isObject(root) && Array.isArray(field(root, 'results'))) return;
  const detail = isObject(root) ? textOf(field(root, 'detail')) : null;
  throw new UnreadableInput(
    detail === null ? 'not OTX: the root object has no list results' : `OTX refused: ${printable(detail)}`,
  );
}
