import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { caseInsensitive } from '../db/case-insensitive.ts';
import type { Db } from '../db/database.ts';
import { linkedFrom, linkedTo } from '../db/linked.ts';
import type { Principal } from '../db/visibility.ts';

type Entity = 'actor' | 'campaign';

/** Selects the visible techniques that an actor or campaign uses, as a JSON array. */
export function linkedTechniques(db: Db, near: Entity, principal: Principal) {
  return jsonArrayFrom(
    db
      .selectFrom('technique')
      .select(['technique.id', 'technique.attack_id as attackId', 'technique.name', 'technique.tactics'])
      .where(linkedFrom(near, 'technique', principal))
      .orderBy(caseInsensitive('technique.attack_id'))
      .orderBy('technique.id'),
  ).as('techniques');
}

/** Selects the visible software that an actor or campaign uses, as a JSON array. */
export function linkedSoftware(db: Db, near: Entity, principal: Principal) {
  return jsonArrayFrom(
    db
      .selectFrom('software')
      .select(['software.id', 'software.attack_id as attackId', 'software.name'])
      .select('software.software_type as type')
      .where(linkedFrom(near, 'software', principal))
      .orderBy(caseInsensitive('software.name'))
      .orderBy('software.id'),
  ).as('software');
}

interface Software {
  id: string;
  attackId: string | null;
  name: string;
  type: 'malware' | 'tool';
}

/** Splits software into malware and tools, as the API lists them. */
export function malwareAndTools(software: readonly Software[]) {
  const ofType = (wanted: Software['type']) =>
    software.filter(({ type }) => type === wanted).map(({ type: _, ...one }) => one);
  return { malware: ofType('malware'), tools: ofType('tool') };
}

/** The maximum number of linked reports, the latest ones. More are of no use to a reader. */
const MAX_REPORTS = 50;

/** Selects the latest visible reports that refer to an actor or campaign, as a JSON array. */
export function linkedReports(db: Db, near: Entity, principal: Principal) {
  return jsonArrayFrom(
    db
      .selectFrom('report')
      .select(['report.id', 'report.title', 'report.url', 'report.published_at as publishedAt'])
      .where(linkedTo(near, 'report', principal))
      .orderBy('report.published_at', (order) => order.desc().nullsLast())
      .orderBy('report.id')
      .limit(MAX_REPORTS),
  ).as('reports');
}
