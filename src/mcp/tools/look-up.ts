import { type Static, Type } from 'typebox';
import { score } from '../../http/schema.ts';
import { extractValues } from '../../lookup/extract.ts';
import { type LookedUp, lookUp } from '../../lookup/lookup.service.ts';
import { confidenceOf } from '../../lookup/result.ts';
import { verdictOf } from '../../model/confidence.ts';
import { type Caller, McpInputError } from '../caller.ts';
import {
  IndicatorPart,
  indicatorPart,
  integer,
  nextOffset,
  offset,
  offsetAfter,
  text,
  textOrNull,
} from '../parts.ts';
import { label, observable, unmarked } from '../third-party.ts';
import { answerOf, defineTool, fitting, inputOf, MAX_ANSWER } from '../tool.ts';

const MAX_VALUES = 100;
const MAX_TEXT = 200_000;
const MAX_MATCHES = 8;

const Match = Type.Object({ relation: text(), ...IndicatorPart.properties });

const Result = Type.Object({
  asked: text('The value as it was read, defanged; as it was given, if it was not.'),
  type: textOrNull(),
  known: Type.Boolean({ description: 'Whether anything matches.' }),
  verdict: text(),
  matches: Type.Array(Match, {
    description: `The first ${MAX_MATCHES} indicators that say something about it: exact is the value itself.`,
  }),
  moreMatches: integer('Matches that are left out.'),
});

export const lookUpTool = defineTool({
  name: 'look_up',
  title: 'Look up observables',
  description:
    'Checks addresses, networks, domains, URLs, file hashes, e-mail addresses and other observables, plain or defanged. ' +
    'Give values, or a text such as an alert, a log or a report, whose observables are found. Also reports what is listed ' +
    'above a value: networks around an address, parent domains, the host of a URL, other hashes of the same file.',
  scopes: ['indicators:read'],
  input: inputOf({
    values: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 8_192 }), {
        minItems: 1,
        maxItems: MAX_VALUES,
        description: 'The values, each one observable.',
      }),
    ),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_TEXT,
        description: 'A text in which observables are found.',
      }),
    ),
    related: Type.Optional(
      Type.Boolean({ default: true, description: 'false: only matches of the value itself.' }),
    ),
    minConfidence: Type.Optional(score({ description: 'Only indicators with at least this confidence.' })),
    offset,
  }),
  output: answerOf({
    results: Type.Array(Result, { description: 'A result for each value, in their order.' }),
    total: integer('How many values were given or found.'),
    nextOffset,
  }),
  async run({ values, text: prose, related = true, minConfidence, offset: start = 0 }, caller) {
    if ((values === undefined) === (prose === undefined))
      throw new McpInputError('Give either values or text.');
    const asked = values?.map(unmarked) ?? (await extractValues(prose ?? ''));
    const { listed, database } = caller.data;
    const found = await lookUp(
      { listed, read: database.read },
      caller.principal,
      asked.slice(start, start + MAX_VALUES),
      { related, minConfidence },
    );
    const results = fitting(found.map(resultOf), MAX_ANSWER - 1_000);
    return { results, total: asked.length, nextOffset: offsetAfter(start + results.length, asked.length) };
  },
});

function resultOf({ asked, read, matches }: LookedUp): Static<typeof Result> {
  const shown = matches.map(toMatch);
  return {
    asked: 'type' in read ? observable(read.type, read.value) : label(asked),
    type: 'type' in read ? read.type : null,
    known: matches.length > 0,
    verdict: verdictOf(confidenceOf(shown)),
    matches: shown.slice(0, MAX_MATCHES),
    moreMatches: Math.max(0, matches.length - MAX_MATCHES),
  };
}

export const toMatch = ({ relation, indicator }: LookedUp['matches'][number]): Static<typeof Match> => ({
  relation,
  ...indicatorPart(indicator),
});
export { Match as MatchPart };

/** Returns the indicators that say something about a value. */
export async function matchesOf({ data, principal }: Caller, value: string): Promise<LookedUp['matches']> {
  const source = { listed: data.listed, read: data.database.read };
  const [result] = await lookUp(source, principal, [value], { related: true });
  return result?.matches ?? [];
}
