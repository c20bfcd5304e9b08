import { csvImporter } from './csv.ts';
import type { Importer, ImportInput } from './importer.ts';
import { mispImporter } from './misp.ts';
import { stixImporter } from './stix.ts';
import { readHead } from './text-input.ts';

/** In this order they are asked: CSV last, for it is told by its column names alone. */
export const IMPORTERS: readonly Importer[] = [stixImporter, mispImporter, csvImporter];

/**
 * The importer that knows the file by its first 64 KiB; null when none does.
 * @throws {UnreadableInput} when the file is no text that could be known (UTF-16, a broken gzip)
 */
export async function recognizeFormat(input: ImportInput): Promise<Importer | null> {
  const head = await readHead(input);
  return IMPORTERS.find((importer) => importer.recognizes(head, input.fileName)) ?? null;
}
