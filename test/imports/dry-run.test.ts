import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createDryRun, type DryRun } from '../../src/imports/dry-run.ts';
import type { LoadedIndicator } from '../../src/indicators/state/state.queries.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { newSource } from '../../src/sources/store/sources.queries.ts';
import { temporaryDirectory } from '../support/directories.ts';

const source = newSource('a-source', 'Ours', { tlp: 'AMBER', confidence: 50, severity: 'MEDIUM' });
const idOf = (n: number) => indicatorId('DOMAIN', `h${n}.example.com`);

function indicator(n: number, tags: string[] = []): LoadedIndicator {
  const value = `h${n}.example.com`;
  const importedAt = new Date('2026-01-01T00:00:00Z');
  const statement = {
    ...{ source, statedAt: null, tlp: 'AMBER' as const, confidence: null, severity: null, tags },
    ...{ firstSeen: null, lastSeen: null, importedAt, expiresAt: null, delistedAt: null, forDetection: true },
    ...{ ofCertificate: false, files: [], records: [], kev: null },
  } as const;
  return {
    ...{ type: 'DOMAIN', normalized: value, value, externalIds: new Set([`x-${n}`]) },
    ...{ stored: null, pinned: null, lastSource: null, scores: [] },
    statements: new Map([[source.id, statement]]),
  };
}

function recall(dryRun: DryRun, n: number): LoadedIndicator | undefined {
  const known = new Map<string, LoadedIndicator>();
  dryRun.recall([idOf(n)], known);
  return known.get(idOf(n));
}

function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

it('recalls the last of each indicator, and no other', () => {
  const directory = temporaryDirectory();
  const dryRun = createDryRun(source, directory);
  const count = 20_000;
  for (let n = 0; n < count; n++) dryRun.keep(idOf(n), indicator(n));
  for (let n = 0; n < count; n += 7) dryRun.keep(idOf(n), indicator(n, ['again']));
  // Longer than what is held in memory until it is written.
  const long = ['x'.repeat(3_000_000)];
  dryRun.keep(idOf(1), indicator(1, long));
  const wrong = Array.from({ length: count }, (_, n) => n).filter((n) => {
    const tags = recall(dryRun, n)?.statements.get(source.id)?.tags;
    return tags?.[0] !== (n === 1 ? long[0] : n % 7 === 0 ? 'again' : undefined);
  });
  expect(wrong).toEqual([]);
  expect(recall(dryRun, 3)).toEqual(indicator(3));
  expect([dryRun.has(idOf(0)), dryRun.has(idOf(count)), recall(dryRun, count)]).toEqual([
    true,
    false,
    undefined,
  ]);
  dryRun.close();
  expect(readdirSync(directory)).toEqual([]);
});

it('takes little memory for each indicator', () => {
  const dryRun = createDryRun(source, temporaryDirectory());
  for (let n = 0; n < 5_000; n++) dryRun.keep(idOf(n), indicator(n));
  const before = memoryInUse();
  const count = 100_000;
  for (let n = 5_000; n < 5_000 + count; n++) dryRun.keep(idOf(n), indicator(n));
  expect((memoryInUse() - before) / count).toBeLessThan(60);
  expect(dryRun.has(idOf(0))).toBe(true);
  dryRun.close();
});
