import { sql, type Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import { keysetPages } from '../db/expressions.ts';
import { recordset, uuidArray } from '../db/recordset.ts';
import { withRevision } from '../db/revision/revision.ts';
import type { Tables } from '../db/tables.ts';
import { REFERENCE_COLUMNS, type Relationship } from '../entities/resolution/relationships.queries.ts';
import type { EntityKind, Tlp } from '../model/vocabulary.ts';

/**
 * Undo data of imports, by object: the row of the import's source before the import first changed it. An import that
 * restates an object which an earlier import has changed is recorded too: it inherits the undo data of the earlier
 * import if that is undone. The run of a feed cannot be undone: it deletes the undo data of the objects that it states.
 */

/** The number of days for which imports can be undone. */
export const UNDO_DAYS = 30;

/** The writer of a transaction, for its undo data. */
export interface UndoWriter {
  source: { id: string; name: string };
  /** The id of an import; null: the run of a feed. */
  runId: string | null;
  /** The revision of the transaction. */
  revision: number;
}

/** Returns whether other imports of a source can be undone: if so, restatements must be recorded. */
export async function hasUndoable(db: Db, source: { name: string }, runId: string | null): Promise<boolean> {
  return (await undoableRuns(db, source)).some(({ id }) => id !== runId);
}

async function undoableRuns(db: Db, { name }: { name: string }): Promise<{ id: string; number: number }[]> {
  return db
    .selectFrom('import_run')
    .select(['id', 'number'])
    .where('source', '=', name)
    .where('keeps_changes', '=', true)
    .execute();
}

/** @returns the number of the import that writes, and those of the other imports of its source that can be undone */
async function runNumbers(
  trx: Transaction<Tables>,
  { source, runId }: UndoWriter,
): Promise<{ own: number | undefined; others: number[] }> {
  const undoable = await undoableRuns(trx, source);
  const numbers = (runs: typeof undoable) => runs.map(({ number }) => number);
  return {
    own: undoable.find(({ id }) => id === runId)?.number,
    others: numbers(undoable.filter(({ id }) => id !== runId)),
  };
}

/** The objects of a batch. */
export interface BatchObjects {
  /** Ids of the objects whose statement changes. */
  changed: readonly string[];
  /** Ids of the changed objects of which the source has no statement yet. Absent: not determined. */
  added?: readonly string[];
  /** Ids of all objects. */
  objectIds: readonly string[];
}

/**
 * Stores the undo data of a batch. Must be called in the transaction that writes the batch, before it writes. Objects whose undo data
 * are only their ids are stored together, as one row of `import_batch`.
 */
export async function recordObjectChanges(
  trx: Transaction<Tables>,
  keeper: UndoWriter,
  kind: EntityKind,
  { changed, added = [], objectIds }: BatchObjects,
): Promise<void> {
  const { own, others } = await runNumbers(trx, keeper);
  if (own === undefined) {
    if (others.length === 0) return;
    while (await expandBatch(trx, keeper.source));
    await sql`
      delete from import_change where object_id = any(${idsOf(objectIds)}) and run = any(${others}::integer[])
    `.execute(trx);
    return;
  }
  const before =
    kind === 'indicator'
      ? sql`indicator_source as s where s.indicator_number = (select number from indicator where id = wanted.id)`
      : sql`entity_source as s where s.entity_kind = ${kind}::entity_kind and s.object_id = wanted.id`;
  const isAdded = new Set(added);
  const replaced = changed.filter((id) => !isAdded.has(id));
  if (replaced.length > 0) {
    // A subquery instead of a join, for which the planner reads all rows of a source that it has no statistics of yet.
    await sql`
      insert into import_change (object_id, run, kind, changed, revision, before)
      select wanted.id, ${own}::integer, ${kind}::entity_kind, true, ${keeper.revision}::bigint,
        (select to_jsonb(s) from ${before} and s.source_id = ${keeper.source.id}::uuid)
      from unnest(${idsOf(replaced)}) as wanted (id)
      on conflict (object_id, run) do update set changed = true, before = excluded.before where not import_change.changed
    `.execute(trx);
  }
  const append = (isChanged: boolean, ids: readonly string[]) =>
    sql`
      insert into import_batch (source, run, kind, changed, revision, object_ids)
      values (${keeper.source.name}, ${own}::integer, ${kind}::entity_kind, ${isChanged}, ${keeper.revision}::bigint, ${idsOf(ids)})
    `.execute(trx);
  if (added.length > 0) await append(true, added);
  if (others.length > 0) await append(false, objectIds);
}

/** Delists indicators in the undo data of their source's imports, too: undoing one must not list again what the list has dropped since. */
export async function delistInUndoData(
  trx: Transaction<Tables>,
  sourceId: string,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  await sql`
    update import_change set before = before || jsonb_build_object('delisted_at', ${now}::timestamptz)
    where object_id = any(${idsOf(ids)}) and before ->> 'source_id' = ${sourceId} and before ->> 'delisted_at' is null
  `.execute(trx);
}

/** Returns ids as an array, each once. */
const idsOf = (ids: readonly string[]) => uuidArray([...new Set(ids)]);

/**
 * Turns the batches of a source's imports into rows of `import_change`, from which undos are read, in transactions of one batch each.
 */
export async function expandBatches(db: Db, source: { name: string }): Promise<void> {
  const isPending = sql`select from import_batch where source = ${source.name} limit 1`;
  while ((await isPending.execute(db)).rows.length > 0)
    await withRevision(db, (trx) => expandBatch(trx, source));
}

/**
 * Turns the first batch of a source into rows of `import_change`, as if they had been written with the batch. Must be called under the
 * lock of the revision.
 * @returns false: there is none
 */
async function expandBatch(trx: Transaction<Tables>, source: { name: string }): Promise<boolean> {
  const { rows } = await sql<{ number: number; run: number; changed: boolean; revision: number }>`
    select number, run, changed, revision from import_batch where source = ${source.name} order by number limit 1
  `.execute(trx);
  const [batch] = rows;
  if (!batch) return false;
  const others = (await undoableRuns(trx, source))
    .map(({ number }) => number)
    .filter((run) => run !== batch.run);
  const isRestated = sql`exists (select from import_change as c where c.object_id = wanted.id
    and c.run = any(${others}::integer[]) and c.revision <= b.revision)`;
  // A row that the same import wrote for a later batch is of the same object: what was there before the first one counts.
  await sql`
    insert into import_change (object_id, run, kind, changed, revision)
    select wanted.id, b.run, b.kind, b.changed, b.revision
    from import_batch as b, unnest(b.object_ids) as wanted (id)
    where b.number = ${batch.number}::bigint and ${batch.changed ? sql`true` : isRestated}
    on conflict (object_id, run) do update set revision = least(import_change.revision, excluded.revision),
      changed = import_change.changed or excluded.changed,
      before = case when not excluded.changed or import_change.changed and import_change.revision <= excluded.revision
        then import_change.before end
  `.execute(trx);
  await sql`delete from import_batch where number = ${batch.number}::bigint`.execute(trx);
  return true;
}

/** Returns the relationships, each once, as the FROM item `wanted`. */
const wanted = (relationships: readonly Relationship[]) =>
  sql`(select distinct * from ${recordset(relationships, REFERENCE_COLUMNS)}) as wanted`;

const same = (a: string, b: string) =>
  sql.join(
    ['from_id', 'to_id', 'type'].map(
      (column) => sql`${sql.ref(`${a}.${column}`)} = ${sql.ref(`${b}.${column}`)}`,
    ),
    sql` and `,
  );

/** Stores the undo data of relationships, as `recordObjectChanges` does for objects. */
export async function recordRelationshipChanges(
  trx: Transaction<Tables>,
  keeper: UndoWriter,
  changed: readonly Relationship[],
  stated: readonly Relationship[],
): Promise<void> {
  const { own, others } = await runNumbers(trx, keeper);
  if (own === undefined) {
    if (others.length === 0) return;
    await sql`
      delete from import_relationship_change as c using ${wanted(stated)}
      where ${same('c', 'wanted')} and c.run = any(${others}::integer[])
    `.execute(trx);
    return;
  }
  const source = sql`${keeper.source.id}::uuid`;
  if (changed.length > 0) {
    await sql`
      insert into import_relationship_change (from_id, to_id, type, from_kind, to_kind, run, source_id, changed, revision,
        before)
      select wanted.*, ${own}::integer, ${source}, true, ${keeper.revision}::bigint, r.tlp
      from ${wanted(changed)} left join relationship as r on ${same('r', 'wanted')} and r.source_id = ${source}
      on conflict (from_id, to_id, type, run) do update set changed = true, before = excluded.before
        where not import_relationship_change.changed
    `.execute(trx);
  }
  if (others.length === 0) return;
  await sql`
    insert into import_relationship_change (from_id, to_id, type, from_kind, to_kind, run, source_id, changed, revision)
    select distinct wanted.*, ${own}::integer, ${source}, false, ${keeper.revision}::bigint
    from ${wanted(stated)} join import_relationship_change as c on ${same('c', 'wanted')}
    where c.run = any(${others}::integer[])
    on conflict do nothing
  `.execute(trx);
}

/** The number of an import that is undone, and those of the other imports of its source that can be undone. */
export interface UndoneRun {
  source: { name: string };
  number: number;
  others: number[];
}

/** @returns undefined: the import has no undo data */
export async function findUndone(
  db: Db,
  run: { id: string; source: string },
): Promise<UndoneRun | undefined> {
  const undoable = await undoableRuns(db, { name: run.source });
  const own = undoable.find(({ id }) => id === run.id);
  return (
    own && {
      source: { name: run.source },
      number: own.number,
      others: undoable.filter(({ id }) => id !== run.id).map(({ number }) => number),
    }
  );
}

export interface ChangedObject {
  id: string;
  /** The row that was replaced; null: there was none. */
  before: Record<string, unknown> | null;
}

/**
 * Returns an expression for the first import that has restated an object after an import. An import that only restated
 * objects has the revision of the last change before it, so at the same revision the one that changed the object is first.
 */
const restatingRun = (table: string, isSame: ReturnType<typeof sql>, others: readonly number[]) => sql`(
  select later.run from ${sql.table(table)} as later
  where ${isSame} and later.run = any(${others}::integer[]) and later.revision >= c.revision
  order by later.revision, later.changed desc limit 1)`;

const objectHeir = (others: readonly number[]) =>
  restatingRun('import_change', sql`later.object_id = c.object_id`, others);
const relationshipHeir = (others: readonly number[]) =>
  restatingRun('import_relationship_change', same('later', 'c'), others);

/**
 * Finds the changes of one kind that an import has made and that no later import has restated.
 * @param most the maximum number of objects to read after the id `after`
 */
export async function findChanges(
  db: Db,
  { number, others }: UndoneRun,
  kind: EntityKind,
  after: string,
  most: number,
): Promise<{ changes: ChangedObject[]; last: string | undefined; restated: number }> {
  const { rows } = await sql<ChangedObject & { changed: boolean; heir: number | null }>`
    select c.object_id as id, c.before, c.changed, ${objectHeir(others)} as heir
    from import_change as c
    where c.run = ${number}::integer and c.kind = ${kind}::entity_kind and c.object_id > ${after}::uuid
    order by c.object_id limit ${most}
  `.execute(db);
  return {
    changes: rows.filter(({ changed, heir }) => changed && heir === null),
    last: rows.at(-1)?.id,
    restated: rows.filter(({ changed, heir }) => changed && heir !== null).length,
  };
}

/**
 * Finds changes as `findChanges` does, and deletes their undo data. Undo data of objects that a later import has
 * restated passes to that import.
 */
export async function takeChanges(
  trx: Transaction<Tables>,
  run: UndoneRun,
  kind: EntityKind,
  after: string,
  most: number,
): Promise<{ changes: ChangedObject[]; last: string | undefined; restated: number }> {
  while (await expandBatch(trx, run.source));
  const found = await findChanges(trx, run, kind, after, most);
  if (found.last === undefined) return found;
  const taken = sql`c.run = ${run.number}::integer and c.kind = ${kind}::entity_kind
    and c.object_id > ${after}::uuid and c.object_id <= ${found.last}::uuid`;
  await sql`
    update import_change as heir set changed = true, before = passed.before
    from (select c.object_id, c.before, ${objectHeir(run.others)} as run from import_change as c
      where ${taken} and c.changed) as passed
    where heir.object_id = passed.object_id and heir.run = passed.run
  `.execute(trx);
  await sql`delete from import_change as c where ${taken}`.execute(trx);
  return found;
}

export interface ChangedRelationship extends Omit<Relationship, 'sourceId' | 'tlp'> {
  before: Tlp | null;
}

/** Does the same for relationships, in no particular order. `any`: false when there are no more. */
export async function takeRelationshipChanges(
  trx: Transaction<Tables>,
  { number, others }: UndoneRun,
  most: number,
): Promise<{ changes: ChangedRelationship[]; any: boolean }> {
  const { rows } = await sql<ChangedRelationship & { changed: boolean; heir: number | null }>`
    with taken as (
      select c.*, ${relationshipHeir(others)} as heir from import_relationship_change as c
      where c.run = ${number}::integer limit ${most}
    ), passed as (
      update import_relationship_change as heir set changed = true, before = taken.before from taken
      where ${same('heir', 'taken')} and heir.run = taken.heir and taken.changed
    ), gone as (
      delete from import_relationship_change as c using taken where ${same('c', 'taken')} and c.run = taken.run
    )
    select from_id as "fromId", to_id as "toId", type, from_kind as "fromKind", to_kind as "toKind", before, changed, heir
    from taken
  `.execute(trx);
  return { changes: rows.filter(({ changed, heir }) => changed && heir === null), any: rows.length > 0 };
}

/**
 * Returns how many relationships an undo would restore (`changed`), how many of these it would delete (`gone`), and how
 * many a later import has restated.
 */
export async function countRelationshipChanges(
  db: Db,
  { number, others }: UndoneRun,
): Promise<{ changed: number; gone: number; restated: number }> {
  const { rows } = await sql<{ changed: number; gone: number; restated: number }>`
    select count(*) filter (where heir is null) as changed,
      count(*) filter (where heir is null and before is null) as gone,
      count(*) filter (where heir is not null) as "restated"
    from (
      select c.before, ${relationshipHeir(others)} as heir from import_relationship_change as c
      where c.run = ${number}::integer and c.changed
    ) as change
  `.execute(db);
  return rows[0] ?? { changed: 0, gone: 0, restated: 0 };
}

/** Discards the undo data of a source's imports: they can no longer be undone, and undos in progress end. */
export async function discardUndoData(trx: Transaction<Tables>, source: { name: string }): Promise<void> {
  const imports = trx.updateTable('import_run').where('source', '=', source.name);
  await imports.set({ keeps_changes: false }).execute();
  await imports.set({ undo: 'done' }).where('undo', '=', 'running').execute();
}

const DELETE_BATCH = 5_000;

/**
 * Deletes, in batches, the undo data of imports that can no longer be undone: because they are undone, too old or of a
 * removed source.
 */
export async function deleteOldUndoData(db: Db, now: Date, stopped: () => boolean): Promise<void> {
  await sql`
    update import_run set keeps_changes = false
    where keeps_changes and undo is distinct from 'running'
      and (undo = 'done' or started_at < ${now}::timestamptz - make_interval(days => ${UNDO_DAYS}))
  `.execute(db);
  const undoable = sql`(select number from import_run where keeps_changes)`;
  await sql`delete from import_batch where run not in ${undoable}`.execute(db);
  for (const [table, key] of [
    ['import_change', 'object_id'],
    ['import_relationship_change', 'from_id'],
  ] as const) {
    const id = sql.ref(key);
    // By ctid: PostgreSQL estimates joins of the page wrongly, and would read the whole table for each.
    const deletePage = async (after: string) => {
      const { rows } = await sql<{ last: string | null }>`
        with page as (select ctid, ${id} as id, run from ${sql.table(table)} where ${id} > ${after}::uuid
          order by ${id} fetch first ${sql.lit(DELETE_BATCH)} rows with ties
        ), gone as (
          delete from ${sql.table(table)}
          where ctid = any (array(select ctid from page where run not in ${undoable}))
        )
        select max(id::text) as last from page
      `.execute(db);
      return rows[0]?.last ?? undefined;
    };
    for await (const _ of keysetPages(deletePage, (last) => last)) if (stopped()) return;
  }
}
