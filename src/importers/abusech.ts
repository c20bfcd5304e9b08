import { csvImporter } from './csv.ts';
import { type Importer, type ImportInput, type ImportRecord, UnreadableInput } from './importer.ts';
import { type JsonFeed, readJsonFeed } from './json-feed.ts';
import type { JsonLimits } from './json-piece.ts';
import { jsonShape } from './json-shape.ts';
import { printable } from './printable.ts';
import { dateOf, type Fields, field, isObject, tagsOf, textOf } from './record-fields.ts';
import { readHead } from './text-input.ts';

const CAPS = { maxBytes: 4 * 1024 * 1024, maxDepth: 32 };
/** The statuses with which abuse.ch reports an empty result. */
const EMPTY_ANSWERS = new Set(['no_result', 'no_results']);
/** Placeholders for an unknown family: no tags. */
const NO_FAMILY = new Set(['unknown', 'unknown malware', 'n/a', 'none']);

interface AbuseChFeed {
  name: string;
  label: string;
  /** The member of the API's response that holds the records. */
  list: string;
  /** Distinguishes its JSON from that of the other abuse.ch feeds. */
  recognizes(head: string): boolean;
  readRecord: JsonFeed['readRecord'];
}

/**
 * Returns the importer of a feed of abuse.ch: a response of its API (`{"query_status", LIST: […]}`), its
 * export (`{"ID": [{…}]}`, or a list), or its CSV, which is recognized by its column names like any other.
 */
export function abuseChImporter({ name, label, list, recognizes, readRecord }: AbuseChFeed): Importer {
  return {
    name,
    label,
    recognizes: (head) => jsonShape(head) !== null && recognizes(head),
    async *read(input: ImportInput): AsyncGenerator<ImportRecord> {
      const head = await readHead(input);
      const shape = jsonShape(head);
      if (shape === null) return yield* csvImporter().read(input);
      const isAnswer = shape.root === 'object' && (shape.keys.has('query_status') || shape.keys.has(list));
      if (!isAnswer && shape.root === 'object' && shape.keys.size > 0 && !recognizes(head))
        throw new UnreadableInput(`not ${name}: the root object is neither an answer nor an export of it`);
      const limits: JsonLimits = { ...CAPS, ...(isAnswer ? { lists: [list] } : { lists: [], path: [] }) };
      const checkRoot = (root: unknown) => checkAnswer(root, list);
      yield* readJsonFeed(input, { limits, of: 'indicator', readRecord, checkRoot });
    },
  };
}

/** Rejects a refusal: it is not an empty list, and existing members must not count as removed. */
function checkAnswer(root: unknown, list: string): void {
  const status = isObject(root) ? textOf(field(root, 'query_status')) : null;
  if (status !== null && EMPTY_ANSWERS.has(status)) return;
  if (status !== null && status !== 'ok')
    throw new UnreadableInput(`abuse.ch did not answer the query: ${printable(status)}`);
  if (!isObject(root) || !Array.isArray(field(root, list)))
    throw new UnreadableInput(`not an answer of abuse.ch: it has no list ${list}`);
}

/** Returns the date of a record under any of the names that exports and API use. */
export function firstDateOf(record: Fields, ...names: string[]): Date | null {
  for (const name of names) {
    const date = dateOf(record, name);
    if (date !== null) return date;
  }
  return null;
}

/** Returns tags, which are a list or separated by commas, and adds a family or a threat as one more. */
export function abuseChTags(record: Fields, ...names: string[]): string[] {
  const stated = field(record, 'tags');
  const tags = typeof stated === 'string' ? stated.split(',') : stated;
  const words = names.map((name) => textOf(field(record, name)));
  return tagsOf(
    tags,
    words.filter((word) => word !== null),
  ).filter((tag) => !NO_FAMILY.has(tag.toLowerCase()));
}
