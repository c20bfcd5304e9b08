import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, inject } from 'vitest';
import { type Database, openDatabase, openInMemory } from '../../src/db/open.ts';

export interface TestEngine {
  name: 'embedded' | 'postgresql';
  open(): Promise<Database>;
}

/** The engines that are here: the embedded one always, PostgreSQL where it is installed. */
export function engines(): TestEngine[] {
  const url = inject('postgresUrl');
  const embedded: TestEngine = { name: 'embedded', open: openInMemory };
  return url ? [embedded, { name: 'postgresql', open: () => openFreshPostgres(url) }] : [embedded];
}

/** The same suite on every engine. */
export function onEveryEngine(suite: (engine: TestEngine) => void): void {
  describe.each(engines())('on $name', suite);
}

/** A database of its own for each suite, gone with it. */
async function openFreshPostgres(url: string): Promise<Database> {
  const { url: own, drop } = await freshPostgresUrl(url);
  const database = await openDatabase({ url: own, dataDirectory: '', share: false, onIdleError: () => {} });
  return {
    ...database,
    async close() {
      await database.close();
      await drop();
    },
  };
}

export async function freshPostgresUrl(url: string): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const admin = async (statement: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  await admin(`create database ${name}`);
  return {
    url: url.replace(/\/[^/]*$/, `/${name}`),
    drop: () => admin(`drop database ${name} with (force)`),
  };
}
