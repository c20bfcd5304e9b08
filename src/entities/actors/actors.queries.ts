import { type Selectable, type SqlBool, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Db } from '../../db/database.ts';
import type { PageRequest, Parent } from '../../db/expressions.ts';
import {
  actorActive,
  campaignStatus,
  caseInsensitive,
  likeContains,
  linkedFrom,
  linkedTo,
} from '../../db/expressions.ts';
import type { Tables } from '../../db/tables.ts';
import { type Principal, visibleFrom } from '../../db/visibility.ts';
import {
  type EntityPage,
  linkedReports,
  linkedSoftware,
  linkedTechniques,
  listEntities,
} from '../entities.queries.ts';
import type { EntityFeed } from '../entity-changes.queries.ts';

const COLUMNS = [
  'id',
  'name',
  'attack_group_id',
  'country',
  'motivation',
  'sophistication',
  'confidence',
  'tlp',
  'aliases',
] as const;

export type ActorRow = Pick<Selectable<Tables['actor']>, (typeof COLUMNS)[number]> & { active: boolean };

interface ActorFilters {
  active?: boolean;
  q?: string;
  uses?: string;
  /** Only these. */
  ids?: readonly string[];
  /** Linked to this campaign. */
  parent?: Parent;
}

function conditionsOf({ active, q, uses, ids }: ActorFilters, principal: Principal) {
  return [
    active !== undefined && sql<SqlBool>`${actorActive(principal.now)} = ${active}`,
    q !== undefined && named(q),
    uses !== undefined && using(uses, principal),
    ids !== undefined && sql<SqlBool>`actor.id = any(${[...ids]}::uuid[])`,
  ].filter((condition) => condition !== false);
}

export const ACTOR_FEED: EntityFeed<Pick<ActorFilters, 'active'>> = {
  table: 'actor',
  conditions: conditionsOf,
  timed: actorActive,
};

/** Returns a page of the actors by name, and their total. */
export async function listActors(
  db: Db,
  principal: Principal,
  filters: ActorFilters,
  page: PageRequest,
): Promise<EntityPage<ActorRow>> {
  const conditions = conditionsOf(filters, principal);
  const computed = [sql`${actorActive(principal.now)} as active`];
  const order = caseInsensitive('actor.name');
  const { parent } = filters;
  return listEntities(
    db,
    principal,
    { table: 'actor', columns: COLUMNS, computed, conditions, order, parent },
    page,
  );
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
  return visibleFrom(db, 'actor', principal)
    .select([
      sql<number>`(select count(*) from indicator where ${linkedTo('actor', 'indicator', principal)})`.as(
        'indicatorCount',
      ),
      jsonArrayFrom(
        db
          .selectFrom('campaign')
          .select(['campaign.id', 'campaign.name', campaignStatus(principal.now).as('status')])
          .where(linkedTo('actor', 'campaign', principal))
          .orderBy(caseInsensitive('campaign.name'))
          .orderBy('campaign.id'),
      ).as('campaigns'),
      linkedReports(db, 'actor', principal),
    ])
    .where('actor.id', '=', id)
    .executeTakeFirst();
}

/** Returns the actor with the visible techniques and software that it uses, from one snapshot. */
export async function findActor(db: Db, principal: Principal, id: string) {
  return visibleFrom(db, 'actor', principal)
    .select(COLUMNS)
    .select(['description', 'target_sectors', 'target_countries', 'first_seen', 'last_seen'])
    .select(actorActive(principal.now).as('active'))
    .select([linkedTechniques(db, 'actor', principal), linkedSoftware(db, 'actor', principal)])
    .where('actor.id', '=', id)
    .executeTakeFirst();
}
