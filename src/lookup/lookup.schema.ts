import { type Static, Type } from 'typebox';
import { indicatorType, nullable, ref, score, stringEnum, verdict } from '../http/schema.ts';
import { Indicator, indicatorFilters } from '../indicators/indicators.schema.ts';
import { RELATIONS } from './candidates.ts';

/** The maximum number of values in a URL. */
const MAX_VALUES = 100;
/** The maximum number of values in a body. */
export const MAX_BULK_VALUES = 10_000;

const filters = {
  types: indicatorFilters.types,
  minConfidence: Type.Optional(
    score({ description: 'Only indicators with at least this confidence.', examples: [0] }),
  ),
  related: Type.Boolean({
    default: true,
    description:
      'false: only the value itself, not other hashes of the same file, networks around it, domains above it, the host ' +
      'or prefixes of a URL.',
  }),
};

export const LookupQuery = Type.Object({
  value: Type.Unsafe<string[]>({
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 8192 },
    minItems: 1,
    maxItems: MAX_VALUES,
    description:
      'The values, repeated: value=a&value=b. Each is read by its form, plain or defanged; commas are part of it.',
    examples: [['185[.]132[.]17[.]160']],
  }),
  ...filters,
});

export const BulkQuery = Type.Object({
  ...filters,
  extract: Type.Boolean({
    default: false,
    description: 'true: the body is a text, such as a report, and each observable in it is looked up once.',
  }),
});

/** The schemas of the body, by media type. */
export const BULK_BODIES = {
  'application/json': {
    schema: Type.Object(
      {
        values: Type.Array(Type.String(), {
          minItems: 1,
          maxItems: MAX_BULK_VALUES,
          description: 'The values, plain or defanged.',
        }),
      },
      { additionalProperties: false, examples: [{ values: ['185[.]132[.]17[.]160', 'evil.example'] }] },
    ),
  },
  'text/plain': {
    schema: Type.String({
      minLength: 1,
      description: 'A value a line; empty lines are ignored.',
      examples: ['185[.]132[.]17[.]160\nevil.example\n'],
    }),
  },
};

const Match = Type.Object({
  relation: stringEnum(RELATIONS, {
    description:
      'exact: the value itself. same-file: another listed hash of the file, by a statement of a source; at most 20, ' +
      'SHA-256 first, then SHA-1 and MD5. in-network: a listed network around the address. parent-domain: a listed ' +
      'domain above it. url-scheme: the URL with https instead of http, or http instead of https. ' +
      'url-host: the host of the URL. url-prefix: a listed folder above the URL, or the URL without ' +
      'its query, without a user name before its host, or with or without a dot after its host. email-domain: the ' +
      'domain of the address.',
  }),
  indicator: ref(Indicator),
});

export const LookupResult = Type.Object(
  {
    asked: Type.String({ description: 'The value as it was asked for.' }),
    type: nullable(indicatorType({ description: 'The type as which it was read; null: it was not.' })),
    value: nullable(Type.String({ description: 'The value as it was read, refanged and normalized.' })),
    reason: nullable(Type.String({ description: 'Why it was not read; null: it was.' })),
    known: Type.Boolean({ description: 'Whether anything matches.' }),
    verdict: verdict({
      description:
        'By the highest confidence of the matches that are for detection; UNKNOWN: there are none.',
    }),
    matches: Type.Array(Match, { description: 'The indicators that say something about it, itself first.' }),
  },
  {
    $id: 'LookupResult',
    description: 'What is known about a value.',
    examples: [
      {
        asked: '185[.]132[.]17[.]160',
        type: 'IPV4',
        value: '185.132.17.160',
        reason: null,
        known: true,
        verdict: 'MALICIOUS',
        matches: [{ relation: 'exact', indicator: (Indicator as { examples?: unknown[] }).examples?.[0] }],
      },
    ],
  },
);

export const LookupResults = Type.Object(
  { data: Type.Array(ref(LookupResult), { description: 'One result for each value, in their order.' }) },
  {
    $id: 'LookupResults',
    description: 'The results of a look-up.',
    examples: [{ data: (LookupResult as { examples?: unknown[] }).examples }],
  },
);

export type LookupResult = Static<typeof LookupResult>;
