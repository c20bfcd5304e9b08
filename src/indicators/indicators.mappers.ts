import type { Static } from 'typebox';
import { defang } from '../model/defang.ts';
import { slugOf } from '../model/slug.ts';
import { summarize } from '../model/verdict.ts';
import type { Indicator, IndicatorContext } from './indicators.schema.ts';
import type { findContext, IndicatorRow } from './read/indicators.queries.ts';

type ContextRow = NonNullable<Awaited<ReturnType<typeof findContext>>>;

export function toIndicator(row: IndicatorRow): Static<typeof Indicator> {
  return {
    id: row.id,
    type: row.type,
    value: row.value,
    confidence: row.confidence,
    severity: row.severity,
    tlp: row.tlp,
    tags: row.tags,
    source: row.source,
    firstSeen: row.first_seen.toISOString(),
    lastSeen: row.last_seen.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
  };
}

export function toContext(row: ContextRow, now: Date): IndicatorContext {
  const enrichments = row.enrichments.map(toEnrichment);
  const { source: sourceName, ...indicator } = toIndicator(row);
  return {
    ...indicator,
    expiresAt: indicator.expiresAt ?? null,
    defanged: defang(row.type, row.value),
    normalizedValue: row.normalized,
    confidenceLocked: row.pinned_confidence !== null,
    source: { name: sourceName ?? '', type: row.source_kind },
    enrichmentSummary: summarize(enrichments, now),
    enrichments: enrichments.map((enrichment) => ({
      ...enrichment,
      fresh: enrichment.expiresAt > now,
      fetchedAt: enrichment.fetchedAt.toISOString(),
      expiresAt: enrichment.expiresAt.toISOString(),
    })),
    actors: row.actors.map(({ attack_group_id, ...actor }) => ({
      ...actor,
      slug: slugOf(actor.name),
      attackGroupId: attack_group_id,
    })),
    campaigns: row.campaigns.map((campaign) => ({ ...campaign, slug: slugOf(campaign.name) })),
    reports: row.reports.map(({ published_at, ...report }) => ({
      ...report,
      slug: slugOf(report.title),
      publishedAt: published_at ? new Date(published_at).toISOString() : null,
    })),
  };
}

/** Parses dates, which are text inside the JSON that the database returns. */
function toEnrichment({ fetched_at, expires_at, raw, ...rest }: ContextRow['enrichments'][number]) {
  return {
    ...rest,
    fetchedAt: new Date(String(fetched_at)),
    expiresAt: new Date(String(expires_at)),
    raw: JSON.parse(raw) as unknown,
  };
}
