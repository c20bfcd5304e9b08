import { Type } from 'typebox';
import { score, stringEnum } from '../../http/schema.ts';
import { QUERY_LANGUAGES, type QueryLanguage } from '../../sigma/conversion/convert.ts';
import { RULE_LEVELS, RULE_SOURCES } from '../../sigma/rule-filters.ts';
import { queriesOf } from '../../sigma/rule-queries.ts';
import { type ChosenRules, chooseRules, textsOf } from '../../sigma/sigma.service.ts';
import { McpInputError, requireScopes } from '../caller.ts';
import { actorId, campaignId } from '../find-entity.ts';
import { integer, nextOffset, offset, offsetAfter } from '../parts.ts';
import { prose } from '../third-party.ts';
import { answerOf, defineTool, fitting, inputOf } from '../tool.ts';

/** JSON escapes line ends and quotes of the rules. */
const MAX_RULES = 22_000;
const MAX_RULE = 10_000;

export const sigmaTool = defineTool({
  name: 'sigma_rules',
  title: 'Sigma rules',
  description:
    'Detection rules in Sigma for an actor or a campaign: for its indicators, and for its techniques. The same bundle as GET ' +
    '/api/sigma/actor/{id} and /api/sigma/campaign/{id}, in parts; with a language, as queries of a SIEM.',
  scopes: [['actors:read'], ['campaigns:read']],
  input: inputOf({
    actor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'The id, name, alias or ATT&CK id of an actor.',
      }),
    ),
    campaign: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'The id or name of a campaign.' }),
    ),
    minConfidence: Type.Optional(
      score({ default: 50, description: 'Of indicators: confidence of at least this.' }),
    ),
    sources: Type.Optional(
      Type.Array(stringEnum(RULE_SOURCES), {
        minItems: 1,
        maxItems: RULE_SOURCES.length,
        description: 'Rules for indicators, Tipline’s own for techniques (own), or the community’s.',
      }),
    ),
    levels: Type.Optional(
      Type.Array(stringEnum(RULE_LEVELS), {
        minItems: 1,
        maxItems: RULE_LEVELS.length,
        description: 'Of these levels.',
      }),
    ),
    logsource: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Such as windows/process_creation.' }),
    ),
    language: Type.Optional(
      stringEnum(QUERY_LANGUAGES, { description: 'Queries in this language in place of the rules.' }),
    ),
    offset,
  }),
  output: answerOf({
    rules: Type.Array(Type.String(), {
      description: 'The rules in YAML; with a language, the title and the level of a rule, and its query.',
    }),
    total: integer('How many rules or queries there are.'),
    skipped: integer('Rules that the language cannot express.'),
    nextOffset,
  }),
  async run(input, caller) {
    const {
      actor,
      campaign,
      minConfidence = 50,
      sources,
      levels,
      logsource,
      language,
      offset: start = 0,
    } = input;
    if ((actor === undefined) === (campaign === undefined))
      throw new McpInputError('Give either actor or campaign.');
    const kind = actor === undefined ? 'campaign' : 'actor';
    requireScopes(caller, [`${kind}s:read`], `Rules for ${kind}s`);
    const id = actor === undefined ? await campaignId(caller, campaign ?? '') : await actorId(caller, actor);
    const { database, communityRules, reading } = caller.data;
    const filters = { source: sources, level: levels, logsource };
    const wanted = { kind, id, minConfidence, filters } as const;
    const community = await communityRules;
    const { texts, skipped } = await reading.run(caller.applicant, async () => {
      const chosen = await chooseRules(database, caller.principal, wanted, community);
      if (!chosen) throw new McpInputError(`There is no such ${kind}.`);
      return language ? queryTexts(chosen, language) : { texts: textsOf(chosen), skipped: 0 };
    });
    const rules = fitting(
      texts.slice(start).map((rule) => prose(rule, MAX_RULE)),
      MAX_RULES,
    );
    const total = texts.length;
    return { rules, total, skipped, nextOffset: offsetAfter(start + rules.length, total) };
  },
});

async function queryTexts(chosen: ChosenRules, language: QueryLanguage) {
  const { data, skipped } = await queriesOf(chosen, language);
  const texts = data.map(({ title, level, query }) => `${title} (${level ?? 'no level'})\n${query}`);
  return { texts, skipped: skipped.length };
}
