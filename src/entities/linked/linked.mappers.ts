import { slugOf } from '../../model/text.ts';
import type { ReportRow, TechniqueRow } from './linked.queries.ts';
import type { ReportAnswer, TechniqueAnswer } from './linked.schema.ts';

export function toTechnique({ attack_id, ...row }: TechniqueRow): TechniqueAnswer {
  return { ...row, attackId: attack_id };
}

export function toReport({ published_at, authors, links, ...row }: ReportRow): ReportAnswer {
  return {
    ...row,
    slug: slugOf(row.title),
    publishedAt: published_at?.toISOString() ?? null,
    authors: authors ?? [],
    links: links ?? [],
  };
}
