import { type Static, Type } from 'typebox';
import { MAX_PAGE_SIZE } from '../db/expressions.ts';
import { Attribute, KillChainPhases, ObjectPart } from '../entities/attributes.ts';
import { exportFormat, exportOptions } from '../exports/exports.schema.ts';
import { FORMAT_NAMES } from '../formats/catalogue.ts';
import {
  campaignStatus,
  dateTime,
  INDICATOR_OF_SAMPLE,
  indicatorType,
  listOf,
  motivation,
  nullable,
  oneOf,
  optionalPageParameters,
  pageParameters,
  SAMPLE_ACTOR_ID,
  SAMPLE_CAMPAIGN_ID,
  score,
  severity,
  stringEnum,
  tlp,
  verdict,
} from '../http/schema.ts';
import type { IndicatorType } from '../model/vocabulary.ts';

const id = Type.String({ format: 'uuid', description: 'Stable: derived from type and normalized value.' });
const linkedId = Type.String({ format: 'uuid', description: 'Its id here.' });
const slug = Type.String({ description: 'The name in lower case, digits and hyphens.' });
const tags = Type.Array(Type.String(), { description: 'Free text of the sources, sorted.' });
const confidence = score({
  description:
    'That it is malicious, 0 to 100: pinned by an analyst, or the highest of providers’ scores, or the source’s.',
});
const linkConfidence = score({ description: 'That it is what it is said to be, 0 to 100.' });
const firstSeen = dateTime({ description: 'When it was first seen, as its sources say.' });
const lastSeen = dateTime({ description: 'When it was last seen, as its sources say.' });
const expiresAt = nullable(dateTime({ description: 'Not returned from this instant on; null: never.' }));
const forDetection = Type.Boolean({
  description:
    'Whether it may be used for detection and blocking; false: its sources give it as context only, such as MISP’s `to_ids: false`.',
});

const day = (description: string) => Type.String({ format: 'date', description });

/** Of a CVE id alone; indicators of other types have no such members. */
const vulnerability = {
  epss: Type.Optional(
    nullable(
      Type.Object(
        {
          score: Type.Number({
            minimum: 0,
            maximum: 1,
            description: 'The probability that it is exploited within 30 days.',
          }),
          percentile: Type.Number({
            minimum: 0,
            maximum: 1,
            description: 'The share of all vulnerabilities with the same or a lower score.',
          }),
          date: day('The first day of the published scores on which both had these values.'),
        },
        { description: 'Of a CVE id: its EPSS score (FIRST); null: none is known.' },
      ),
    ),
  ),
  kev: Type.Optional(
    nullable(
      Type.Object(
        {
          dateAdded: nullable(day('When it was added to the catalogue.')),
          dueDate: nullable(day('Until when agencies of the United States must act.')),
          knownRansomware: Type.Boolean({
            description: 'Whether ransomware campaigns are known to use it; false: not known.',
          }),
          requiredAction: nullable(Type.String({ description: 'What to do.' })),
        },
        {
          description:
            'Of a CVE id: its entry in CISA’s catalogue of known exploited vulnerabilities; null: it has none, or no source has the catalogue.',
        },
      ),
    ),
  ),
};

export const Indicator = Type.Object(
  {
    id,
    type: indicatorType(),
    value: Type.String({ description: 'The observable.' }),
    confidence,
    severity: severity(),
    tlp: tlp(),
    tags,
    source: nullable(Type.String({ description: 'The source whose confidence decides.' })),
    firstSeen,
    lastSeen,
    expiresAt,
    forDetection,
    ...vulnerability,
  },
  {
    $id: 'Indicator',
    description: 'An observable, and what its sources say of it.',
    examples: [
      {
        id: INDICATOR_OF_SAMPLE,
        type: 'IPV4',
        value: '185.132.17.160',
        confidence: 80,
        severity: 'HIGH',
        tlp: 'CLEAR',
        tags: ['malicious-activity'],
        source: 'Unit 42',
        firstSeen: '2023-04-04T19:05:32.551Z',
        lastSeen: '2026-08-23T00:00:00.000Z',
        expiresAt: null,
        forDetection: true,
      },
      {
        id: '94d6a4b8-2c4e-5b7e-9bd1-6a9c2d6f2f7a',
        type: 'CVE',
        value: 'CVE-2023-23397',
        confidence: 90,
        severity: 'CRITICAL',
        tlp: 'CLEAR',
        tags: ['kev', 'ransomware'],
        source: 'CISA KEV',
        firstSeen: '2023-03-14T00:00:00.000Z',
        lastSeen: '2023-03-14T00:00:00.000Z',
        expiresAt: null,
        forDetection: true,
        epss: { score: 0.93545, percentile: 0.99823, date: '2026-11-25' },
        kev: {
          dateAdded: '2023-03-14',
          dueDate: '2023-04-04',
          knownRansomware: true,
          requiredAction: 'Apply updates per vendor instructions.',
        },
      },
    ],
  },
);

