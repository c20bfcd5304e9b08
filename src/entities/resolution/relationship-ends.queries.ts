import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import type { EntityKind } from '../../model/vocabulary.ts';

/** Where the ends of relationships go that stand at an entity whose objects have parted or joined others. */
export interface EndMove {
  oldId: string;
  /** Of what this source says; null: of all others. */
  sourceId: string | null;
  /** May be `oldId`: then they stay. */
  newId: string;
}

/** Moves the ends at entities of a kind. What two relationships of a source become one is told to the fewer. */
export async function moveEnds(
  trx: Transaction<Tables>,
  kind: EntityKind,
  moves: readonly EndMove[],
  revision: number,
): Promise<void> {
  if (moves.every(({ oldId, newId }) => oldId === newId)) return;
  for (const end of ['from', 'to'] as const) {
    await moveEnd(trx, kind, end, moves, revision);
    await moveEndOfChanges(trx, kind, end, moves);
  }
}

async function moveEnd(
  trx: Transaction<Tables>,
  kind: EntityKind,
  end: 'from' | 'to',
  moves: readonly EndMove[],
  revision: number,
): Promise<void> {
  const moved = await takeMoved(trx, 'relationship', kind, end, moves);
  if (moved === null) return;
  await sql`
    insert into relationship (from_id, to_id, type, from_kind, to_kind, tlp, source_id, revision)
    select from_id, to_id, type, from_kind, to_kind, max(tlp), source_id, ${revision}::bigint
    from jsonb_to_recordset(${moved}::jsonb) as x (from_id uuid, to_id uuid, type relationship_type, from_kind entity_kind, to_kind entity_kind, tlp tlp, source_id uuid)
    where from_id <> to_id
    group by from_id, to_id, type, from_kind, to_kind, source_id
    on conflict (from_id, to_id, type, source_id) do update
      set tlp = greatest(relationship.tlp, excluded.tlp), revision = excluded.revision
  `.execute(trx);
}

/** What an import said before of what one relationship has become: the marking that is told to the fewer. */
async function moveEndOfChanges(
  trx: Transaction<Tables>,
  kind: EntityKind,
  end: 'from' | 'to',
  moves: readonly EndMove[],
): Promise<void> {
  const moved = await takeMoved(trx, 'import_relationship_change', kind, end, moves);
  if (moved === null) return;
  await sql`
    insert into import_relationship_change as c (from_id, to_id, type, run, source_id, from_kind, to_kind, changed, revision,
      before)
    select from_id, to_id, type, run, source_id, from_kind, to_kind, bool_or(changed), min(revision), max(before)
    from jsonb_to_recordset(${moved}::jsonb) as x (from_id uuid, to_id uuid, type relationship_type, run integer,
      source_id uuid, from_kind entity_kind, to_kind entity_kind, changed boolean, revision bigint, before tlp)
    where from_id <> to_id
    group by from_id, to_id, type, run, source_id, from_kind, to_kind
    on conflict (from_id, to_id, type, run) do update set changed = c.changed or excluded.changed,
      before = greatest(c.before, excluded.before)
  `.execute(trx);
}

/**
 * Takes the rows out whose end moves; they are put back then: what goes from one entity to a second must not meet what
 * leaves the second.
 * @returns the rows with their new end, as a JSON list; null: there are none
 */
async function takeMoved(
  trx: Transaction<Tables>,
  table: 'relationship' | 'import_relationship_change',
  kind: EntityKind,
  end: 'from' | 'to',
  moves: readonly EndMove[],
): Promise<string | null> {
  const [id, ofKind] = [sql.ref(`r.${end}_id`), sql.ref(`r.${end}_kind`)];
  const rows = moves.map(({ oldId, sourceId, newId }) => ({
    old_id: oldId,
    source_id: sourceId,
    new_id: newId,
  }));
  const moved = await sql<{ moved: unknown }>`
    with move as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (old_id uuid, source_id uuid, new_id uuid)
    )
    delete from ${sql.table(table)} as r using move
    where ${id} = move.old_id and ${ofKind} = ${kind}::entity_kind and move.new_id <> move.old_id
      and (r.source_id = move.source_id or (move.source_id is null and not exists (
        select from move as own where own.old_id = move.old_id and own.source_id = r.source_id)))
    returning to_jsonb(r) || jsonb_build_object(${sql.lit(`${end}_id`)}::text, move.new_id) as moved
  `.execute(trx);
  return moved.rows.length === 0 ? null : JSON.stringify(moved.rows.map((row) => row.moved));
}
