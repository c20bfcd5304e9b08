import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { type Column, recordset, uuidArray } from '../../db/recordset.ts';
import type { RecordVersion } from '../../model/source-record.ts';

/** An indicator of which a source has stated a record. */
export interface RecordHolder {
  recordId: string;
  /** The id of the indicator. */
  id: string;
  /** The time of its version of the record; ISO 8601. */
  statedAt: string;
  /** Whether the version that is stated now changes nothing about it. */
  isSettled: boolean;
}

const COLUMNS: Record<string, Column<RecordVersion>> = {
  record_id: ['text', ({ id }) => id],
  stated_at: ['text', ({ statedAt }) => statedAt],
  withdrawn: ['boolean', ({ withdrawn }) => withdrawn],
};

/**
 * Finds the indicators of which a source has stated these records, other than those that state them now. Indicators that hold the same
 * version of a record are left out: a pattern may give more of them than one batch holds.
 * @param latest the version of each record, by its id
 * @param indicators the ids of the indicators that are stated with it now
 */
export async function findOtherHolders(
  db: Db,
  sourceId: string,
  {
    latest,
    indicators,
  }: Record<'latest', ReadonlyMap<string, RecordVersion>> &
    Record<'indicators', ReadonlyMap<string, ReadonlySet<string>>>,
): Promise<RecordHolder[]> {
  if (latest.size === 0) return [];
  const stating = [...indicators].flatMap(([recordId, ids]) => [...ids].map((id) => ({ recordId, id })));
  const recordIds = stating.map(({ recordId }) => recordId);
  const ids = stating.map(({ id }) => id);
  const { rows } = await sql<RecordHolder>`
    select other.record_id as "recordId", other.id, said.stated_at as "statedAt", case when other.withdrawn
      then said.withdrawn and said.stated_at = other.stated_at
      else said.hidden and not said.withdrawn and said.stated_at < other.stated_at collate "C" end as "isSettled"
    from (
      select x.*, held.id from ${recordset([...latest.values()], COLUMNS)},
        lateral (select entity_id as id from external_id where external_id = x.record_id and entity_kind = 'indicator' offset 0) as held
      where not exists (
        select from unnest(${recordIds}::text[], ${uuidArray(ids)}) as stating (record_id, id)
        where stating.record_id = x.record_id and stating.id = held.id)
      offset 0
    ) as other, lateral (
      select record ->> 'statedAt' as stated_at, record -> 'withdrawn' is not null as hidden,
        record -> 'withdrawn' is not null and record -> 'replaced' is null as withdrawn
      from indicator_source as s, jsonb_array_elements(s.records) as record
      where s.indicator_number = (select number from indicator where id = other.id) and s.source_id = ${sourceId}::uuid
        and record ->> 'id' = other.record_id and record ->> 'statedAt' is not null
      offset 0
    ) as said
    where other.withdrawn or said.hidden or said.stated_at <> other.stated_at
  `.execute(db);
  return rows;
}
