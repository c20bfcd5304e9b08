import { slugOf } from '../../src/model/text.ts';
import { type Severity, TLPS, type Tlp } from '../../src/model/vocabulary.ts';
import type { Link, LinkKind, World, WorldActor, WorldCampaign, WorldIndicator } from './world.ts';
import { normalizedOf, objectOf, recordOf, SOURCE_NAME } from './world-rows.ts';

/** What must be visible of a world, worked out the plain way from the sentences of the design. */
export type Seen = ReturnType<typeof seen>;

const DAY = 24 * 60 * 60 * 1000;
const iso = (date: Date | null) => date?.toISOString() ?? null;

export interface Filters {
  q?: string;
  type?: string;
  severity?: Severity;
  tag?: string;
  actorId?: string;
  campaignId?: string;
  minConfidence?: number;
  forDetection?: boolean;
  since?: string;
}

/** By code point, as UTF-8 orders bytes. */
function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function by<T>(...keys: ((item: T) => string | number)[]) {
  return (a: T, b: T): number => {
    for (const key of keys) {
      const [left, right] = [key(a), key(b)];
      if (left === right) continue;
      return typeof left === 'string' ? compareText(left, String(right)) : left < Number(right) ? -1 : 1;
    }
    return 0;
  };
}

export function seen(world: World) {
  const { now, ceiling } = world;
  const under = ({ tlp }: { tlp: Tlp }) => TLPS.indexOf(tlp) <= TLPS.indexOf(ceiling);
  const indicators = world.indicators.filter(
    (indicator) =>
      under(indicator) &&
      !indicator.whitelisted &&
      (indicator.expiresAt === null || indicator.expiresAt.getTime() > now.getTime()),
  );
  const all = {
    indicator: indicators,
    actor: world.actors.filter(under),
    campaign: world.campaigns.filter(under),
    technique: world.techniques.filter(under),
    software: world.software.filter(under),
    report: world.reports.filter(under),
    attribute: world.attributes.filter(under),
  };
  const visibleIds = new Set(Object.values(all).flatMap((entities) => entities.map(({ id }) => id)));
  const links = world.links.filter(
    (link) => under(link) && visibleIds.has(link.from.id) && visibleIds.has(link.to.id),
  );
  return { now, all, links, visibleIds };
}

/** Ids of one kind at the far end of the links of `id`. */
function linkedIds(links: readonly Link[], id: string, kind: LinkKind, types: Link['type'][]): Set<string> {
  return new Set(
    links
      .filter(({ type }) => types.includes(type))
      .flatMap(({ from, to }) => (from.id === id ? [to] : to.id === id ? [from] : []))
      .filter((end) => end.kind === kind)
      .map((end) => end.id),
  );
}

export function listedIndicators({ all, links }: Seen, filters: Filters): WorldIndicator[] {
  const of = (id: string) => linkedIds(links, id, 'indicator', ['indicates']);
  return all.indicator
    .filter(
      (indicator) =>
        (filters.q === undefined ||
          normalizedOf(indicator).toLowerCase().includes(filters.q.toLowerCase())) &&
        (filters.type === undefined || indicator.type === filters.type) &&
        (filters.severity === undefined || indicator.severity === filters.severity) &&
        (filters.tag === undefined || indicator.tags.includes(filters.tag)) &&
        (filters.minConfidence === undefined || indicator.confidence >= filters.minConfidence) &&
        (filters.forDetection === undefined || indicator.forDetection === filters.forDetection) &&
        (filters.since === undefined || indicator.lastSeen.getTime() >= Date.parse(filters.since)) &&
        (filters.actorId === undefined || of(filters.actorId).has(indicator.id)) &&
        (filters.campaignId === undefined || of(filters.campaignId).has(indicator.id)),
    )
    .sort(
      by(
        ({ lastSeen }) => -lastSeen.getTime(),
        ({ id }) => id,
      ),
    );
}

export function indicatorAnswer(indicator: WorldIndicator) {
  return {
    id: indicator.id,
    type: indicator.type,
    value: indicator.value,
    confidence: indicator.confidence,
    severity: indicator.severity,
    tlp: indicator.tlp,
    tags: indicator.tags,
    source: SOURCE_NAME,
    firstSeen: indicator.firstSeen.toISOString(),
    lastSeen: indicator.lastSeen.toISOString(),
    expiresAt: iso(indicator.expiresAt),
    forDetection: indicator.forDetection,
  };
}

