import type { Db } from '../db/database.ts';
import { lastMigration, MIGRATION_TABLES, migratedNames, migrateWithin } from '../db/migrate.ts';
import { type Session, within } from '../db/session.ts';
import {
  beginHistory,
  countOtherConnections,
  createSchema,
  currentSchema,
  dropEverything,
  dropSchema,
  dropTables,
  emptyTables,
  extensionSchema,
  findDependents,
  findObjects,
  findTables,
  moveEverything,
  restoreTables,
  setSearchPath,
  setSequences,
  stripTables,
  vacuumTables,
} from './backup.queries.ts';
import { countLines, type StoreSnapshot } from './write-backup.ts';

/** Thrown when a place cannot take a store or a copy of it; nothing has been changed. */
export class TargetError extends Error {
  override name = 'TargetError';
}

export interface LoadOptions {
  now: Date;
  /** Whether to delete a store that the database has. */
  replace: boolean;
  /** Whether the store goes on with another history, because the present one may have gone on elsewhere. */
  beginsHistory: boolean;
  /** Called once the rows are written. An error undoes everything. */
  verify?(): Promise<void>;
  /** Called at the end of the transaction, in which it may write. An error undoes everything. */
  beforeCommit?(db: Db): Promise<void>;
}

/** The schema in which a store is built before it takes the place of the present one. */
const BUILDING = 'tipline_restore';

/**
 * Writes the rows of a snapshot into a database: the tables as they were at its last migration, the rows, and the later migrations. Until the
 * last commit, which makes all of it visible, the database keeps what it has; after an error it is as before.
 * @throws {TargetError} for a database that has a store already, connections of other processes of Tipline, or a schema with the name of
 *   the one in which the store is built
 */
export async function loadStore(
  session: Session,
  snapshot: StoreSnapshot,
  options: LoadOptions,
): Promise<void> {
  const { db } = session;
  const target = await currentSchema(db);
  if (target === BUILDING)
    throw new TargetError(`The schema ${BUILDING} is only for restores: set another search path.`);
  await prepareTarget(session, options.replace);
  // Committed first: a value that was added to an enumerated type can only be used afterwards (PostgreSQL's manual, ALTER TYPE).
  const path = await within(session, BEGIN, async () => {
    if (!(await createSchema(db, BUILDING, target)))
      throw new TargetError(
        `A restore needs the schema ${BUILDING}, which the database has and no restore has created: rename it. If it was left by an interrupted restore of an earlier version, delete it: drop schema ${BUILDING} cascade`,
      );
    // The extension may be in another schema than the store.
    const schemas = [BUILDING, target, await extensionSchema(db)];
    await setSearchPath(db, schemas);
    await migrateWithin(db, BUILDING, snapshot.manifest.schema);
    return schemas;
  });
  try {
    await within(session, BEGIN, async () => {
      // Also takes the lock of migrations, for which a node that starts now waits.
      await migrateWithin(db, BUILDING, snapshot.manifest.schema);
      await loadRows(session, snapshot, options);
      await migrateWithin(db, BUILDING);
      if (options.beginsHistory) await beginHistory(db, options.now);
      await setSearchPath(db, [target]);
      if (await prepareTarget(session, options.replace)) await dropEverything(db);
      // The tables of a first start that was interrupted before its migrations were committed.
      else await dropTables(db, MIGRATION_TABLES);
      await setSearchPath(db, path);
      await moveEverything(db, target);
      await setSearchPath(db, [target]);
      await options.beforeCommit?.(db);
    });
  } finally {
    await within(session, BEGIN, () => dropSchema(db, BUILDING)).catch(() => {});
  }
  // The store is complete; without this, PostgreSQL does it later.
  await findTables(db)
    .then((tables) =>
      vacuumTables(
        db,
        tables.map(({ name }) => name),
      ),
    )
    .catch(() => {});
}

const BEGIN = 'start transaction';

async function loadRows(
  session: Session,
  { manifest, rows }: StoreSnapshot,
  { verify }: LoadOptions,
): Promise<void> {
  const { db } = session;
  const restore = await stripTables(db);
  await emptyTables(db, await findTables(db));
  for (const { name, columns } of manifest.tables) {
    let given = 0;
    const lines = async function* () {
      for await (const piece of rows(name)) {
        given += countLines(piece);
        yield piece;
      }
    };
    const added = await session.copyIn(name, columns, lines());
    if (added !== given) throw new Error(`${added} of ${given} rows of ${name} were stored.`);
  }
  await verify?.();
  await restoreTables(db, restore);
  await setSequences(db, manifest.sequences);
}

/**
 * Checks that the current schema may be filled, or that what it has may be replaced.
 * @returns whether it has a store
 */
async function prepareTarget({ db, kind }: Session, replace: boolean): Promise<boolean> {
  const others = kind === 'embedded' ? 0 : await countOtherConnections(db);
  if (others > 0)
    throw new TargetError(
      `The database is in use: Tipline has ${others} other connections to it. Stop all servers, workers and commands first.`,
    );
  const hasStore = (await lastMigration(db)) !== null;
  if (hasStore && !replace) throw new TargetError('The database has a store already.');
  const foreign = replace ? (await findForeignObjects(db)).join(', ') : '';
  if (foreign !== '')
    throw new TargetError(
      hasStore
        ? `The database also has objects that are not of this version of Tipline and would be deleted or lose parts (${foreign}): remove them, or use another database.`
        : `The database has no store that could be replaced, but objects that are not of this version of Tipline (${foreign}): use another database, or restore without --replace.`,
    );
  return hasStore;
}

/** Returns, by kind and name, what would be deleted with the store, or lose a part, though no migration has created it. */
async function findForeignObjects(db: Session['db']): Promise<string[]> {
  const foreign: string[] = [];
  for (const kind of ['table', 'sequence', 'function', 'type'] as const) {
    const known = await migratedNames(kind);
    for (const { name, signature } of await findObjects(db, kind))
      if (!known.has(name) && !MIGRATION_TABLES.includes(name)) foreign.push(`${kind} ${signature}`);
  }
  return [...foreign, ...(await findDependents(db))];
}
