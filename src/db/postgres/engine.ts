import type pg from 'pg';
import { CopyCursor } from '../copy-out.ts';
import type { Engine, Lease } from '../engine.ts';
import { RawRow } from '../prepared-query.ts';
import { type PreparedStatements, preparedStatements } from './prepared-statements.ts';

/** The commands whose row count is the number of rows that they changed. */
const CHANGES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

export function postgresEngine(pool: pg.Pool): Engine {
  const statements = new WeakMap<pg.PoolClient, PreparedStatements>();
  return {
    async acquire() {
      const client = await pool.connect();
      const own = statements.get(client) ?? preparedStatements(client);
      statements.set(client, own);
      return leaseOf(client, own);
    },
    close: () => pool.end(),
  };
}

function leaseOf(client: pg.PoolClient, statements: PreparedStatements): Lease {
  return {
    async query(sql, parameters, preparation) {
      const { command, rowCount, rows, fields } = await statements.query(sql, [...parameters], preparation);
      return {
        rows: preparation?.isRaw ? rawRows(rows, fields) : rows,
        affectedRows: CHANGES.has(command) ? (rowCount ?? 0) : undefined,
      };
    },
    async *stream(sql) {
      const cursor = client.query(new CopyCursor(sql));
      try {
        for (let rows = await cursor.read(); rows.length > 0; rows = await cursor.read()) yield rows;
      } finally {
        await cursor.close();
      }
    },
    async release() {
      client.release();
    },
  };
}

function rawRows(rows: readonly (string | null)[][], fields: readonly pg.FieldDef[]): RawRow[] {
  const places = Object.fromEntries(fields.map(({ name }, place) => [name, place]));
  return rows.map((texts) => new RawRow(texts, places));
}
