import { createReadStream } from 'node:fs';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { feodoImporter, malwareBazaarImporter, threatFoxImporter, urlhausImporter } from './abusech.ts';
import { dropImporter, dshieldImporter } from './block-lists.ts';
import { csvImporter } from './csv.ts';
import { epssImporter } from './epss.ts';
import { galaxyImporter } from './galaxy.ts';
import { type Importer, type ImportInput, UnreadableInput } from './importer.ts';
import { jsonImporter } from './json.ts';
import { jsonShape } from './json-stream.ts';
import { kevImporter } from './kev.ts';
import { CsvMap, JsonMap, TextOptions } from './maps.ts';
import { mispImporter } from './misp.ts';
import { otxImporter } from './otx.ts';
import { stixImporter } from './stix.ts';
import { textImporter } from './text.ts';
import { readHead } from './text-input.ts';

/**
 * Every format that is recognized, tried in this order: CSV last, because it is recognized by its column
 * names alone.
 */
export const IMPORTERS: readonly Importer[] = [
  stixImporter,
  mispImporter,
  urlhausImporter,
  malwareBazaarImporter,
  threatFoxImporter,
  feodoImporter,
  kevImporter,
  otxImporter,
  galaxyImporter,
  dropImporter,
  dshieldImporter,
  epssImporter,
  textImporter(),
  csvImporter(),
];

/**
 * Returns the importer that recognizes the file by its first 64 KiB; null if none does.
 * @throws {UnreadableInput} if the file is not readable as text (UTF-16, a ZIP archive, a broken gzip, HTML, NUL bytes), or is of a
 *   kind that holds no intelligence (a warninglist, a taxonomy, a manifest)
 */
export async function recognizeFormat(input: ImportInput): Promise<Importer | null> {
  const head = await readHead(input);
  const reason = refusedFile(head);
  if (reason !== null) throw new UnreadableInput(reason);
  const importer = IMPORTERS.find((each) => each.recognizes(head, input.fileName)) ?? null;
  if (importer === null && head.includes('\u0000')) throw new UnreadableInput('the file contains NUL bytes');
  return importer;
}

/**
 * Returns the importer of a kind, as a source's options configure it: `map` is a `CsvMap` (optional) or a
 * `JsonMap` (required), `type` is that of `TextOptions`.
 * @throws {UnreadableInput} if there is no such importer, or if the options are invalid; the message names
 *   the member
 */
export function createImporter(kind: string, options: Readonly<Record<string, unknown>> = {}): Importer {
  const { map, type } = options;
  if (kind === 'csv') return csvImporter(map === undefined ? undefined : checked(CsvMap, map, 'map'));
  if (kind === 'json') return jsonImporter(checked(JsonMap, map, 'map'));
  if (kind === 'text')
    return textImporter(checked(TextOptions, type === undefined ? {} : { type }, 'options'));
  const importer = IMPORTERS.find(({ name }) => name === kind);
  if (importer === undefined) throw new UnreadableInput(`there is no importer ${kind}`);
  return importer;
}

function checked<T extends TSchema>(schema: T, value: unknown, name: string) {
  if (Value.Check(schema, value)) return value;
  const [first] = Value.Errors(schema, value);
  const place = first === undefined ? '' : `${first.instancePath.replaceAll('/', '.')}: ${first.message}`;
  throw new UnreadableInput(`the source's ${name} is not valid${place === '' ? '' : ` (${name}${place})`}`);
}

const WARNINGLIST_KEYS = new Set(['description', 'list', 'matching_attributes', 'name', 'type', 'version']);

/**
 * Returns what a file is that accompanies feeds and holds no intelligence of its own, for the error message
 * of its import; null for any other file.
 */
function refusedFile(head: string): string | null {
  const shape = jsonShape(head);
  if (shape === null)
    return isHashIndex(head) ? 'the index of a MISP feed (hashes.csv), not its events' : null;
  const { root, keys } = shape;
  // The head of a long warninglist contains the list and the members before it.
  if (keys.has('list') && [...keys].every((key) => WARNINGLIST_KEYS.has(key)))
    return 'a MISP warninglist: it says what is harmless';
  if (keys.has('namespace') && keys.has('predicates')) return 'a MISP taxonomy: it names tags';
  if (root === 'array' && keys.has('date_added') && keys.has('media_type'))
    return 'a TAXII manifest: it names objects and holds none';
  if (root === 'object' && /^\s*\{\s*"[0-9a-f-]{36}"\s*:\s*\{[^}]*"(Orgc|info|timestamp)"\s*:/i.test(head))
    return 'the manifest of a MISP feed, not its events';
  return null;
}

/** Returns whether a line holds the MD5 digest of a value and the uuid of its event. */
function isHashIndex(head: string): boolean {
  return /^[0-9a-f]{32},[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\r?\n/i.test(head);
}

/** A file to import. Importers may open it more than once. */
export interface FileInput extends ImportInput {
  path: string;
  /** Receives the number of bytes of the file that have been read since it was last opened. */
  onProgress?: ((bytes: number) => void) | undefined;
}

export function fileInput(file: Omit<FileInput, 'open'>): FileInput {
  return {
    ...file,
    open() {
      const stream = createReadStream(file.path);
      let bytes = 0;
      stream.on('data', (chunk) => {
        bytes += chunk.length;
        file.onProgress?.(bytes);
      });
      // The listener must not set the stream flowing before its reader is there.
      return stream.pause();
    },
  };
}
