import { describe, expect, it } from 'vitest';
import { hasActiveReaders, hasOneConnection } from '../../src/db/readers.ts';
import { onEveryEngine } from '../support/engines.ts';

const HOUR_MS = 3_600_000;

describe('reader activity', () => {
  onEveryEngine((engine) => {
    it('is visible in a shared database while a node polls the revision', async () => {
      const database = await engine.openNew();
      expect(await hasActiveReaders(database.db, HOUR_MS)).toBe(false);
      database.revisions.isFresh('revision', 0);
      const isShared = engine.name === 'postgresql';
      await expect.poll(() => hasActiveReaders(database.db, HOUR_MS)).toBe(isShared);
      expect(await hasActiveReaders(database.db, 0)).toBe(false);
      await database.close();
    });

    it('is tracked for databases with one connection', async () => {
      const database = await engine.open();
      expect(await hasOneConnection(database.db)).toBe(engine.name === 'embedded');
      await database.close();
    });
  });
});
