import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { visible } from '../db/visibility.ts';
import type { UsedTechnique } from '../entities/navigator/navigator.mappers.ts';
import type { ExportRequest } from '../exports/exports.service.ts';
import { selected, written } from '../exports/selection.queries.ts';

/** Returns the visible techniques of the actors and campaigns that are linked to the indicators of an export. */
export async function findExportedTechniques(
  db: Db,
  { selection, format }: Pick<ExportRequest, 'selection' | 'format'>,
): Promise<UsedTechnique[]> {
  const { principal } = selection;
  const indicators = written(selected(db, selection), format).select('indicator.id');
  const users = (kind: 'actor' | 'campaign') => sql`
    select ${sql.ref(`${kind}.id`)}, ${sql.ref(`${kind}.name`)} from ${sql.table(kind)}
    where ${visible(kind, principal)} and exists (
      select from relationship as i where i.to_id = ${sql.ref(`${kind}.id`)} and i.to_kind = ${kind}
        and i.from_kind = 'indicator' and ${visible('relationship', principal, 'i')} and i.from_id in (${indicators}))`;
  const { rows } = await sql<UsedTechnique>`
    with entity as (${users('actor')} union all ${users('campaign')})
    select technique.attack_id as "attackId", technique.tactics,
      (select json_agg(json_build_object('id', entity.id, 'name', entity.name)) from entity where entity.id in (
        select u.from_id from relationship as u where u.to_id = technique.id and u.to_kind = 'technique'
          and u.from_kind in ('actor', 'campaign') and ${visible('relationship', principal, 'u')})) as users
    from technique where ${visible('technique', principal)} and technique.id in (
      select r.to_id from relationship as r join entity on entity.id = r.from_id
      where r.to_kind = 'technique' and r.from_kind in ('actor', 'campaign') and ${visible('relationship', principal, 'r')})
    order by technique.attack_id, technique.id
  `.execute(db);
  return rows;
}
