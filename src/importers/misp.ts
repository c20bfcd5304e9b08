import { type Importer, type ImportInput, type ImportRecord, UnreadableInput } from './importer.ts';
import type { JsonLimits } from './json-pieces.ts';
import { type JsonRecord, jsonShape, readJsonRecords } from './json-stream.ts';
import { readEvent } from './misp-event.ts';
import { type Fields, field, isObject, printable, rejectedRecord, textOf } from './record-fields.ts';

/**
 * An event is held in memory whole, because its tags and date, which every attribute inherits, may follow the
 * attributes. A file may hold any number of events.
 */
const MISP_LIMITS: JsonLimits = { lists: ['response'], maxBytes: 64 * 1024 * 1024, maxDepth: 64 };

/** MISP core format: `{"Event"}`, `{"response":[{"Event"}]}`, an array of either, or an event itself. */
export const mispImporter: Importer = {
  name: 'misp',
  label: 'MISP event',

  recognizes(head) {
    const shape = jsonShape(head);
    if (shape === null) return false;
    const { keys } = shape;
    // A bare event: `info` beside `Attribute` or other members of an event.
    const isEvent =
      keys.has('info') && ['Attribute', 'Object', 'threat_level_id', 'Orgc'].some((key) => keys.has(key));
    // Other formats have a `response` too, which is not a list there.
    return keys.has('Event') || isEvent || (keys.has('response') && /"response"\s*:\s*\[/.test(head));
  },

  async *read(input: ImportInput) {
    for await (const part of readJsonRecords(input, MISP_LIMITS)) yield recordsOf(part);
  },
};

function* recordsOf(part: Iterable<JsonRecord>): Generator<ImportRecord> {
  for (const record of part) yield* readRecord(record);
}

function* readRecord({ number, value, rejected }: JsonRecord): Generator<ImportRecord> {
  const event = eventOf(value);
  if (event !== null) {
    const uuid = textOf(field(event, 'uuid'));
    yield* readEvent(event, `event ${number || 1}${uuid === null ? '' : ` (${printable(uuid)})`}`);
    return;
  }
  if (number === 0 && isObject(value)) {
    if (Array.isArray(field(value, 'response'))) return;
    throw new UnreadableInput('not MISP: the root object is neither an event nor a list of events');
  }
  const reason = rejected ?? 'not an event';
  yield rejectedRecord('report', reason, `event ${number || 1}`);
}

function eventOf(value: unknown): Fields | null {
  if (!isObject(value)) return null;
  const inner = field(value, 'Event');
  if (isObject(inner)) return inner;
  return Object.hasOwn(value, 'info') ? value : null;
}
