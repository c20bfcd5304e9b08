import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type { Db } from '../db/database.ts';
import { saveAnswer } from '../enrichment/enrichments.service.ts';
import { PROVIDERS } from '../enrichment/providers/catalogue.ts';
import { recognizeFormat } from '../importers/recognize.ts';
import { createCounts } from '../imports/import-context.ts';
import { importFiles } from '../imports/imports.service.ts';
import type { SourceDefaults } from '../model/statement.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import { ROOT } from '../root.ts';
import { ensureSource } from '../sources/store/sources.queries.ts';
import { findOtherSource, readMeta, writeMeta } from './sample.queries.ts';

const DIRECTORY = new URL('sample/', ROOT);
const MARK = 'sample';

type SampleFile = SourceDefaults & { file: string; source: string };
interface SampleAnswer {
  provider: string;
  type: IndicatorType;
  value: string;
  fetchedAt: string;
  raw: unknown;
}

/**
 * Loads the sample in the repository, unless this version of it is loaded. After an interruption it starts over:
 * importing the same files again changes nothing.
 * @returns whether this call has loaded the sample
 * @throws when the database contains data of another source, and the sample has never been loaded: the two must
 *   not be mixed
 */
export async function loadSample(db: Db, now: Date): Promise<boolean> {
  const manifest = await readFile(new URL('manifest.json', DIRECTORY), 'utf8');
  const loaded = await readMeta(db, MARK);
  if (loaded === manifest) return false;
  const other = loaded === undefined ? await findOtherSource(db) : undefined;
  if (other !== undefined)
    throw new Error(
      `The database holds data of the source "${other}", to which the demo would add its sample. Give the demo a database of its own (TIPLINE_DATA_DIR, without DATABASE_URL), or run: tipline serve`,
    );
  for (const entry of JSON.parse(manifest) as SampleFile[]) await loadFile(db, entry, now);
  await loadAnswers(db, now);
  await writeMeta(db, MARK, manifest);
  return true;
}

async function loadFile(db: Db, { file, source: name, ...defaults }: SampleFile, now: Date): Promise<void> {
  const input = { fileName: file, open: () => createReadStream(new URL(file, DIRECTORY)) };
  const importer = await recognizeFormat(input);
  if (!importer) throw new Error(`The sample file ${file} is not of a known format.`);
  const source = await ensureSource(db, name, 'sample', defaults, now);
  const options = {
    source,
    now,
    dryRun: false,
    counts: createCounts(),
    tlpCeiling: 'RED' as const,
    widest: { IPV4: 8, IPV6: 19 },
  };
  const [interruption] = await importFiles(db, [{ importer, input }], options);
  if (interruption) throw new Error(`The sample file ${file} cannot be read: ${interruption.message}`);
}

async function loadAnswers(db: Db, now: Date): Promise<void> {
  const directory = new URL('enrichments/', DIRECTORY);
  for (const file of (await readdir(directory)).sort()) {
    const answer = JSON.parse(await readFile(new URL(file, directory), 'utf8')) as SampleAnswer;
    const provider = PROVIDERS.find(({ name }) => name === answer.provider);
    if (!provider) throw new Error(`The sample names a provider that is not known: ${answer.provider}.`);
    await saveAnswer(db, provider, { ...answer, fetchedAt: new Date(answer.fetchedAt) }, now);
  }
}
