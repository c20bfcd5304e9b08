import { type Static, Type } from 'typebox';
import { nullable } from '../http/schema.ts';
import type { IndicatorRow } from '../indicators/read/indicators.queries.ts';
import { verdictOf } from '../model/confidence.ts';
import { label, observable, word } from './third-party.ts';

const MAX_TAGS = 5;

/**
 * Members of answers. Their schemas are short, because clients read those of all tools at the beginning: names that explain
 * themselves, types, and a description only where a name does not suffice.
 */
export const text = (description?: string) => Type.String(description === undefined ? {} : { description });
export const textOrNull = (description?: string) => nullable(text(description));
export const texts = (description?: string) =>
  Type.Array(text(), description === undefined ? {} : { description });
export const integer = (description?: string) =>
  Type.Integer(description === undefined ? {} : { description });

/** An indicator in a list. */
export const IndicatorPart = Type.Object({
  id: text(),
  type: text(),
  value: text(),
  verdict: text(),
  confidence: integer(),
  severity: text(),
  tlp: text(),
  tags: texts(),
  source: textOrNull(),
  firstSeen: text(),
  lastSeen: text(),
  expiresAt: textOrNull(),
  forDetection: Type.Boolean(),
});

export function indicatorPart(row: IndicatorRow): Static<typeof IndicatorPart> {
  return {
    id: row.id,
    type: row.type,
    value: observable(row.type, row.value),
    verdict: verdictOf(row.confidence),
    confidence: row.confidence,
    severity: row.severity,
    tlp: row.tlp,
    tags: row.tags.slice(0, MAX_TAGS).map(word),
    source: row.source && label(row.source),
    firstSeen: row.first_seen.toISOString(),
    lastSeen: row.last_seen.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    forDetection: row.for_detection,
  };
}

export const ActorPart = Type.Object({
  id: text(),
  name: text(),
  attackGroupId: textOrNull(),
});

interface NamedActor {
  id: string;
  name: string;
  attackGroupId: string | null;
}

export const actorPart = ({ id, name, attackGroupId }: NamedActor): Static<typeof ActorPart> => ({
  id,
  name: label(name),
  attackGroupId: attackGroupId && word(attackGroupId),
});

export const CampaignPart = Type.Object({
  id: text(),
  name: text(),
  status: text(),
});

export const campaignPart = ({
  id,
  name,
  status,
}: Static<typeof CampaignPart>): Static<typeof CampaignPart> => ({
  id,
  name: label(name),
  status,
});

export const ReportPart = Type.Object({
  uri: text(),
  title: text(),
  publishedAt: textOrNull(),
});

interface TitledReport {
  id: string;
  title: string;
  publishedAt: string | Date | null;
}

export const reportPart = ({ id, title, publishedAt }: TitledReport): Static<typeof ReportPart> => ({
  uri: reportUri(id),
  title: label(title),
  publishedAt: publishedAt === null ? null : new Date(publishedAt).toISOString(),
});

export const reportUri = (id: string): string => `tipline://reports/${id}`;
export const actorUri = (id: string): string => `tipline://actors/${id}`;

/** A technique or software. */
export const CataloguedPart = Type.Object({
  attackId: textOrNull(),
  name: text(),
});

interface Catalogued {
  attackId: string | null;
  name: string;
}

export const cataloguedPart = ({ attackId, name }: Catalogued): Static<typeof CataloguedPart> => ({
  attackId: attackId && word(attackId),
  name: label(name),
});

/** The page parameter of lists of indicators, and how many indicators a page has. */
export const PAGE_SIZE = 20;
export const page = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100_000, default: 1, description: `Page of ${PAGE_SIZE} indicators.` }),
);
export const nextPage = nullable(
  Type.Integer({ minimum: 2, description: 'The page after this one; null: this is the last.' }),
);
export const pageAfter = (current: number, total: number): number | null =>
  current * PAGE_SIZE < total ? current + 1 : null;

export const offset = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
    description: 'Where to begin: nextOffset of the answer before.',
  }),
);
export const nextOffset = nullable(
  Type.Integer({ minimum: 1, description: 'Where the rest begins; null: this is all.' }),
);
export const offsetAfter = (end: number, total: number): number | null => (end < total ? end : null);
