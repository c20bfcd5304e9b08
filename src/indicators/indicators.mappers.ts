import type { FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import type { Principal } from '../db/visibility.ts';
import { toAttribute, toObjectPart } from '../entities/attributes.ts';
import { summarize } from '../model/confidence.ts';
import { defang } from '../model/refang.ts';
import type { SourceRecord } from '../model/source-record.ts';
import { compareTlp, decidingStatement, type SourceStatement } from '../model/statement.ts';
import { refangedSearch, slugOf } from '../model/text.ts';
import type { Epss, Kev } from '../model/vulnerability.ts';
import type { AnalystRow, findAdditionalColumns, findSuppressingEntry } from './details.queries.ts';
import type { readIndicator } from './indicators.app.schema.ts';
import type { Indicator, IndicatorContext } from './indicators.schema.ts';
import type { findContext, IndicatorRow } from './read/indicators.queries.ts';
import { lastConfidence } from './state/recompute.ts';
import type { LoadedIndicator } from './state/state.queries.ts';

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
    forDetection: row.for_detection,
    ...(row.type === 'CVE' && { epss: toEpss(row.epss), kev: toKev(row.kev) }),
  };
}

/** Members in a fixed order: the database returns them in another. */
const toEpss = (epss: Epss | null) =>
  epss && { score: epss.score, percentile: epss.percentile, date: epss.date };

const toKev = (kev: Kev | null) =>
  kev && {
    dateAdded: kev.dateAdded,
    dueDate: kev.dueDate,
    knownRansomware: kev.knownRansomware,
    requiredAction: kev.requiredAction,
  };

/** @param readRaw returns the member `raw` of an enrichment from the stored response */
export function toContext(
  row: ContextRow,
  now: Date,
  readRaw: (raw: string) => unknown = JSON.parse,
): IndicatorContext {
  const enrichments = row.enrichments.map((enrichment) => ({
    ...toEnrichment(enrichment),
    raw: readRaw(enrichment.raw),
  }));
  const { source: sourceName, ...indicator } = toIndicator(row);
  return {
    defanged: defang(row.type, row.value),
    normalizedValue: row.normalized,
    whitelistedParts: row.whitelisted_parts ?? [],
    confidenceLocked: row.pinned_confidence !== null,
    source: { name: sourceName ?? '', type: row.source_kind },
    enrichmentSummary: summarize(enrichments, now),
    enrichments: enrichments.map((enrichment) => ({
      fresh: enrichment.expiresAt > now,
      ...enrichment,
      fetchedAt: enrichment.fetchedAt.toISOString(),
      expiresAt: enrichment.expiresAt.toISOString(),
    })),
    actors: row.actors.map(({ attack_group_id, ...actor }) => ({
      slug: slugOf(actor.name),
      attackGroupId: attack_group_id,
      ...actor,
    })),
    campaigns: row.campaigns.map((campaign) => ({ slug: slugOf(campaign.name), ...campaign })),
    reports: row.reports.map(({ published_at, authors, links, ...report }) => ({
      slug: slugOf(report.title),
      publishedAt: published_at ? new Date(published_at).toISOString() : null,
      authors: authors ?? [],
      links: links ?? [],
      ...report,
    })),
    records: row.statements.flatMap(({ source: name, records }) =>
      (records ?? []).filter(({ withdrawn }) => !withdrawn).map((record) => toRecord(name, record)),
    ),
    attributes: row.attributes.map(toAttribute),
    ...indicator,
    expiresAt: indicator.expiresAt ?? null,
  };
}

function toRecord(source: string, record: SourceRecord): IndicatorContext['records'][number] {
  return {
    source,
    id: record.id ?? null,
    statedAt: record.statedAt ?? null,
    name: record.name ?? null,
    description: record.description ?? null,
    direction: record.direction ?? null,
    type: record.type ?? null,
    category: record.category ?? null,
    original: record.original ?? null,
    killChainPhases: record.killChainPhases ?? [],
    object: toObjectPart(record.object ?? null),
  };
}

/** Parses dates, which are text inside the JSON that the database returns. */
function toEnrichment({ fetched_at, expires_at, raw: _, ...rest }: ContextRow['enrichments'][number]) {
  return {
    fetchedAt: new Date(String(fetched_at)),
    expiresAt: new Date(String(expires_at)),
    ...rest,
  };
}

type Detail = Static<typeof readIndicator.answer>['data'];

export function toRow({ pinned, ...row }: AnalystRow) {
  return { defanged: defang(row.type, row.value), pinned, ...toIndicator(row) };
}

interface Parts {
  context: ContextRow;
  known: LoadedIndicator;
  more: Awaited<ReturnType<typeof findAdditionalColumns>>;
  hider: Awaited<ReturnType<typeof findSuppressingEntry>>;
  pendingProviders: string[];
}

export function toDetail(parts: Parts, principal: Principal): Detail {
  const { known, more, hider } = parts;
  const context = toContext(parts.context, principal.now, (raw) => raw);
  const statements = [...known.statements.values()];
  return {
    ...context,
    enrichments: context.enrichments.map((enrichment) => ({ ...enrichment, raw: String(enrichment.raw) })),
    createdAt: more.createdAt,
    modifiedAt: more.modifiedAt,
    forDetection: statements.some(({ forDetection }) => forDetection),
    ofCertificate: known.stored?.ofCertificate ?? false,
    externalIds: [...known.externalIds].sort(),
    // The indicator's TLP is that of its most restrictive statement, so this normally excludes none.
    sources: statements
      .filter(({ tlp }) => compareTlp(tlp, principal.tlpCeiling) <= 0)
      .map(toSourceStatement),
    confidenceOrigin: confidenceOriginOf(context, known, statements),
    expired: parts.context.expires_at !== null && parts.context.expires_at <= principal.now,
    suppressedBy: hider ?? null,
    pendingProviders: parts.pendingProviders,
  };
}

function toSourceStatement({ source, records: _, ...stated }: SourceStatement): Detail['sources'][number] {
  return {
    sourceId: source.id,
    source: source.name,
    defaultConfidence: source.defaults.confidence,
    ...stated,
  };
}

/** Returns the origin of the confidence, by the rules of `effectiveConfidence`, with names. */
function confidenceOriginOf(
  { enrichments }: Pick<IndicatorContext, 'enrichments'>,
  { pinned, ...last }: Pick<LoadedIndicator, 'pinned' | 'stored' | 'lastSource'>,
  statements: readonly SourceStatement[],
): Detail['confidenceOrigin'] {
  const judged = enrichments.filter(({ score, error }) => score !== null && error === null);
  const [best] = judged.sort((a, b) => (b.score ?? 0) - (a.score ?? 0));
  const stated =
    statements.length > 0
      ? decidingStatement(statements)
      : { confidence: lastConfidence(last), source: { name: 'last known source' } };
  const free = best
    ? { unpinned: best.score ?? 0, unpinnedBy: 'provider' as const, unpinnedName: best.provider }
    : { unpinned: stated.confidence, unpinnedBy: 'source' as const, unpinnedName: stated.source.name };
  if (pinned !== null) return { pinned, by: 'analyst', name: null, ...free };
  return { pinned: null, by: free.unpinnedBy, name: free.unpinnedName, ...free };
}

/**
 * Sets the header `X-Query-Refanged` if a search also looks for the refanged form of `q`. The value is
 * percent-encoded, because header values are ASCII.
 */
export function setRefangedHeader(reply: FastifyReply, q: string | undefined): void {
  const refanged = q === undefined ? null : refangedSearch(q);
  if (refanged !== null) reply.header('x-query-refanged', encodeURIComponent(refanged));
}
