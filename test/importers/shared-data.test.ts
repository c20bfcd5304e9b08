import { createReadStream, existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Importer, ImportInput } from '../../src/importers/importer.ts';
import { recognizeFormat } from '../../src/importers/recognize.ts';
import { countByOutcome, runImporter } from './run-importer.ts';
import { COUNTS_BY_FILE, NOT_RECOGNIZED, UNREADABLE } from './shared-data-counts.ts';

/** Real files of many publishers; they lie beside the repository where they are available. */
const DATA = '../shared/data';

const inputOf = (file: string): ImportInput => {
  return { fileName: file, open: () => createReadStream(`${DATA}/${file}`) };
};

async function recognized(input: ImportInput): Promise<Importer> {
  const importer = await recognizeFormat(input);
  if (importer === null) throw new Error(`not recognized: ${input.fileName}`);
  return importer;
}

describe.skipIf(!existsSync(DATA))('real files', () => {
  it.each(Object.entries(COUNTS_BY_FILE))('%s', async (file, counts) => {
    const input = inputOf(file);
    const { records, unreadable } = await runImporter(await recognized(input), input);
    expect(unreadable).toBeNull();
    expect(countByOutcome(records)).toEqual(counts);
  });

  it.each(Object.entries(UNREADABLE))('%s is unreadable', async (file, message) => {
    const input = inputOf(file);
    const { records, unreadable } = await runImporter(await recognized(input), input);
    expect([records, unreadable]).toEqual([[], expect.stringContaining(message)]);
  });

  it.each(NOT_RECOGNIZED)('%s is of no known format', async (file) => {
    expect(await recognizeFormat(inputOf(file))).toBeNull();
  });

  it('ATT&CK is read whole, nothing rejected', async () => {
    const input = inputOf('attack/enterprise-attack-18.1.trimmed.json');
    const { records } = await runImporter(await recognized(input), input);
    expect(records.filter(({ kind }) => kind === 'rejected')).toEqual([]);
  });
});
