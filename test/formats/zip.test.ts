import { expect, it } from 'vitest';
import type { ExportIndicator } from '../../src/formats/format.ts';
import { filesByType, listFile } from '../../src/formats/rules/rows-by-type.ts';
import { zipArchive } from '../../src/formats/zip.ts';
import { exportIndicator } from './input.ts';

const ROWS = Array.from({ length: 64 }, (_, n) => exportIndicator(n + 1, 'DOMAIN', `d${n}.evil.example`));

/** An archive with one file of incompressible lines, without end, and whether its rows are closed. */
function endless() {
  const state = { isClosed: false };
  async function* batches(): AsyncGenerator<ExportIndicator[]> {
    try {
      for (;;) yield ROWS;
    } finally {
      state.isClosed = true;
    }
  }
  const line = () => `${crypto.randomUUID().repeat(8)}\n`;
  const archive = zipArchive(
    'rules/',
    filesByType(batches(), (of) => listFile('names', of('DOMAIN'), line)),
  );
  return { archive, state };
}

it('an archive closes its rows when its reader stops', async () => {
  const { archive, state } = endless();
  for await (const piece of archive) if (piece.length > 0) break;
  expect(state.isClosed).toBe(true);
});

it('an archive closes its rows when its reader stops later', async () => {
  const { archive, state } = endless();
  let size = 0;
  for await (const piece of archive) {
    size += piece.length;
    if (size > 1_000_000) break;
  }
  expect(state.isClosed).toBe(true);
});

it('an archive fails when its rows do', async () => {
  async function* failing(): AsyncGenerator<ExportIndicator[]> {
    yield ROWS;
    throw new Error('connection lost');
  }
  const files = filesByType(failing(), (of) => listFile('names', of('DOMAIN'), ({ value }) => `${value}\n`));
  const read = async () => {
    for await (const piece of zipArchive('rules/', files)) expect(piece.length).toBeGreaterThan(0);
  };
  await expect(read()).rejects.toThrow('connection lost');
});
