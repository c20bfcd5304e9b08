import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { caseInsensitive, type PageRequest, type Parent } from '../../db/expressions.ts';
import type { Principal } from '../../db/visibility.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import { type EntityPage, listEntities } from '../entities.queries.ts';

export interface TechniqueRow {
  id: string;
  attack_id: string | null;
  name: string;
  description: string | null;
  tactics: string[];
  confidence: number;
  tlp: Tlp;
}

/** Returns a page of the techniques that an actor or campaign uses, by ATT&CK id. */
export function listTechniques(
  db: Db,
  principal: Principal,
  { parent }: { parent: Parent },
  page: PageRequest,
): Promise<EntityPage<TechniqueRow>> {
  const columns = ['id', 'attack_id', 'name', 'description', 'tactics', 'confidence', 'tlp'];
  const order = caseInsensitive('technique.attack_id');
  const list = { table: 'technique', columns, computed: [], conditions: [], order, parent } as const;
  return listEntities(db, principal, list, page);
}

export interface ReportRow {
  id: string;
  title: string;
  description: string | null;
  url: string | null;
  published_at: Date | null;
  tags: string[];
  authors: string[] | null;
  links: string[] | null;
  confidence: number;
  tlp: Tlp;
}

/** Returns a page of the reports that refer to an actor or campaign, the latest first. */
export function listReports(
  db: Db,
  principal: Principal,
  { parent }: { parent: Parent },
  page: PageRequest,
): Promise<EntityPage<ReportRow>> {
  const columns = [
    'id',
    'title',
    'description',
    'url',
    'published_at',
    'tags',
    'authors',
    'links',
    'confidence',
    'tlp',
  ];
  const order = sql`report.published_at desc nulls last`;
  const list = { table: 'report', columns, computed: [], conditions: [], order, parent } as const;
  return listEntities(db, principal, list, page);
}
