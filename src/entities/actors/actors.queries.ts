import { type Selectable, type SqlBool, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { caseInsensitive } from '../../db/case-insensitive.ts';
import type { Db } from '../../db/database.ts';
import { likeContains } from '../../db/like-contains.ts';
import { linkedFrom, linkedTo } from '../../db/linked.ts';
import type { PageRequest } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import { actorActive, campaignStatus } from '../../db/time-rules.ts';
import { type Principal, visible } from '../../db/visibility.ts';

const COLUMNS = [
  'actor.id',
  'actor.name',
  'actor.attack_group_id',
  'actor.country',
  'actor.motivation',
  'actor.sophistication',
  'actor.confidence',
  'actor.tlp',
  'actor.aliases',
] as const;

export type ActorRow = Pick<
  Selectable<Tables['actor']>,
  | 'id'
  | 'name'
  | 'attack_group_id'
  | 'country'
  | 'motivation'
  | 'sophistication'
  | 'confidence'
  | 'tlp'
  | 'aliases'
> & { active: boolean };

const byName = caseInsensitive('actor.name');

/** Returns a page of the actors by name, and their total, from one snapshot. */
export async function listActors(
  db: Db,
  principal: Principal,
  filters: { active?: boolean; q?: string; uses?: string },
  { page, pageSize }: PageRequest,
): Promise<{ total: number; rows: ActorRow[] }> {
  let matching = db.selectFrom('actor').where(visible('actor', principal));
  if (filters.active !== undefined)
    matching = matching.where(actorActive(principal.now), '=', filters.active);
  if (filters.q !== undefined) matching = matching.where(named(filters.q));
  if (filters.uses !== undefined) matching = matching.where(using(filters.uses, principal));
  const ids = matching
    .select('actor.id')
    .orderBy(byName)
    .orderBy('actor.id')
    .limit(pageSize)
    .offset((page - 1) * pageSize);
  const rows = await db
    .selectFrom(matching.select(({ fn }) => fn.countAll<number>().as('total')).as('t'))
    .leftJoin(ids.as('p'), (join) => join.onTrue())
    .leftJoin('actor', 'actor.id', 'p.id')
    .select('t.total')
    .select(COLUMNS)
    .select(actorActive(principal.now).as('active'))
    .orderBy(byName)
    .orderBy('actor.id')
    .execute();
  return {
    total: rows[0]?.total ?? 0,
    rows: rows.filter((row): row is typeof row & ActorRow => row.id !== null),
  };
}

/** Returns the condition that the name, an alias or the ATT&CK id of an actor contains the text. */
function named(text: string) {
  const pattern = likeContains(text);
  return sql<SqlBool>`(actor.name ilike ${pattern} or actor.attack_group_id ilike ${pattern}
    or exists (select from jsonb_array_elements(actor.aliases) as other where other->>'alias' ilike ${pattern}))`;
}

/** Returns the condition that an actor uses a technique or software of this name or ATT&CK id, ignoring case. */
function using(what: string, principal: Principal) {
  const used = (kind: 'technique' | 'software') =>
    sql<SqlBool>`exists (select from ${sql.table(kind)} where ${linkedFrom('actor', kind, principal)}
      and lower(${what}) in (lower(${sql.ref(`${kind}.name`)}), lower(${sql.ref(`${kind}.attack_id`)})))`;
  return sql<SqlBool>`(${used('technique')} or ${used('software')})`;
}

/** Returns the visible objects, and the number of visible indicators, that are linked to an actor. */
export async function findActorLinks(db: Db, principal: Principal, id: string) {
  return db
    .selectFrom('actor')
    .select((eb) => [
      sql<number>`(select count(*) from indicator where ${linkedTo('actor', 'indicator', principal)})`.as(
        'indicatorCount',
      ),
      jsonArrayFrom(
        eb
          .selectFrom('campaign')
          .select(['campaign.id', 'campaign.name', campaignStatus(principal.now).as('status')])
          .where(linkedTo('actor', 'campaign', principal))
          .orderBy(caseInsensitive('campaign.name'))
          .orderBy('campaign.id'),
      ).as('campaigns'),
      jsonArrayFrom(
        eb
          .selectFrom('report')
          .select(['report.id', 'report.title', 'report.url', 'report.published_at as publishedAt'])
          .where(linkedTo('actor', 'report', principal))
          .orderBy('report.published_at', (order) => order.desc().nullsLast())
          .orderBy('report.id')
          .limit(MAX_REPORTS),
      ).as('reports'),
    ])
    .where('actor.id', '=', id)
    .where(visible('actor', principal))
    .executeTakeFirst();
}

/** The maximum number of reports, the latest ones, on an actor's page. More are of no use to a reader. */
const MAX_REPORTS = 50;

/** Returns the actor with the visible techniques and software that it uses, from one snapshot. */
export async function findActor(db: Db, principal: Principal, id: string) {
  return db
    .selectFrom('actor')
    .select(COLUMNS)
    .select(['actor.description', 'actor.target_sectors', 'actor.target_countries'])
    .select(['actor.first_seen', 'actor.last_seen', actorActive(principal.now).as('active')])
    .select((eb) => [
      jsonArrayFrom(
        eb
          .selectFrom('technique')
          .select(['technique.id', 'technique.attack_id', 'technique.name', 'technique.tactics'])
          .where(linkedFrom('actor', 'technique', principal))
          .orderBy(caseInsensitive('technique.attack_id'))
          .orderBy('technique.id'),
      ).as('techniques'),
      jsonArrayFrom(
        eb
          .selectFrom('software')
          .select(['software.id', 'software.attack_id', 'software.name', 'software.software_type'])
          .where(linkedFrom('actor', 'software', principal))
          .orderBy(caseInsensitive('software.name'))
          .orderBy('software.id'),
      ).as('software'),
    ])
    .where('actor.id', '=', id)
    .where(visible('actor', principal))
    .executeTakeFirst();
}