export const IndicatorList = listOf(Indicator, 'IndicatorList');
export const IndicatorItem = oneOf(Indicator, 'IndicatorItem');

/** Filters of indicators, combined with AND. */
export const indicatorFilters = {
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      description:
        'Case-insensitive substring of the normalized value, literally (no wildcards) or refanged: `hxxp://evil[.]example` also finds `http://evil.example`.',
      examples: ['185[.]132[.]17'],
    }),
  ),
  type: Type.Optional(indicatorType({ description: 'Of this type.', examples: ['IPV4'] })),
  severity: Type.Optional(severity({ description: 'Of this severity.', examples: ['HIGH'] })),
  tag: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Exactly this tag.',
      examples: ['malicious-activity'],
    }),
  ),
  actorId: Type.Optional(
    Type.String({ format: 'uuid', description: 'Linked to this actor.', examples: [SAMPLE_ACTOR_ID] }),
  ),
  campaignId: Type.Optional(
    Type.String({ format: 'uuid', description: 'Linked to this campaign.', examples: [SAMPLE_CAMPAIGN_ID] }),
  ),
  minConfidence: Type.Optional(score({ description: 'Confidence of at least this.', examples: [80] })),
  forDetection: Type.Optional(
    Type.Boolean({
      description: 'true: for rules and block lists; false: context only (MISP’s `to_ids: false`).',
      examples: [true],
    }),
  ),
  exploited: Type.Optional(
    Type.Boolean({
      description:
        'true: vulnerabilities in CISA’s catalogue of known exploited ones; false: everything else.',
      examples: [false],
    }),
  ),
  minEpss: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Vulnerabilities with an EPSS score of at least this.',
    }),
  ),
  since: Type.Optional(
    dateTime({
      description: 'lastSeen at or after this instant (ISO 8601, with a time zone; or a date, UTC).',
      examples: ['2026-01-31T12:00:00Z'],
    }),
  ),
  types: Type.Optional(
    Type.Unsafe<IndicatorType[]>({
      type: 'array',
      items: indicatorType(),
      minItems: 1,
      uniqueItems: true,
      description: 'Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6.',
    }),
  ),
};

const listSort = {
  sort: stringEnum(['lastSeen', 'epss'], {
    title: 'ListSort',
    default: 'lastSeen',
    description:
      'The newest sighting first; or the highest EPSS score first, then what has none. Faster with type=CVE. Only for json.',
    examples: ['epss'],
  }),
};

export const IndicatorQuery = Type.Object({
  ...pageParameters(100, MAX_PAGE_SIZE),
  ...indicatorFilters,
  ...listSort,
  format: stringEnum(['json', ...FORMAT_NAMES], {
    title: 'ListFormat',
    default: 'json',
    description:
      'json is a page of the list. Every other format is answered as GET /api/v1/exports/{format} answers it, and described there.',
  }),
  ...exportOptions,
});
export type IndicatorQuery = Static<typeof IndicatorQuery>;

/** Returns the parameters of the list of an actor's or a campaign's indicators: those of the list without this one. */
export function linkedIndicatorQuery(own: 'actorId' | 'campaignId') {
  const { [own]: _, ...filters } = indicatorFilters;
  return Type.Object({ ...pageParameters(100, MAX_PAGE_SIZE), ...filters, ...listSort });
}

