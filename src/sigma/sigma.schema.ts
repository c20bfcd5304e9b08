import { type Static, type TSchema, Type } from 'typebox';
import { namedEnum, nullable, ref, score, stringEnum } from '../http/schema.ts';
import { QUERY_LANGUAGES } from './conversion/convert.ts';
import { UNCONVERTED_REASONS } from './conversion/unconvertible.ts';
import { COVERAGE_SOURCES, RULE_LEVELS, RULE_SOURCES, RULE_STATUSES } from './rule-filters.ts';

const ruleSource = namedEnum(
  'SigmaSource',
  RULE_SOURCES,
  'Rules for the indicators of the actor or campaign, Tipline’s own rules for its techniques, or those of the community.',
);
const ruleLevel = namedEnum('SigmaLevel', RULE_LEVELS, 'Level of a Sigma rule.');
const ruleStatus = namedEnum('SigmaStatus', RULE_STATUSES, 'Status of a Sigma rule that is in use.');
const queryLanguage = namedEnum(
  'SigmaQueryLanguage',
  QUERY_LANGUAGES,
  'A language of queries: Splunk’s SPL, KQL for Microsoft Sentinel or Defender XDR, Elastic’s ES|QL, or Lucene for Elasticsearch ' +
    'and OpenSearch.',
);
const unconvertedReason = namedEnum(
  'SigmaUnconvertedReason',
  UNCONVERTED_REASONS,
  'Why a rule is not converted: the product has no table for its log source or no counterpart of a field; it searches whole events for ' +
    'words; the language cannot compare a value, evaluate a regular expression or apply a modifier; the condition or the detection ' +
    'does not conform to the specification; events never match; there are too many comparisons; it is part of a correlation; or ' +
    'it has placeholders.',
);

export const SIGMA_VOCABULARIES = [ruleSource, ruleLevel, ruleStatus, queryLanguage, unconvertedReason].map(
  ({ schema }) => schema,
);

/** The schema of a list of words, each once. */
function listOf<T extends TSchema>(word: () => T, description: string) {
  return Type.Optional(
    Type.Unsafe<Static<T>[]>({
      type: 'array',
      items: word(),
      minItems: 1,
      uniqueItems: true,
      description: `${description} Repeated or with commas.`,
    }),
  );
}

/** Filters of rules by what they state of themselves. */
const ruleFilters = {
  level: listOf(ruleLevel, 'Rules of these levels.'),
  status: listOf(ruleStatus, 'Rules of these statuses.'),
  logsource: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        'Rules of this product, category or service, or of several at once: `windows/process_creation`.',
      examples: ['windows/process_creation'],
    }),
  ),
};

export const SigmaQuery = Type.Object({
  minConfidence: {
    ...score({ default: 50, description: 'Of indicators: confidence of at least this.', examples: [70] }),
  },
  source: listOf(ruleSource, 'Rules of these sources.'),
  ...ruleFilters,
});

const coverageSource = () => stringEnum(COVERAGE_SOURCES);

export const CoverageQuery = Type.Object({
  source: listOf(coverageSource, 'Rules of these sources: Tipline’s own, or those of the community.'),
  ...ruleFilters,
});

export const RuleQueriesQuery = Type.Object({
  ...SigmaQuery.properties,
  language: queryLanguage({ description: 'The language of the queries.', examples: ['splunk-spl'] }),
});

const text = (description: string) => nullable(Type.String({ description }));
const identity = {
  id: text('The id of the rule, a UUID.'),
  title: Type.String({ description: 'The title of the rule.' }),
  source: ruleSource(),
  file: text('The file of a community rule.'),
};

export const RuleQuery = Type.Object(
  {
    ...identity,
    description: text('What the rule detects.'),
    author: text('The authors of the rule.'),
    license: text('The licence of the rule; null: that of its collection.'),
    level: text('The level of the rule.'),
    status: text('The status of the rule.'),
    tags: Type.Array(Type.String(), { description: 'The tags of the rule, such as attack.t1059.001.' }),
    logsource: Type.Object(
      {
        product: text('The product, such as windows.'),
        category: text('The category, such as process_creation.'),
        service: text('The service, such as security.'),
      },
      { description: 'The log source of the rule.' },
    ),
    isMapped: Type.Boolean({
      description:
        'false: the names of the product for this log source are not known. The query has the rule’s own names of fields, and no ' +
        'condition for the log source.',
    }),
    query: Type.String({ description: 'The query.' }),
  },
  { $id: 'SigmaRuleQuery', description: 'A Sigma rule as a query.' },
);

export const UnconvertedRule = Type.Object(
  {
    ...identity,
    reason: unconvertedReason(),
    detail: Type.String({ description: 'Such as the name of the field, for a person.' }),
  },
  { $id: 'SigmaUnconvertedRule', description: 'A Sigma rule that the language cannot express.' },
);

export const RuleQueries = Type.Object(
  {
    language: queryLanguage(),
    data: Type.Array(ref(RuleQuery), { description: 'The rules as queries.' }),
    skipped: Type.Array(ref(UnconvertedRule), { description: 'The rules that the language cannot express.' }),
    skippedIndicators: Type.Integer({
      minimum: 0,
      description: 'How many indicators no rule can express, whatever the language.',
    }),
  },
  {
    $id: 'SigmaRuleQueries',
    description: 'The Sigma rules of an actor or a campaign as queries.',
    examples: [
      {
        language: 'splunk-spl',
        data: [
          {
            id: '3ab7330a-cf27-5cef-931b-f548d6e935bf',
            title: 'CVE-2023-23397 - Network Connection to Known Infrastructure',
            source: 'indicators',
            file: null,
            description:
              'Detects network connections to addresses and hosts that are linked to the campaign CVE-2023-23397.',
            author: 'Tipline',
            license: null,
            level: 'high',
            status: 'experimental',
            tags: ['attack.command-and-control', 'attack.t1071', 'tlp.clear'],
            logsource: { product: 'windows', category: 'network_connection', service: null },
            isMapped: true,
            query:
              'source="*WinEventLog:Microsoft-Windows-Sysmon/Operational" EventCode="3" DestinationIp="185.132.17.160"',
          },
        ],
        skipped: [],
        skippedIndicators: 0,
      },
    ],
  },
);

export const SIGMA_SCHEMAS = [RuleQuery, UnconvertedRule, RuleQueries];
