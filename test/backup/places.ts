import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { openStoreIn, replaceStore, withLock } from '../../src/backup/data-directory.ts';
import { withEmbeddedCopy } from '../../src/backup/embedded-copy.ts';
import { type LoadOptions, loadStore } from '../../src/backup/load-store.ts';
import { type StoreSnapshot, withStoreSnapshot } from '../../src/backup/write-backup.ts';
import type { Database } from '../../src/db/database.ts';
import { openEmbeddedSession } from '../../src/db/embedded/embedded-session.ts';
import { PGDATA } from '../../src/db/embedded/lock.ts';
import { openDatabase } from '../../src/db/open.ts';
import { openPostgresSession } from '../../src/db/postgres/postgres-session.ts';
import type { Session } from '../../src/db/session.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { checkStatement } from '../support/executed-statements.ts';
import { freshDatabase, hasPostgres } from '../support/postgres-nodes.ts';

/** A place for a store, with the functions that the commands are made of. */
export interface Place {
  /** The data directory, or the URL of the database. */
  at: string;
  /** Opens the store as a server does, and makes it if there is none. */
  open(): Promise<Database>;
  /** Reads the store as a backup does, while it may be open. */
  read<T>(open: Database, use: (snapshot: StoreSnapshot) => Promise<T>): Promise<T>;
  load(snapshot: StoreSnapshot, options: LoadOptions): Promise<void>;
  /** Whether there is nothing: neither a store nor parts of one. */
  isEmpty(): Promise<boolean>;
  /** Returns what a restore that failed has left beside the store. */
  leftovers(): Promise<string[]>;
  /** Runs `use` with a connection to the store, which nobody else has. */
  withSession<T>(use: (session: Session) => Promise<T>): Promise<T>;
}

export const SECRET = 'a secret of the tests, long enough';
/** The time of snapshots. */
export const TAKEN = { secret: SECRET, now: new Date('2026-06-01T13:00:00.000Z') };

async function embedded(): Promise<Place> {
  const directory = temporaryDirectory();
  return {
    at: directory,
    open: () => {
      // Making a store takes seconds, copying one does not.
      if (!existsSync(join(directory, PGDATA)))
        cpSync(inject('emptyStore').directory ?? '', directory, { recursive: true });
      return openDatabase({
        url: undefined,
        dataDirectory: directory,
        allowRemote: false,
        onIdleError: () => {},
      });
    },
    read: ({ db }, use) =>
      withEmbeddedCopy(db, directory, async (pgdata) => {
        const session = await openEmbeddedSession(pgdata);
        return withStoreSnapshot(session, TAKEN, use).finally(() => session.close());
      }),
    load: (snapshot, options) =>
      withLock(directory, () =>
        replaceStore(
          directory,
          { indicators: snapshot.manifest.indicators, secret: null, replace: options.replace },
          (session) => loadStore(session, snapshot, options),
        ),
      ),
    isEmpty: async () => readdirSync(directory).length === 0,
    leftovers: async () => readdirSync(directory).filter((name) => !['pgdata', 'secret'].includes(name)),
    withSession: (use) =>
      withLock(directory, async () => {
        const session = await openStoreIn(directory);
        return use(session).finally(() => session.close());
      }),
  };
}

async function postgres(): Promise<Place> {
  const { url } = await freshDatabase();
  const withSession = async <T>(use: (session: Session) => Promise<T>) => {
    const session = await openPostgresSession(url, 'tipline test');
    return use(session).finally(() => session.close());
  };
  return {
    at: url,
    open: () =>
      openDatabase({
        url,
        dataDirectory: '',
        allowRemote: false,
        onIdleError: () => {},
        log: checkStatement,
      }),
    read: (_, use) => withSession((session) => withStoreSnapshot(session, TAKEN, use)),
    load: (snapshot, options) => withSession((session) => loadStore(session, snapshot, options)),
    isEmpty: () => withSession(async ({ db }) => (await db.introspection.getTables()).length === 0),
    leftovers: () =>
      withSession(async ({ db }) => {
        const schemas = await db.introspection.getSchemas();
        return schemas.map(({ name }) => name).filter((name) => name.startsWith('tipline'));
      }),
    withSession,
  };
}

/** The engines that are here, with a function that makes a new place. */
export const PLACES: [string, () => Promise<Place>][] = [
  ['embedded', embedded],
  ...(hasPostgres ? [['postgresql', postgres] as [string, () => Promise<Place>]] : []),
];

export const file = (name: string) => join(temporaryDirectory(), name);
