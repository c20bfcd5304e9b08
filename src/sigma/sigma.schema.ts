import { type Static, type TSchema, Type } from 'typebox';
import { namedEnum, score, stringEnum } from '../http/schema.ts';
import { COVERAGE_SOURCES, RULE_LEVELS, RULE_SOURCES, RULE_STATUSES } from './rule-filters.ts';

const ruleSource = namedEnum(
  'SigmaSource',
  RULE_SOURCES,
  'Rules for the indicators of the actor or campaign, Tipline’s own rules for its techniques, or those of the community.',
);
const ruleLevel = namedEnum('SigmaLevel', RULE_LEVELS, 'Level of a Sigma rule.');
const ruleStatus = namedEnum('SigmaStatus', RULE_STATUSES, 'Status of a Sigma rule that is in use.');

export const SIGMA_VOCABULARIES = [ruleSource, ruleLevel, ruleStatus].map(({ schema }) => schema);

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
