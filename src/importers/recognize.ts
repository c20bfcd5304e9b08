import { csvImporter } from './csv.ts';
import { feodoImporter } from './feodo.ts';
import { galaxyImporter } from './galaxy.ts';
import { type Importer, type ImportInput, UnreadableInput } from './importer.ts';
import { kevImporter } from './kev.ts';
import { malwareBazaarImporter } from './malwarebazaar.ts';
import { mispImporter } from './misp.ts';
import { otxImporter } from './otx.ts';
import { refusedFile } from './refused-files.ts';
import { stixImporter } from './stix.ts';
import { textImporter } from './text.ts';
import { readHead } from './text-input.ts';
import { threatFoxImporter } from './threatfox.ts';
import { urlhausImporter } from './urlhaus.ts';

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
  textImporter(),
  csvImporter(),
];

/**
 * Returns the importer that recognizes the file by its first 64 KiB; null if none does.
 * @throws {UnreadableInput} if the file is not readable as text (UTF-16, a broken gzip, HTML), or is of a
 *   kind that holds no intelligence (a warninglist, a taxonomy, a manifest)
 */
export async function recognizeFormat(input: ImportInput): Promise<Importer | null> {
  const head = await readHead(input);
  const reason = refusedFile(head);
  if (reason !== null) throw new UnreadableInput(reason);
  return IMPORTERS.find((importer) => importer.recognizes(head, input.fileName)) ?? null;
}
