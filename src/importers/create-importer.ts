import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { csvImporter } from './csv.ts';
import { type Importer, UnreadableInput } from './importer.ts';
import { jsonImporter } from './json.ts';
import { CsvMap, JsonMap, TextOptions } from './maps.ts';
import { IMPORTERS } from './recognize.ts';
import { textImporter } from './text.ts';

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
