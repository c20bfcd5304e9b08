import { describe, expect, it } from 'vitest';
import { ndjsonFormat } from '../../src/formats/ndjson.ts';
import { expectGolden } from './golden.ts';
import { GOLDEN, HOSTILE, written } from './input.ts';

const ndjson = ndjsonFormat();

describe('ndjson', () => {
  it('matches the golden file', async () => {
    await expectGolden(await written(ndjson, GOLDEN), 'indicators.ndjson');
  });

  it('is empty without matches', async () => {
    expect(await written(ndjson, [])).toBe('');
  });

  it('preserves every value, tag and source', async () => {
    const lines = (await written(ndjson, HOSTILE)).trimEnd().split('\n');
    const read = lines.map((line) => JSON.parse(line));
    expect(read).toHaveLength(HOSTILE.length);
    for (const row of HOSTILE) {
      const { value, tags, source } = row;
      expect(read).toContainEqual(expect.objectContaining({ id: row.id, value, tags, source }));
    }
  });
});
