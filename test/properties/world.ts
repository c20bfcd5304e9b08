import fc from 'fast-check';
import { indicatorId, uuidv5 } from '../../src/model/identity.ts';
import { normalize } from '../../src/model/normalize.ts';
import {
  CAMPAIGN_STATUSES,
  type CampaignStatus,
  type IndicatorType,
  SEVERITIES,
  type Severity,
  TLPS,
  type Tlp,
} from '../../src/model/vocabulary.ts';

/** A whole small world of intelligence, who looks at it, and when. */
export interface World {
  now: Date;
  /** When a worker last took expired indicators off the sums, by its own clock: never, before, or a little after now. */
  summedAt: Date | null;
  ceiling: Tlp;
  indicators: WorldIndicator[];
  actors: WorldActor[];
  campaigns: WorldCampaign[];
  techniques: (Named & { attackId: string })[];
  software: (Named & { tool: boolean })[];
  reports: (Named & { publishedAt: Date | null })[];
  /** What is no indicator; `inObject`: part of the MISP object that an indicator of this index is in. */
  attributes: (Named & { inObject: number | null })[];
  links: Link[];
}

export interface Named {
  id: string;
  name: string;
  tlp: Tlp;
}

export interface WorldIndicator {
  id: string;
  type: IndicatorType;
  value: string;
  tlp: Tlp;
  expiresAt: Date | null;
  forDetection: boolean;
  whitelisted: boolean;
  tags: string[];
  severity: Severity;
  confidence: number;
  pinned: boolean;
  firstSeen: Date;
  lastSeen: Date;
  /** By provider. */
  enrichments: { provider: string; score: number | null; failed: boolean; expiresAt: Date }[];
}

export interface WorldActor extends Named {
  retired: boolean;
  lastSeen: Date | null;
}

export interface WorldCampaign extends Named {
  startDate: Date | null;
  endDate: Date | null;
  pinnedStatus: CampaignStatus | null;
}

export type LinkKind = 'indicator' | 'actor' | 'campaign' | 'technique' | 'software' | 'report' | 'attribute';

export interface Link {
  type: 'indicates' | 'attributed-to' | 'uses' | 'refers-to';
  from: { kind: LinkKind; id: string };
  to: { kind: LinkKind; id: string };
  tlp: Tlp;
}

const DAY = 24 * 60 * 60 * 1000;
/** Around every border that time draws. */
const OFFSETS = [
  ...[-900 * DAY, -730 * DAY - 1, -730 * DAY, -365 * DAY - 1, -365 * DAY, -90 * DAY - 1, -90 * DAY],
  ...[-DAY, -1, 0, 1, DAY, 400 * DAY],
];
const TYPES = ['IPV4', 'DOMAIN', 'URL', 'SHA256', 'MUTEX', 'FILENAME', 'USER_AGENT'] as const;
export const TAGS = ['apt', 'APT', 'c2', 'a b', '%', '{x,y}', 'ключ'];
const PIECES = ['Aa', 'b', '%', '_', '\\', "'", '"', ' ', 'é', 'É', 'Ж', '.', '/', '0'];
/** Names that databases order and lower-case each in their own way. */
const NAMES = ['Zeta', 'alpha', 'Alpha', 'Ärger', 'ärger', 'a b', 'a-b', '_x', 'ΩMEGA', '\u{1f600}', '～'];

const ENTITY_NAMESPACE = '7d3a9c52-2b0e-4c55-8d39-9f2c1a0b7e64';
const idOf = (kind: LinkKind, index: number) => uuidv5(`${kind}:${index}`, ENTITY_NAMESPACE);

/** An indicator's value with its id. */
function identified(type: IndicatorType, value: string): { id: string; value: string } {
  const result = normalize(type, value);
  if ('rejected' in result) throw new Error(`${type} ${value} is ${result.rejected}`);
  return { id: indicatorId(type, result.normalized), value: result.value };
}

