import type { Compilable, CompiledQuery } from 'kysely';
import type { Tlp } from '../model/vocabulary.ts';
import type { Db } from './open.ts';
import { PREPARED } from './postgres.ts';
import type { Viewer } from './visibility.ts';

/** They stand where the id and the instant of a call belong; no call has either. */
const AN_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const AN_INSTANT = new Date(0);

type FindOne<Row> = (db: Db, viewer: Viewer, id: string) => Promise<Row | undefined>;

/**
 * A statement for one object, which is written out once for each ceiling and which PostgreSQL prepares: to build and to plan
 * it costs more than to run it.
 */
export function oneById<Row>(build: (db: Db, viewer: Viewer, id: string) => Compilable<Row>): FindOne<Row> {
  const written = new Map<Tlp, CompiledQuery<Row>>();
  const write = (db: Db, tlpCeiling: Tlp) => {
    const query = build(db, { tlpCeiling, now: AN_INSTANT }, AN_ID).compile();
    // What is reckoned from the instant has to be reckoned by the statement.
    if (query.parameters.some((value) => value instanceof Date && value !== AN_INSTANT))
      throw new Error('a statement that is written once holds another instant');
    const prepared = { ...query, sql: PREPARED + query.sql };
    written.set(tlpCeiling, prepared);
    return prepared;
  };
  return async (db, { tlpCeiling, now }, id) => {
    const query = written.get(tlpCeiling) ?? write(db, tlpCeiling);
    const parameters = query.parameters.map((value) =>
      value === AN_ID ? id : value === AN_INSTANT ? now : value,
    );
    const { rows } = await db.executeQuery<Row>({ ...query, parameters });
    return rows[0];
  };
}
