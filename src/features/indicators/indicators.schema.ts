import { type Static, Type } from 'typebox';
import { TXT_STYLES } from '../../formats/format.ts';
import { dateTime, listOf, nullable, oneOf, pageParameters, score, stringEnum } from '../../http/schema.ts';
import {
  CAMPAIGN_STATUSES,
  INDICATOR_TYPES,
  type IndicatorType,
  MOTIVATIONS,
  SEVERITIES,
  TLPS,
  VERDICTS,
} from '../../model/vocabulary.ts';
import { FORMAT_NAMES } from '../exports/formats.ts';

const tags = Type.Array(Type.String());
const id = Type.String({ format: 'uuid' });

export const Indicator = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Stable: derived from type and normalized value.' }),
    type: stringEnum(INDICATOR_TYPES),
    value: Type.String({ description: 'The observable.' }),
    confidence: score(),
    severity: stringEnum(SEVERITIES),
    tlp: stringEnum(TLPS, { description: 'Sharing marking, TLP 2.0.' }),
    tags,
    source: nullable(Type.String({ description: 'The source whose confidence decides.' })),
    firstSeen: dateTime(),
    lastSeen: dateTime(),
    expiresAt: nullable(dateTime({ description: 'Not returned from this instant on; null: never.' })),
  },
  { $id: 'Indicator', description: 'An observable.' },
);

export const IndicatorList = listOf(Indicator, 'IndicatorList');
export const IndicatorItem = oneOf(Indicator, 'IndicatorItem');

export const IndicatorQuery = Type.Object({
  ...pageParameters(100, 500),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      description:
        'Case-insensitive substring of the normalized value, literally (no wildcards) or refanged: `hxxp://evil[.]example` also finds `http://evil.example`.',
    }),
  ),
  type: Type.Optional(stringEnum(INDICATOR_TYPES)),
  severity: Type.Optional(stringEnum(SEVERITIES)),
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Exactly this tag.' })),
  actorId: Type.Optional(Type.String({ format: 'uuid', description: 'Linked to this actor.' })),
  campaignId: Type.Optional(Type.String({ format: 'uuid', description: 'Linked to this campaign.' })),
  minConfidence: Type.Optional(score({ description: 'Confidence of at least this.' })),
  since: Type.Optional(
    dateTime({
      description: 'lastSeen at or after this instant (ISO 8601, with a time zone; or a date, UTC).',
    }),
  ),
  types: Type.Optional(
    Type.Unsafe<IndicatorType[]>({
      type: 'array',
      items: { type: 'string', enum: [...INDICATOR_TYPES] },
      minItems: 1,
      uniqueItems: true,
      description: 'Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6.',
    }),
  ),
  format: stringEnum(['json', ...FORMAT_NAMES], {
    default: 'json',
    description:
      'json is a page of the list. Every other format holds every match, or, where page or pageSize is given, that page.',
  }),
  csvGuard: Type.Optional(
    stringEnum(['on', 'off'], {
      description:
        'csv: whether cells that a spreadsheet would run as a formula get an apostrophe in front (on).',
    }),
  ),
  style: Type.Optional(
    stringEnum(TXT_STYLES, { description: 'txt: whose external list it is for (plain).' }),
  ),
  include: Type.Optional(
    stringEnum(['context'], {
      description:
        'stix, misp: with the actors, campaigns, malware and techniques that the indicators are linked to.',
    }),
  ),
});
export type IndicatorQuery = Static<typeof IndicatorQuery>;

const Enrichment = Type.Object({
  provider: Type.String(),
  verdict: stringEnum(VERDICTS),
  score: nullable(score()),
  fresh: Type.Boolean({ description: 'Not older than the provider’s answers are good for.' }),
  fetchedAt: dateTime(),
  expiresAt: dateTime(),
  error: nullable(Type.String({ description: 'Why there is no judgement: the provider failed.' })),
  raw: Type.Unknown({ description: 'The provider’s answer as it came.' }),
});

export const IndicatorContext = Type.Object(
  {
    id,
    type: stringEnum(INDICATOR_TYPES),
    value: Type.String(),
    defanged: Type.String({ description: 'The value, safe to paste.' }),
    normalizedValue: Type.String(),
    firstSeen: dateTime(),
    lastSeen: dateTime(),
    expiresAt: nullable(dateTime()),
    severity: stringEnum(SEVERITIES),
    confidence: score(),
    confidenceLocked: Type.Boolean({ description: 'An analyst has pinned the confidence.' }),
    tlp: stringEnum(TLPS),
    tags,
    source: Type.Object({ name: Type.String(), type: Type.String() }),
    enrichmentSummary: Type.Object({
      verdict: stringEnum(VERDICTS, {
        description:
          'From the highest score: 70 and over MALICIOUS, 30 and over SUSPICIOUS, under it BENIGN, none UNKNOWN.',
      }),
      maxScore: nullable(score()),
      providerCount: Type.Integer({ minimum: 0, description: 'Providers that did not fail.' }),
      fresh: Type.Boolean(),
    }),
    enrichments: Type.Array(Enrichment),
    actors: Type.Array(
      Type.Object({
        id,
        name: Type.String(),
        slug: Type.String(),
        attackGroupId: nullable(Type.String()),
        country: nullable(Type.String()),
        motivation: stringEnum(MOTIVATIONS),
        active: Type.Boolean(),
        confidence: score(),
      }),
    ),
    campaigns: Type.Array(
      Type.Object({
        id,
        name: Type.String(),
        slug: Type.String(),
        status: stringEnum(CAMPAIGN_STATUSES),
        confidence: score(),
      }),
    ),
    reports: Type.Array(
      Type.Object({
        id,
        title: Type.String(),
        slug: Type.String(),
        publishedAt: nullable(dateTime()),
        tlp: stringEnum(TLPS),
        tags,
        confidence: score(),
      }),
    ),
  },
  { $id: 'IndicatorContext', description: 'All that is known about one indicator.' },
);
export type IndicatorContext = Static<typeof IndicatorContext>;
