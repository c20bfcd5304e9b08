import { once } from 'node:events';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { freshPostgresUrl } from '../support/engines.ts';

const url = inject('postgresUrl');

describe.skipIf(!url)('a connection terminated by the server', () => {
  it('while idle in a transaction fails only the next query', async () => {
    const fresh = await freshPostgresUrl(url ?? '');
    const { db, close } = await openDatabase({
      url: fresh.url,
      dataDirectory: '',
      allowRemote: false,
      onIdleError: () => {},
    });
    const trx = await db.startTransaction().execute();
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
    const other = new pg.Client(fresh.url);
    await other.connect();
    // It would end the process, were nobody listening.
    const uncaught = once(process, 'uncaughtException', { signal: AbortSignal.timeout(1_000) });
    await other.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid]);
    await expect(uncaught).rejects.toThrow('aborted');
    await expect(sql`select 1`.execute(trx)).rejects.toThrow();
    await trx
      .rollback()
      .execute()
      .catch(() => {});
    expect((await sql<{ one: number }>`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
    await other.end();
    await close();
    await fresh.drop();
  });
});