/** Lists in it stand in the order of their ids. */
/** @param index of the indicator in the world */
export function contextAnswer({ now, all, links }: Seen, indicator: WorldIndicator, index: number) {
  const notes = linkedIds(links, indicator.id, 'attribute', ['refers-to']);
  const { source: name, ...shown } = indicatorAnswer(indicator);
  const actors = linkedIds(links, indicator.id, 'actor', ['indicates']);
  const campaigns = linkedIds(links, indicator.id, 'campaign', ['indicates']);
  const reports = linkedIds(links, indicator.id, 'report', ['refers-to']);
  const answered = indicator.enrichments.filter(({ failed }) => !failed);
  const scores = answered.flatMap(({ score }) => score ?? []);
  const maxScore = scores.length > 0 ? Math.max(...scores) : null;
  const fresh = ({ expiresAt }: { expiresAt: Date }) => expiresAt.getTime() > now.getTime();
  return {
    ...shown,
    normalizedValue: normalizedOf(indicator),
    whitelistedParts: [],
    confidenceLocked: indicator.pinned,
    source: { name, type: 'import' },
    enrichmentSummary: {
      verdict: verdict(maxScore),
      maxScore,
      providerCount: answered.length,
      fresh: answered.length > 0 && answered.every(fresh),
    },
    enrichments: [...indicator.enrichments].sort(by(({ provider }) => provider)).map((enrichment) => ({
      provider: enrichment.provider,
      verdict: verdict(enrichment.failed ? null : enrichment.score),
      score: enrichment.failed ? null : enrichment.score,
      fresh: fresh(enrichment),
      fetchedAt: '2020-01-01T00:00:00.000Z',
      expiresAt: enrichment.expiresAt.toISOString(),
      error: enrichment.failed ? 'no answer' : null,
      raw: { about: indicator.value },
    })),
    actors: all.actor
      .filter(({ id }) => actors.has(id))
      .sort(by(({ id }) => id))
      .map((actor) => ({
        id: actor.id,
        name: actor.name,
        slug: slugOf(actor.name),
        attackGroupId: null,
        country: null,
        motivation: 'UNKNOWN',
        active: isActive(actor, now),
        confidence: 50,
      })),
    campaigns: all.campaign
      .filter(({ id }) => campaigns.has(id))
      .sort(by(({ id }) => id))
      .map((campaign) => ({
        id: campaign.id,
        name: campaign.name,
        slug: slugOf(campaign.name),
        status: statusOf(campaign, now),
        confidence: 50,
      })),
    reports: all.report
      .filter(({ id }) => reports.has(id))
      .sort(by(({ id }) => id))
      .map((report) => ({
        id: report.id,
        title: report.name,
        slug: slugOf(report.name),
        publishedAt: iso(report.publishedAt),
        tlp: report.tlp,
        tags: [],
        confidence: 50,
        description: null,
        authors: [],
        links: [],
      })),
    records: [
      {
        source: name,
        ...recordOf(index),
        object: { ...objectOf(index), relation: null },
        ...{ statedAt: null, name: null, direction: null, type: null, category: null, original: null },
        killChainPhases: [],
      },
    ],
    attributes: all.attribute
      .filter(({ id, inObject }) => notes.has(id) || inObject === index)
      .sort(by(({ id }) => id))
      .map((attribute) => ({
        id: attribute.id,
        type: 'text',
        value: attribute.name,
        ...{ name: null, description: null, category: null, killChainPhases: [] },
        object: attribute.inObject === null ? null : { ...objectOf(attribute.inObject), relation: null },
        tlp: attribute.tlp,
      })),
  };
}

function verdict(score: number | null): string {
  if (score === null) return 'UNKNOWN';
  return score >= 70 ? 'MALICIOUS' : score >= 30 ? 'SUSPICIOUS' : 'BENIGN';
}

function isActive({ retired, lastSeen }: WorldActor, now: Date): boolean {
  return !retired && (lastSeen === null || now.getTime() - lastSeen.getTime() <= 730 * DAY);
}

function statusOf({ pinnedStatus, startDate, endDate }: WorldCampaign, now: Date): string {
  if (pinnedStatus) return pinnedStatus;
  const last = endDate ?? startDate;
  if (last === null) return 'SUSPECTED';
  const days = (now.getTime() - last.getTime()) / DAY;
  return days <= 90 ? 'ACTIVE' : days <= 365 ? 'DORMANT' : 'CONCLUDED';
}

