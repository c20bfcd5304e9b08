import { mkdir, mkdtemp, readdir, rm, symlink, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removeOldRuns } from '../../src/sources/run-source.ts';
import { NOW } from '../support/harness.ts';

it('deletes the directories of old runs, and passes over one that another process has deleted', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tipline-test-'));
  try {
    for (const [name, hours] of [
      ['run-old', 3],
      ['run-new', 1],
    ] as const) {
      await mkdir(join(directory, name));
      const at = new Date(NOW.getTime() - hours * 3_600_000);
      await utimes(join(directory, name), at, at);
    }
    // It is listed, and stat fails as for a directory that is gone.
    await symlink(join(directory, 'nowhere'), join(directory, 'run-gone'));
    await removeOldRuns(directory, NOW);
    expect((await readdir(directory)).sort()).toEqual(['run-gone', 'run-new']);
  } finally {
    await rm(directory, { recursive: true });
  }
});
