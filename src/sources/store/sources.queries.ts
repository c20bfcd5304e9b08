import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { withRevision } from '../../db/revision/revision.ts';
import type { Tables } from '../../db/tables.ts';
import { uuidv5 } from '../../model/identity.ts';
import type { Lifetimes, SourceDefaults, StatingSource } from '../../model/statement.ts';

/** The namespace of source ids: they derive from names, so that a source has the same id on every installation. */
const SOURCE_NAMESPACE = '6f0f5d0e-6c0b-4c55-9d3b-4f1f6b6a0c3e';

export type Source = StatingSource;

export const sourceId = (name: string) => uuidv5(name, SOURCE_NAMESPACE);

export function newSource(id: string, name: string, defaults: SourceDefaults): Source {
  return { id, name, defaults, lifetimes: {}, isSnapshotList: false };
}

/** Thrown when nothing can be imported into a source now; the message states the reason. */
export class SourceUnavailable extends Error {
  override name = 'SourceUnavailable';
}

/**
 * Returns the source with this name. If it does not exist or was removed, it is created with the given defaults; an
 * existing one retains its own.
 * @throws {SourceUnavailable} while the source is being removed
 */
export async function ensureSource(
  db: Db,
  name: string,
  kind: string,
  defaults: SourceDefaults,
  now: Date,
): Promise<Source> {
  const id = sourceId(name);
  const set = {
    kind,
    default_tlp: defaults.tlp,
    default_confidence: defaults.confidence,
    default_severity: defaults.severity,
  };
  await db
    .insertInto('source')
    .values({ id, name, created_at: now, ...set })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ ...set, removal: null })
        .where('source.removal', '=', 'done'),
    )
    .execute();
  const source = await findSource(db, name);
  if (!source)
    throw new SourceUnavailable(`The source "${name}" is being removed. Wait for the end of that.`);
  return source;
}

const FOREIGN_KEY_VIOLATION = '23503';

/**
 * Deletes a source unless stored data refers to it, another import into it is running, or it has been set up as a feed.
 * @param runId the import that created the source
 */
export async function dropUnusedSource(db: Db, id: string, runId: string | null): Promise<void> {
  try {
    // Under the lock of the revision, so that no writer adds rows that refer to it.
    await withRevision(db, (trx) =>
      sql`
        delete from source where id = ${id}::uuid and address is null and not exists (
          select from import_run where import_run.source = source.name and not dry_run
            and state = 'running' and import_run.id is distinct from ${runId}::uuid)
      `.execute(trx),
    );
  } catch (error) {
    if ((error as { code?: string }).code !== FOREIGN_KEY_VIOLATION) throw error;
  }
}

const COLUMNS = [
  'id',
  'name',
  'default_tlp',
  'default_confidence',
  'default_severity',
  'lifetimes',
  'is_snapshot_list',
] as const;

/**
 * Makes the next run of a list read its copy also if that has not changed: an import of files or its undo may have added members that the
 * copy does not have.
 */
export async function forgetLastCopy(db: Db, id: string): Promise<void> {
  await db
    .updateTable('source')
    .set({ memory: '{}' })
    .where('id', '=', id)
    .where('is_snapshot_list', '=', true)
    .execute();
}

export async function findSource(db: Db, name: string): Promise<Source | undefined> {
  const row = await db
    .selectFrom('source')
    .select(COLUMNS)
    .where('name', '=', name)
    .where('removal', 'is', null)
    .executeTakeFirst();
  return row && toSource(row);
}

/** Returns the existing sources among these ids, by id. */
export async function loadSources(db: Db, ids: Iterable<string>): Promise<Map<string, Source>> {
  const rows = await db
    .selectFrom('source')
    .select(COLUMNS)
    .where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
    .execute();
  return new Map(rows.map((row) => [row.id, toSource(row)]));
}

type SourceRow = Pick<
  Tables['source'],
  'id' | 'name' | 'default_tlp' | 'default_confidence' | 'default_severity'
> & { lifetimes: Lifetimes; is_snapshot_list: boolean };

function toSource(row: SourceRow): Source {
  return {
    id: row.id,
    name: row.name,
    defaults: { tlp: row.default_tlp, confidence: row.default_confidence, severity: row.default_severity },
    lifetimes: row.lifetimes,
    isSnapshotList: row.is_snapshot_list,
  };
}