export const ExportParameters = Type.Object({
  format: exportFormat({ description: 'The format.', examples: ['csv'] }),
});
export const ExportQuery = Type.Object({
  ...indicatorFilters,
  ...exportOptions,
  ...optionalPageParameters(500),
});

export const Enrichment = Type.Object(
  {
    provider: Type.String({ description: 'The queried provider.' }),
    verdict: verdict({ description: 'By its score alone.' }),
    score: nullable(score({ description: 'Its score, 0 to 100; null: it gave none.' })),
    fresh: Type.Boolean({ description: 'Not older than the provider’s answers are good for.' }),
    fetchedAt: dateTime({ description: 'When the provider responded.' }),
    expiresAt: dateTime({ description: 'Until when the answer is fresh.' }),
    error: nullable(Type.String({ description: 'Why there is no judgement: the provider failed.' })),
    raw: Type.Unknown({ description: 'The raw response of the provider.' }),
  },
  { description: 'What a provider answered about the indicator.' },
);

const SourceRecord = Type.Object(
  {
    source: Type.String({ description: 'The name of the source.' }),
    id: nullable(Type.String({ description: 'The record’s id in its source.' })),
    statedAt: nullable(dateTime({ description: 'When the source last stated it.' })),
    name: nullable(Type.String({ description: 'Its name there.' })),
    description: nullable(Type.String({ description: 'Its description or comment.' })),
    direction: nullable(
      stringEnum(['source', 'destination'], {
        description: 'Whether attacks come from it or go to it, where the source says so.',
      }),
    ),
    type: nullable(Type.String({ description: 'MISP’s type of attribute.' })),
    category: nullable(Type.String({ description: 'MISP’s category.' })),
    original: nullable(
      Type.String({ description: 'The value there, where it has more than this indicator, such as a port.' }),
    ),
    killChainPhases: KillChainPhases,
    object: ObjectPart,
  },
  { description: 'A STIX object or a MISP attribute about it.' },
);

