import { type Compilable, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Tlp } from '../model/vocabulary.ts';
import type { Db } from './database.ts';
import { type PreparedQuery, prepare } from './database.ts';
import type { Principal } from './visibility.ts';

/** Placeholders for the ids and the instant of a call. */
const IDS_PLACEHOLDER: readonly string[] = [];
const INSTANT_PLACEHOLDER = new Date(0);

/** Requests that arrive while a statement runs wait for the next one, but no longer than this. */
const BATCH_WINDOW_MS = 10;
const MAX_CONCURRENT = 4;
const MAX_BATCH = 64;

type FindOne<Row> = (db: Db, principal: Principal, id: string) => Promise<Row | undefined>;
type IdFilter = (column: string) => RawBuilder<SqlBool>;
type Build<Row> = (db: Db, principal: Principal, idFilter: IdFilter) => Compilable<Row>;

interface Waiting<Row> {
  id: string;
  now: Date;
  resolve(row: Row | undefined): void;
  reject(error: unknown): void;
}

interface Queue<Row> {
  waiting: Waiting<Row>[];
  running: number;
  timer?: NodeJS.Timeout | undefined;
}

const whereIdIn: IdFilter = (column) =>
  sql<SqlBool>`${sql.ref(column)} = any (${IDS_PLACEHOLDER}::text[]::uuid[])`;

/**
 * Returns a loader of objects by their ids. The statement is compiled once for each ceiling, and PostgreSQL
 * prepares and plans it once on each connection: building and planning cost more than running it, and indexes
 * serve any ids. Concurrent requests are read by one statement, which begins after each of them was made.
 * @param name of the prepared statement
 */
export function batchLoader<Row extends { id: string }>(name: string, build: Build<Row>): FindOne<Row> {
  const prepared = new Map<Tlp, PreparedQuery<Row>>();
  const queues = new WeakMap<Db, Map<Tlp, Queue<Row>>>();

  const write = (db: Db, tlpCeiling: Tlp) => {
    const query = build(db, { tlpCeiling, now: INSTANT_PLACEHOLDER }, whereIdIn).compile();
    // Values derived from the instant must be computed by the statement.
    if (query.parameters.some((value) => value instanceof Date && value !== INSTANT_PLACEHOLDER))
      throw new Error('a statement that is written once holds another instant');
    const statement = prepare(query, { name, plan: 'generic' });
    prepared.set(tlpCeiling, statement);
    return statement;
  };
  const queueOf = (db: Db, tlpCeiling: Tlp): Queue<Row> => {
    const ofDb = queues.get(db) ?? new Map<Tlp, Queue<Row>>();
    const queue = ofDb.get(tlpCeiling) ?? { waiting: [], running: 0 };
    queues.set(db, ofDb.set(tlpCeiling, queue));
    return queue;
  };
  const readBatch = async (db: Db, tlpCeiling: Tlp, batch: Waiting<Row>[]) => {
    const query = prepared.get(tlpCeiling) ?? write(db, tlpCeiling);
    // The latest instant, so that no caller gets an object that has expired by then.
    const now = new Date(Math.max(...batch.map((one) => one.now.getTime())));
    const ids = batch.map(({ id }) => id);
    const parameters = query.parameters.map((value) =>
      value === IDS_PLACEHOLDER ? ids : value === INSTANT_PLACEHOLDER ? now : value,
    );
    const { rows } = await db.executeQuery<Row>({ ...query, parameters });
    return new Map(rows.map((row) => [row.id, row]));
  };
  const run = async (db: Db, tlpCeiling: Tlp, queue: Queue<Row>): Promise<void> => {
    queue.running++;
    while (queue.waiting.length > 0) {
      const batch = queue.waiting.splice(0, MAX_BATCH);
      try {
        const rows = await readBatch(db, tlpCeiling, batch);
        for (const { id, resolve } of batch) resolve(rows.get(id));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    queue.running--;
  };

  const startNext = (db: Db, tlpCeiling: Tlp, queue: Queue<Row>) => {
    queue.timer = undefined;
    if (queue.waiting.length > 0 && queue.running < MAX_CONCURRENT) void run(db, tlpCeiling, queue);
  };

  return (db, { tlpCeiling, now }, id) =>
    new Promise((resolve, reject) => {
      const queue = queueOf(db, tlpCeiling);
      queue.waiting.push({ id: id.toLowerCase(), now, resolve, reject });
      if (queue.running === 0) void run(db, tlpCeiling, queue);
      else queue.timer ??= setTimeout(() => startNext(db, tlpCeiling, queue), BATCH_WINDOW_MS);
    });
}