export function listedActors({ now, all }: Seen, active?: boolean) {
  return all.actor
    .filter((actor) => active === undefined || isActive(actor, now) === active)
    .sort(
      by(
        ({ name }) => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
        ({ id }) => id,
      ),
    )
    .map((actor) => ({
      id: actor.id,
      name: actor.name,
      slug: slugOf(actor.name),
      attackGroupId: null,
      country: null,
      motivation: 'UNKNOWN',
      sophistication: null,
      active: isActive(actor, now),
      confidence: 50,
      tlp: actor.tlp,
      aliases: [],
    }));
}

/** What is linked to an actor or campaign, in the order and the form of its lists. */
export function listedLinks(view: Seen, id: string) {
  const { all, links } = view;
  const of = (kind: LinkKind, type: Link['type']) => {
    const ids = linkedIds(links, id, kind, [type]);
    return ({ id: other }: { id: string }) => ids.has(other);
  };
  const fields = { description: null, confidence: 50 };
  return {
    actors: listedActors(view).filter(of('actor', 'attributed-to')),
    campaigns: listedCampaigns(view).filter(of('campaign', 'attributed-to')),
    techniques: all.technique
      .filter(of('technique', 'uses'))
      .sort(by(({ attackId }) => attackId))
      .map(({ id, attackId, name, tlp }) => ({ id, attackId, name, tlp, ...fields, tactics: [] })),
    reports: all.report
      .filter(of('report', 'refers-to'))
      .sort(
        by(
          ({ publishedAt }) => -(publishedAt?.getTime() ?? Number.NEGATIVE_INFINITY),
          (report) => report.id,
        ),
      )
      .map(({ id, name, tlp, publishedAt }) => ({
        ...{ id, title: name, slug: slugOf(name), tlp, publishedAt: iso(publishedAt) },
        ...fields,
        ...{ url: null, tags: [], authors: [], links: [] },
      })),
  };
}

/** How many of the actors and campaigns that are linked to visible indicators use each technique, by its ATT&CK id. */
export function sharedTechniques({ all, links }: Seen): [string, number][] {
  const users = [...all.actor, ...all.campaign].filter(
    ({ id }) => linkedIds(links, id, 'indicator', ['indicates']).size > 0,
  );
  return all.technique
    .map(({ id, attackId }): [string, number] => [
      attackId,
      users.filter((user) => linkedIds(links, user.id, 'technique', ['uses']).has(id)).length,
    ])
    .filter(([, count]) => count > 0)
    .sort(by(([attackId]) => attackId));
}

/** What an actor uses; each list in the order of its ids. */
export function usedBy({ all, links }: Seen, actorId: string) {
  const catalogued = ({ id, name }: { id: string; name: string }) => ({ id, attackId: null, name });
  const techniques = linkedIds(links, actorId, 'technique', ['uses']);
  const software = linkedIds(links, actorId, 'software', ['uses']);
  const used = all.software.filter(({ id }) => software.has(id)).sort(by(({ id }) => id));
  return {
    techniques: all.technique
      .filter(({ id }) => techniques.has(id))
      .sort(by(({ id }) => id))
      .map(({ id, attackId, name }) => ({ id, attackId, name, tactics: [] })),
    malware: used.filter(({ tool }) => !tool).map(catalogued),
    tools: used.filter(({ tool }) => tool).map(catalogued),
  };
}

export function listedCampaigns({ now, all, links }: Seen, status?: string) {
  return all.campaign
    .filter((campaign) => status === undefined || statusOf(campaign, now) === status)
    .sort(
      by(
        ({ startDate }) => -(startDate?.getTime() ?? Number.NEGATIVE_INFINITY),
        ({ id }) => id,
      ),
    )
    .map((campaign) => ({
      id: campaign.id,
      name: campaign.name,
      slug: slugOf(campaign.name),
      description: null,
      status: statusOf(campaign, now),
      startDate: iso(campaign.startDate),
      endDate: iso(campaign.endDate),
      targetSectors: [],
      targetCountries: [],
      confidence: 50,
      tlp: campaign.tlp,
      actorCount: linkedIds(links, campaign.id, 'actor', ['attributed-to']).size,
      techniqueCount: linkedIds(links, campaign.id, 'technique', ['uses']).size,
      indicatorCount: linkedIds(links, campaign.id, 'indicator', ['indicates']).size,
    }));
}