/** No index's value is part of another's. */
function indicatorValue(type: IndicatorType, index: number, piece: string): string {
  if (type === 'IPV4') return `10.77.${100 + index}.250`;
  if (type === 'DOMAIN') return `host-${index}-x.example`;
  if (type === 'URL') return `http://host-${index}-y.example/${encodeURIComponent(piece)}`;
  if (type === 'SHA256') return `${index}f`.padStart(64, 'e');
  return `<${index}>${piece}`;
}

const tlp = fc.constantFrom(...TLPS);
const offset = fc.constantFrom(...OFFSETS);
const someOffset = fc.option(offset, { freq: 3 });
const named = fc.record({ name: fc.constantFrom(...NAMES), tlp });

const linked: Record<Link['type'], [LinkKind[], LinkKind[]]> = {
  indicates: [['indicator'], ['actor', 'campaign', 'software', 'technique']],
  'attributed-to': [['campaign'], ['actor']],
  uses: [
    ['actor', 'campaign', 'software'],
    ['technique', 'software'],
  ],
  'refers-to': [
    ['report', 'attribute'],
    ['indicator', 'actor', 'campaign', 'technique', 'software', 'report', 'attribute'],
  ],
};
/** Every kind of link, the ones that an answer shows more often. */
const kindOfLink = fc.constantFrom(
  ...(Object.keys(linked) as Link['type'][]).flatMap((type) =>
    linked[type][0].flatMap((from) => linked[type][1].map((to) => ({ type, from, to }))),
  ),
  ...Array.from({ length: 6 }, () => [
    { type: 'indicates', from: 'indicator', to: 'actor' } as const,
    { type: 'indicates', from: 'indicator', to: 'campaign' } as const,
    { type: 'refers-to', from: 'report', to: 'indicator' } as const,
    { type: 'refers-to', from: 'attribute', to: 'indicator' } as const,
    { type: 'refers-to', from: 'report', to: 'attribute' } as const,
  ]).flat(),
);

const spec = fc.record({
  now: fc.constantFrom('2026-06-01T12:00:00.000Z', '2026-01-01T00:00:00.001Z', '2028-02-29T23:59:59.999Z'),
  summed: fc.constantFrom(null, -DAY, -1, 0, 1, DAY),
  ceiling: tlp,
  indicators: fc.array(
    fc.record({
      type: fc.constantFrom(...TYPES),
      piece: fc.string({ unit: fc.constantFrom(...PIECES), maxLength: 6 }),
      tlp,
      expires: fc.option(offset, { freq: 2 }),
      forDetection: fc.constantFrom(true, true, false),
      whitelisted: fc.constantFrom(false, false, false, false, true),
      tags: fc.uniqueArray(fc.constantFrom(...TAGS), { maxLength: 3 }),
      severity: fc.constantFrom(...SEVERITIES),
      confidence: fc.constantFrom(0, 1, 29, 30, 50, 70, 99, 100),
      pinned: fc.boolean(),
      lastSeen: fc.constantFrom(-400 * DAY, -30 * DAY, -DAY, -1, 0),
      enrichments: fc.uniqueArray(
        fc.record({
          provider: fc.constantFrom('abuseipdb', 'otx', 'virustotal'),
          score: fc.option(fc.constantFrom(0, 29, 30, 69, 70, 100)),
          failed: fc.boolean(),
          expires: fc.constantFrom(-DAY, 0, 1, DAY),
        }),
        { maxLength: 3, selector: ({ provider }) => provider },
      ),
    }),
    { minLength: 30, maxLength: 70, size: 'max' },
  ),
  actors: fc.array(fc.record({ named, retired: fc.boolean(), lastSeen: someOffset }), {
    minLength: 2,
    maxLength: 8,
    size: 'max',
  }),
  campaigns: fc.array(
    fc.record({
      named,
      start: someOffset,
      end: someOffset,
      pinned: fc.option(fc.constantFrom(...CAMPAIGN_STATUSES), { freq: 2 }),
    }),
    { minLength: 2, maxLength: 8, size: 'max' },
  ),
  techniques: fc.array(named, { minLength: 1, maxLength: 5, size: 'max' }),
  software: fc.array(fc.record({ named, tool: fc.boolean() }), { minLength: 1, maxLength: 5, size: 'max' }),
  reports: fc.array(fc.record({ named, published: someOffset }), { minLength: 1, maxLength: 5, size: 'max' }),
  attributes: fc.array(fc.record({ named, inObject: fc.option(fc.nat(10)) }), {
    minLength: 1,
    maxLength: 8,
    size: 'max',
  }),
  links: fc.array(fc.record({ kind: kindOfLink, from: fc.nat(200), to: fc.nat(200), tlp }), {
    minLength: 40,
    maxLength: 150,
    size: 'max',
  }),
});
type Spec = typeof spec extends fc.Arbitrary<infer T> ? T : never;

