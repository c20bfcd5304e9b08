import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Importer, ImportInput } from '../../src/importers/importer.ts';
import { createImporter, recognizeFormat } from '../../src/importers/recognize.ts';
import { REAL_DATA } from '../support/real-data.ts';
import { COUNTS_FILE, type Counts, IMPORTED, OPTIONS, REFUSED, readCounts } from './real-data-counts.ts';
import { countByOutcome, ofKind, runImporter } from './run-importer.ts';

const inputOf = (file: string): ImportInput => {
  return { fileName: file, open: () => createReadStream(`${REAL_DATA}/${file}`) };
};

const filesIn = (folder: string): string[] =>
  readdirSync(`${REAL_DATA}/${folder}`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(REAL_DATA.length + 1))
    .sort();

async function recognized(input: ImportInput): Promise<Importer> {
  const options = OPTIONS[input.fileName];
  const importer = options ? createImporter('text', options) : await recognizeFormat(input);
  if (importer === null) throw new Error(`not recognized: ${input.fileName}`);
  return importer;
}

async function runFile(file: string) {
  const input = inputOf(file);
  return runImporter(await recognized(input), input);
}

describe.skipIf(!existsSync(REAL_DATA))('real files', () => {
  const files = existsSync(REAL_DATA) ? IMPORTED.flatMap(filesIn).filter((file) => !(file in REFUSED)) : [];
  const counts: Counts = {};

  it.each(files)('%s is recognized and read completely', async (file) => {
    const { records, unreadable } = await runFile(file);
    counts[file] = countByOutcome(records);
    expect(unreadable).toBeNull();
    expect(ofKind(records, 'rejected').length).toBeLessThan(records.length / 2);
  });

  it('yield the recorded counts', async () => {
    // A run of single tests has not read them all.
    const text = JSON.stringify(
      { ...(Object.keys(counts).length < files.length && readCounts()), ...counts },
      null,
      2,
    );
    await expect(`${text}\n`).toMatchFileSnapshot(fileURLToPath(COUNTS_FILE));
  });

  it.each(Object.entries(REFUSED))('%s is rejected', async (file, message) => {
    await expect(recognizeFormat(inputOf(file))).rejects.toThrow(message);
  });

  it.each(existsSync(REAL_DATA) ? [...filesIn('warninglists'), ...filesIn('taxonomies')] : [])(
    '%s is rejected as a warninglist or taxonomy',
    async (file) => {
      await expect(recognizeFormat(inputOf(file))).rejects.toThrow(/^a MISP (warninglist|taxonomy): /);
    },
  );

  it.each(existsSync(REAL_DATA) ? filesIn('providers') : [])(
    '%s is not recognized as an importable format',
    async (file) => {
      expect(await recognizeFormat(inputOf(file))).toBeNull();
    },
  );

  it.each(['attack/enterprise-attack-18.1.trimmed.json', 'attack/ics-attack-18.1.json'])(
    '%s is read completely, with nothing rejected',
    async (file) => {
      expect(ofKind((await runFile(file)).records, 'rejected')).toEqual([]);
    },
  );

  it.each([
    ['actors/misp-galaxy-threat-actor.json', 1041],
    ['actors/microsoft-threat-actor-naming.json', 166],
  ])('%s yields each actor once, with nothing rejected', async (file, number) => {
    const { records } = await runFile(file);
    const ids = ofKind(records, 'actor').map(({ externalIds }) => externalIds[0]);
    expect([records.length, new Set(ids).size]).toEqual([number, number]);
  });

  it.each([
    ['feeds/abusech/threatfox-export-2026-07-24.json', ['confidence', 'firstSeen']],
    ['feeds/abusech/threatfox-urls-2025-12-07.csv', ['confidence', 'firstSeen']],
    ['feeds/abusech/threatfox-sha256-2025-12-04.csv', ['confidence', 'firstSeen']],
    ['feeds/abusech/urlhaus-csv-online-2026-02-07.csv', ['firstSeen', 'lastSeen']],
    ['feeds/abusech/feodo-ipblocklist-2021-10-02.csv', ['firstSeen', 'lastSeen']],
    ['feeds/abusech/feodo-ipblocklist-2026.json', ['firstSeen', 'lastSeen']],
    ['vulnerabilities/cisa-kev.json', ['firstSeen', 'severity']],
  ] as const)('%s has %s and tags for every indicator', async (file, stated) => {
    const indicators = ofKind((await runFile(file)).records, 'indicator');
    const lacking = indicators.filter(
      (one) => one.tags.length === 0 || stated.some((name) => one[name] === null),
    );
    expect(lacking).toEqual([]);
  });
});
