import { type SqlBool, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { dateOfChange, revisionTimeOfChange } from '../db/revision/change-dates.ts';
import { type Principal, visible } from '../db/visibility.ts';
import type { EntityKind, IndicatorType, RelationshipType, Tlp } from '../model/vocabulary.ts';
import { inRange, type Lifetime } from './entities.queries.ts';
import { type Held, isHeld, type Places } from './objects.queries.ts';

/** The two ends of relationships. */
export interface Pair {
  fromId: string;
  /** Both indexes of relationships begin with one end and the kind of the other, or with both ends. */
  fromKind: EntityKind;
  toId: string;
}

/** A change of the relationships between two ends. */
export interface PairChange extends Pair {
  /** Its number. */
  place: number;
  /** The time of its first object, in microseconds since 1970. */
  date: number;
  /** When the relationships were modified, in milliseconds since 1970. */
  modified: number;
  /** The last change of the visible ones; null: there are none. */
  visiblePlace: number | null;
  /** The last change of all, also of hidden and deleted ones. */
  lastPlace: number;
  /** The visible ones: each type with the least restrictive marking of its statements. */
  links: Partial<Record<RelationshipType, Tlp>>;
}

/** Must equal the condition of the index `relationship_change_number`. */
const IS_LISTED = sql.raw(`r.from_kind in ('indicator', 'actor', 'campaign', 'technique', 'software')
  and r.to_kind in ('actor', 'campaign', 'technique', 'software')`);

/**
 * Returns the first changes of relationships in a range, in order.
 * @param among null: all
 * @param withHidden whether also of those that are hidden or deleted
 */
export async function findPairChanges(
  db: Db,
  principal: Principal,
  among: readonly Pair[] | null,
  places: Places,
  withHidden: boolean,
  most: number,
): Promise<PairChange[]> {
  const wanted = (row: string) =>
    among
      ? sql`and (${sql.ref(`${row}.from_id`)}, ${sql.ref(`${row}.from_kind`)}, ${sql.ref(`${row}.to_id`)}) in (${pairs(among)})`
      : sql``;
  const isVisible = visible('relationship', principal, 'r');
  const current = sql`(select r.from_id, r.from_kind, r.to_id, r.change_number as place from relationship as r
    where ${IS_LISTED} and ${inRange(sql`r.change_number`, places)} ${wanted('r')} and ${withHidden ? sql`true` : isVisible}
    order by r.change_number limit ${most})`;
  const deleted = sql`(select h.from_id, h.from_kind, h.to_id, h.ended_number as place from link_history as h
    where ${inRange(sql`h.ended_number`, places)} ${wanted('h')} order by h.ended_number limit ${most})`;
  const last = withHidden
    ? sql`(select greatest(
        (select max(r.change_number) from relationship as r where ${ofPair('r')} and ${IS_LISTED}),
        (select max(h.ended_number) from link_history as h where ${ofPair('h')})))`
    : sql`shown.place`;
  const { rows } = await sql<PairChange>`
    select pair.from_id as "fromId", pair.from_kind as "fromKind", pair.to_id as "toId", pair.place, ${dateOfChange(sql`pair.place`)} as date,
      ${revisionTimeOfChange(sql`pair.place`)} as modified, shown.place as "visiblePlace", ${last} as "lastPlace",
      coalesce(shown.links, '{}') as links
    from (
      select * from (${current} ${withHidden ? sql`union all ${deleted}` : sql``}) as changed order by place limit ${most}
    ) as pair
    cross join lateral (
      select max(place) as place, jsonb_object_agg(type, tlp) as links from (
        select r.type, min(r.tlp) as tlp, max(r.change_number) as place from relationship as r
        where ${ofPair('r')} and ${IS_LISTED} and ${isVisible} group by r.type
      ) as typed
    ) as shown
    order by pair.place
  `.execute(db);
  return rows;
}

const ofPair = (row: string) => sql<SqlBool>`(${sql.ref(`${row}.from_id`)} = pair.from_id
  and ${sql.ref(`${row}.from_kind`)} = pair.from_kind and ${sql.ref(`${row}.to_id`)} = pair.to_id)`;

const pairs = (among: readonly Pair[]) => sql`
  select * from unnest(${among.map(({ fromId }) => fromId)}::uuid[], ${among.map(({ fromKind }) => fromKind)}::text[]::entity_kind[],
    ${among.map(({ toId }) => toId)}::uuid[]) as pair (from_id, from_kind, to_id)`;

/** A visible state of a relationship of which a client may have got the object. */
export interface LinkState extends Pair, Lifetime {
  type: RelationshipType;
  tlp: Tlp;
}

export async function findLinkStates(
  db: Db,
  principal: Principal,
  among: readonly Pair[],
  held: Held,
): Promise<LinkState[]> {
  const state = (
    row: string,
  ) => sql`${sql.ref(`${row}.from_id`)} as "fromId", ${sql.ref(`${row}.to_id`)} as "toId",
    ${sql.ref(`${row}.type`)} as type, ${sql.ref(`${row}.tlp`)} as tlp`;
  const { rows } = await sql<LinkState>`
    with pair as (${pairs(among)})
    select ${state('r')}, r.revision as "fromRevision", null::bigint as "toRevision"
    from pair join relationship as r on ${ofPair('r')} and ${visible('relationship', principal, 'r')}
    union all
    select ${state('h')}, h.from_revision, h.to_revision
    from pair join link_history as h on ${ofPair('h')} and ${visible('relationship', principal, 'h')} and ${isHeld(held)}
  `.execute(db);
  return rows;
}

/** A visible state of an indicator, as far as its STIX id depends on it. */
export interface IndicatorEnd extends Lifetime {
  kind: 'indicator';
  id: string;
  type: IndicatorType;
  forDetection: boolean;
  tlp: Tlp;
  createdAt: Date;
}

/** Returns visible states of indicators: the current ones and, with `held`, earlier ones of which a client may have got the object. */
export async function findIndicatorEnds(
  db: Db,
  principal: Principal,
  ids: readonly string[],
  held: Held | null,
): Promise<IndicatorEnd[]> {
  const wanted = sql`indicator.id = any(${[...ids]}::uuid[])`;
  const { rows } = await sql<IndicatorEnd>`
    select 'indicator' as kind, indicator.id, indicator.type, indicator.for_detection as "forDetection", indicator.tlp,
      indicator.created_at as "createdAt", indicator.revision as "fromRevision", null::bigint as "toRevision"
    from indicator where ${wanted} and ${visible('indicator', principal)}
  `.execute(db);
  if (held === null) return rows;
  const { rows: earlier } = await sql<IndicatorEnd>`
    select distinct 'indicator' as kind, h.indicator_id as id, indicator.type, h.for_detection as "forDetection", h.tlp,
      indicator.created_at as "createdAt", h.from_revision as "fromRevision", h.to_revision as "toRevision"
    from indicator join indicator_history as h on h.indicator_id = indicator.id
    where ${wanted} and ${isHeld(held)} and ${visible('indicator', principal, 'h')}
  `.execute(db);
  return [...rows, ...earlier];
}