export const worlds: fc.Arbitrary<World> = spec.map(build);

function build(given: Spec): World {
  const now = new Date(given.now);
  const at = (milliseconds: number) => new Date(now.getTime() + milliseconds);
  const maybe = (milliseconds: number | null) => (milliseconds === null ? null : at(milliseconds));
  const entity = (kind: LinkKind, index: number, { name, tlp: marking }: { name: string; tlp: Tlp }) => ({
    id: idOf(kind, index),
    // A report's number makes its title findable in a body that must not hold it.
    name: kind === 'actor' || kind === 'campaign' ? name : `${name} (${kind} ${index})`,
    tlp: marking,
  });
  const world: World = {
    now,
    summedAt: maybe(given.summed),
    ceiling: given.ceiling,
    indicators: given.indicators.map(({ piece, expires, lastSeen, enrichments, ...rest }, index) => ({
      ...rest,
      ...identified(rest.type, indicatorValue(rest.type, index, piece)),
      expiresAt: maybe(expires),
      firstSeen: at(lastSeen - DAY),
      lastSeen: at(lastSeen),
      enrichments: enrichments.map(({ expires: until, ...enrichment }) => ({
        ...enrichment,
        expiresAt: at(until),
      })),
    })),
    actors: given.actors.map(({ named: n, retired, lastSeen }, index) => ({
      ...entity('actor', index, n),
      retired,
      lastSeen: maybe(lastSeen),
    })),
    campaigns: given.campaigns.map(({ named: n, start, end, pinned }, index) => ({
      ...entity('campaign', index, n),
      startDate: maybe(start),
      endDate: maybe(end),
      pinnedStatus: pinned,
    })),
    techniques: given.techniques.map((n, index) => ({
      ...entity('technique', index, n),
      attackId: `T1${100 + index}`,
    })),
    software: given.software.map(({ named: n, tool }, index) => ({ ...entity('software', index, n), tool })),
    reports: given.reports.map(({ named: n, published }, index) => ({
      ...entity('report', index, n),
      publishedAt: maybe(published),
    })),
    attributes: given.attributes.map(({ named: n, inObject }, index) => ({
      ...entity('attribute', index, n),
      inObject,
    })),
    links: [],
  };
  const objects: Record<LinkKind, { id: string }[]> = {
    indicator: world.indicators,
    actor: world.actors,
    campaign: world.campaigns,
    technique: world.techniques,
    software: world.software,
    report: world.reports,
    attribute: world.attributes,
  };
  const objectAt = (kind: LinkKind, index: number) => {
    const { id } = objects[kind][index % objects[kind].length] as { id: string };
    return { kind, id };
  };
  const links = new Map<string, Link>();
  for (const { kind, from, to, tlp: marking } of given.links) {
    const [near, far] = [objectAt(kind.from, from), objectAt(kind.to, to)];
    const link = { type: kind.type, from: near, to: far, tlp: marking };
    if (near.id !== far.id) links.set(`${near.id} ${kind.type} ${far.id}`, link);
  }
  return { ...world, links: [...links.values()] };
}
