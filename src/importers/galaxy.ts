import { isMicrosoftNaming, readMicrosoftName } from './actor-namers.ts';
import { type Importer, type ImportInput, type RecordParts, UnreadableInput } from './importer.ts';
import { type RecordResult, readJsonFeed } from './json-feed.ts';
import type { JsonLimits } from './json-pieces.ts';
import { jsonShape, readJsonRecords } from './json-stream.ts';
import { clusterRecord, isReadGalaxy, MAX_NAME } from './misp-clusters.ts';
import {
  type Fields,
  field,
  isObject,
  printable,
  RecordRejected,
  requiredName,
  textOf,
} from './record-fields.ts';

const LIMITS: JsonLimits = { lists: ['values'], maxBytes: 4 * 1024 * 1024, maxDepth: 32 };

/**
 * Imports catalogues of names: a file of MISP galaxy clusters (`{"type", "values": […]}`) of a supported
 * kind, or Microsoft's list of its names for threat actors.
 */
export const galaxyImporter: Importer = {
  name: 'galaxy',
  label: 'MISP galaxy cluster',

  recognizes(head) {
    const shape = jsonShape(head);
    if (shape === null) return false;
    if (shape.root === 'array') return isMicrosoftNaming(head);
    const { keys } = shape;
    const isTaxonomy = keys.has('predicates') || keys.has('namespace');
    return keys.has('values') && keys.has('type') && keys.has('uuid') && !isTaxonomy;
  },

  async *read(input: ImportInput): RecordParts {
    const galaxy = await readGalaxy(input);
    const readRecord = galaxy === null ? readMicrosoftName : (item: Fields) => readItem(item, galaxy);
    yield* readJsonFeed(input, { limits: LIMITS, of: 'actor', readRecord });
  },
};

/**
 * Reads the galaxy without its clusters, because its type may follow them. Returns null for a list, which has
 * no enclosing object.
 * @throws {UnreadableInput} if it is not a galaxy, or one of an unsupported kind
 */
async function readGalaxy(input: ImportInput): Promise<Fields | null> {
  let isList = false;
  for await (const part of readJsonRecords(input, LIMITS))
    for (const { number, value } of part) {
      if (number === 0) return checkGalaxy(value);
      isList = true;
    }
  if (isList) return null;
  throw new UnreadableInput('not a galaxy: an empty list');
}

function checkGalaxy(root: unknown): Fields {
  if (!isObject(root) || !Array.isArray(field(root, 'values')))
    throw new UnreadableInput('not a galaxy: the root object has no list values');
  const type = textOf(field(root, 'type'));
  if (type === null || !isReadGalaxy(type))
    throw new UnreadableInput(`a galaxy of a kind that is not read: ${printable(type ?? 'none stated')}`);
  return root;
}

function readItem(item: Fields, galaxy: Fields): RecordResult[] {
  const name = requiredName(item, 'value');
  if (name.length > MAX_NAME) throw new RecordRejected(`value longer than ${MAX_NAME} characters`);
  const record = clusterRecord(item, galaxy);
  if (record === null) throw new RecordRejected('cluster of a kind that is not read');
  return [record];
}
