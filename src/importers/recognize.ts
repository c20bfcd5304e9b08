import { csvImporter } from './csv.ts';
import { type Importer, type ImportInput, UnreadableInput } from './importer.ts';
import { mispImporter } from './misp.ts';
import { stixImporter } from './stix.ts';
import { readHead } from './text-input.ts';

/** In this order they are asked: CSV last, for it is told by its column names alone. */
export const IMPORTERS: readonly Importer[] = [stixImporter, mispImporter, csvImporter];

/** The importer that knows the file by its first 64 KiB; null when none does. */
export async function recognizeFormat(input: ImportInput): Promise<Importer | null> {
  let head: string;
  try {
    head = await readHead(input);
  } catch (error) {
    if (error instanceof UnreadableInput) return null;
    throw error;
  }
  return IMPORTERS.find((importer) => importer.recognizes(head, input.fileName)) ?? null;
}
