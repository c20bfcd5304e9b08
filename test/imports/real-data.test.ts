import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createImporter, recognizeFormat } from '../../src/importers/recognize.ts';
import { createCounts, type ImportCounts } from '../../src/imports/import-context.ts';
import { importFiles } from '../../src/imports/imports.service.ts';
import { ensureSource } from '../../src/sources/store/sources.queries.ts';
import { IMPORTED, OPTIONS, REFUSED } from '../importers/real-data-counts.ts';
import { onEveryEngine } from '../support/engines.ts';
import { NOW, WIDEST } from '../support/harness.ts';
import { REAL_DATA } from '../support/real-data.ts';

const COUNTS_FILE = fileURLToPath(new URL('real-data-counts.json', import.meta.url));

const filesIn = (folder: string): string[] =>
  readdirSync(`${REAL_DATA}/${folder}`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(REAL_DATA.length + 1))
    .sort();

function countsOf({ kinds }: ImportCounts) {
  const counts = { read: 0, new: 0, updated: 0, unchanged: 0, rejected: 0 };
  const reasons: Record<string, number> = {};
  for (const ofKind of kinds.values()) {
    for (const key of Object.keys(counts) as (keyof typeof counts)[]) counts[key] += ofKind[key];
    for (const [reason, count] of Object.entries(ofKind.reasons))
      reasons[reason] = (reasons[reason] ?? 0) + count;
  }
  return { ...counts, reasons };
}

onEveryEngine((engine) => {
  // What they become does not depend on the engine; one of them takes minutes.
  describe.skipIf(!existsSync(REAL_DATA) || engine.name !== 'postgresql')(
    'each real file, imported alone into an empty database',
    () => {
      it('yields the recorded counts, with a reason for every rejection', async () => {
        const byFile: Record<string, ReturnType<typeof countsOf>> = {};
        for (const file of IMPORTED.flatMap(filesIn).filter((name) => !(name in REFUSED))) {
          const database = await engine.open();
          const input = { fileName: file, open: () => createReadStream(`${REAL_DATA}/${file}`) };
          const options = OPTIONS[file];
          const importer = options ? createImporter('text', options) : await recognizeFormat(input);
          if (!importer) throw new Error(`not recognized: ${file}`);
          const defaults = { tlp: 'AMBER', confidence: 50, severity: 'MEDIUM' } as const;
          const source = await ensureSource(database.db, 'Files', 'import', defaults, NOW);
          const counts = createCounts();
          const broken = await importFiles(database.db, [{ importer, input }], {
            source,
            now: NOW,
            dryRun: false,
            tlpCeiling: 'RED',
            widest: WIDEST,
            counts,
          });
          expect(broken).toEqual([]);
          byFile[file] = countsOf(counts);
          await database.close();
        }
        await expect(`${JSON.stringify(byFile, null, 2)}\n`).toMatchFileSnapshot(COUNTS_FILE);
      });
    },
  );
});