export const IndicatorContext = Type.Object(
  {
    id,
    type: indicatorType(),
    value: Type.String({ description: 'The observable.' }),
    defanged: Type.String({ description: 'The value, safe to paste.' }),
    normalizedValue: Type.String({ description: 'The form that `q` is compared with.' }),
    whitelistedParts: Type.Array(Type.String(), {
      description:
        'Of a network: the whitelisted addresses and networks within. Of a domain: the whitelisted names below, `=name` without and `*.name` as those below it alone. They must not be blocked; lists and rules leave them out.',
    }),
    firstSeen,
    lastSeen,
    expiresAt,
    severity: severity(),
    confidence,
    confidenceLocked: Type.Boolean({ description: 'An analyst has pinned the confidence.' }),
    tlp: tlp(),
    tags,
    forDetection,
    ...vulnerability,
    source: Type.Object(
      {
        name: Type.String({ description: 'Its name.' }),
        type: Type.String({ description: 'How it came: a file, a feed, or by hand.' }),
      },
      { description: 'The source whose confidence decides.' },
    ),
    enrichmentSummary: Type.Object(
      {
        verdict: verdict({
          description:
            'From the highest score: 70 and over MALICIOUS, 30 and over SUSPICIOUS, under it BENIGN, none UNKNOWN.',
        }),
        maxScore: nullable(score({ description: 'The highest score; null: no provider gave one.' })),
        providerCount: Type.Integer({ minimum: 0, description: 'Providers that did not fail.' }),
        fresh: Type.Boolean({ description: 'Whether every answer counted is fresh.' }),
      },
      { description: 'The providers’ answers, taken together.' },
    ),
    enrichments: Type.Array(Enrichment, { description: 'The providers’ answers.' }),
    actors: Type.Array(
      Type.Object({
        id: linkedId,
        name: Type.String({ description: 'The name.' }),
        slug,
        attackGroupId: nullable(Type.String({ description: 'ATT&CK group id, such as G0016.' })),
        country: nullable(Type.String({ description: 'ISO 3166-1 alpha-2.' })),
        motivation: motivation(),
        active: Type.Boolean({
          description: 'False when retired by its source or last seen over two years ago.',
        }),
        confidence: linkConfidence,
      }),
      { description: 'The threat actors that it is linked to.' },
    ),
    campaigns: Type.Array(
      Type.Object({
        id: linkedId,
        name: Type.String({ description: 'The name.' }),
        slug,
        status: campaignStatus(),
        confidence: linkConfidence,
      }),
      { description: 'The campaigns that it is linked to.' },
    ),
    reports: Type.Array(
      Type.Object({
        id: linkedId,
        title: Type.String({ description: 'The title.' }),
        slug,
        publishedAt: nullable(dateTime({ description: 'When it was published; null: not known.' })),
        tlp: tlp(),
        tags,
        confidence: linkConfidence,
        description: nullable(Type.String({ description: 'Its text.' })),
        authors: Type.Array(Type.String(), { description: 'Persons and organisations.' }),
        links: Type.Array(Type.String(), { description: 'Addresses that it gives.' }),
      }),
      { description: 'The reports that refer to it.' },
    ),
    records: Type.Array(SourceRecord, {
      description: 'The statements of its sources’ records, as the sources wrote them.',
    }),
    attributes: Type.Array(Attribute, {
      description:
        'Related statements of its sources that are no indicators, at most 200: notes, and the other parts of its MISP objects.',
    }),
  },
  {
    $id: 'IndicatorContext',
    description: 'All that is known about one indicator.',
    examples: [
      {
        id: INDICATOR_OF_SAMPLE,
        type: 'IPV4',
        value: '185.132.17.160',
        defanged: '185[.]132[.]17[.]160',
        normalizedValue: '185.132.17.160',
        whitelistedParts: [],
        firstSeen: '2023-04-04T19:05:32.551Z',
        lastSeen: '2026-08-23T00:00:00.000Z',
        expiresAt: null,
        severity: 'HIGH',
        confidence: 80,
        confidenceLocked: false,
        tlp: 'CLEAR',
        tags: ['malicious-activity'],
        forDetection: true,
        source: { name: 'Unit 42', type: 'sample' },
        enrichmentSummary: { verdict: 'MALICIOUS', maxScore: 80, providerCount: 1, fresh: false },
        enrichments: [
          {
            provider: 'maltrail',
            verdict: 'MALICIOUS',
            score: 80,
            fresh: false,
            fetchedAt: '2026-08-23T00:00:00.000Z',
            expiresAt: '2026-08-30T00:00:00.000Z',
            error: null,
            raw: { trail: 'http://185.132.17.160', file: 'trails/static/malware/apt_sofacy.txt' },
          },
        ],
        actors: [
          {
            id: SAMPLE_ACTOR_ID,
            name: 'APT28',
            slug: 'apt28',
            attackGroupId: 'G0007',
            country: 'RU',
            motivation: 'UNKNOWN',
            active: true,
            confidence: 75,
          },
        ],
        campaigns: [
          {
            id: SAMPLE_CAMPAIGN_ID,
            name: 'CVE-2023-23397',
            slug: 'cve-2023-23397',
            status: 'CONCLUDED',
            confidence: 75,
          },
        ],
        reports: [
          {
            id: '13ff5148-84db-4cbf-826f-3f0c2a721b69',
            title: 'ATOM Campaign Report',
            slug: 'atom-campaign-report',
            publishedAt: '2023-04-04T19:04:09.639Z',
            tlp: 'CLEAR',
            tags: ['campaign'],
            confidence: 75,
            description: null,
            authors: [],
            links: [],
          },
        ],
        records: [
          {
            source: 'Unit 42',
            id: 'indicator--667eabee-0d7b-47b9-b59e-fd9512d8d62b',
            statedAt: '2023-04-04T19:08:29.989Z',
            name: null,
            description: null,
            direction: null,
            type: null,
            category: null,
            original: null,
            killChainPhases: [],
            object: null,
          },
        ],
        attributes: [],
      },
    ],
  },
);
export type IndicatorContext = Static<typeof IndicatorContext>;
