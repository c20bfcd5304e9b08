import { Type } from 'typebox';
import { indicatorType, score, severity } from '../../http/schema.ts';
import type { IndicatorFilters } from '../../indicators/read/indicators.queries.ts';
import { listIndicators } from '../../indicators/read/list.queries.ts';
import { parseInstant } from '../../model/dates.ts';
import { type Caller, McpInputError, requireScopes } from '../caller.ts';
import { actorId, campaignId } from '../find-entity.ts';
import { IndicatorPart, indicatorPart, integer, nextPage, PAGE_SIZE, page, pageAfter } from '../parts.ts';
import { unmarked } from '../third-party.ts';
import { answerOf, defineTool, inputOf } from '../tool.ts';

/** Filters of indicators, combined with AND. */
export const filterInputs = {
  types: Type.Optional(
    Type.Array(indicatorType(), { minItems: 1, maxItems: 15, description: 'Of any of these types.' }),
  ),
  severity: Type.Optional(severity({ description: 'Of this severity.' })),
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Exactly this tag.' })),
  minConfidence: Type.Optional(score({ description: 'Confidence of at least this.' })),
};

/** An instant of the input as ISO 8601 in UTC. @throws {McpInputError} */
export function instantOf(name: string, text: string): string {
  const value = parseInstant(text);
  if (value === null)
    throw new McpInputError(
      `${name} must be an ISO 8601 date and time such as 2026-01-31T12:00:00Z, or a date.`,
    );
  return value;
}

export const listTool = defineTool({
  name: 'list_indicators',
  title: 'List indicators',
  description:
    'Lists indicators by filters, the newest sighting first, in pages: of an actor, a campaign, a tag, a type, a severity, or seen ' +
    'since a time. All filters combine with AND.',
  scopes: ['indicators:read'],
  input: inputOf({
    contains: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1_024, description: 'Part of the value, plain or defanged.' }),
    ),
    ...filterInputs,
    actor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Of this actor: its id, name or alias. Needs actors:read.',
      }),
    ),
    campaign: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Of this campaign: its id or name. Needs campaigns:read.',
      }),
    ),
    seenSince: Type.Optional(
      Type.String({ maxLength: 40, description: 'Seen at or after this time; ISO 8601.' }),
    ),
    page,
  }),
  output: answerOf({
    indicators: Type.Array(IndicatorPart),
    total: integer('How many indicators match, on all pages.'),
    nextPage,
  }),
  async run({ contains, tag, actor, campaign, seenSince, page: current = 1, ...filters }, caller) {
    const wanted: IndicatorFilters = {
      ...filters,
      ...(contains !== undefined && { q: unmarked(contains) }),
      ...(tag !== undefined && { tag: unmarked(tag) }),
      ...(seenSince !== undefined && { since: instantOf('seenSince', seenSince) }),
      ...(await linkOf({ actor, campaign }, caller)),
    };
    const { total, rows } = await caller.data.database.read((db) =>
      listIndicators(db, caller.principal, wanted, { page: current, pageSize: PAGE_SIZE }),
    );
    return { indicators: rows.map(indicatorPart), total, nextPage: pageAfter(current, total) };
  },
});

interface Link {
  actor: string | undefined;
  campaign: string | undefined;
}

async function linkOf({ actor, campaign }: Link, caller: Caller) {
  if (actor !== undefined) requireScopes(caller, ['actors:read'], 'The filter actor');
  if (campaign !== undefined) requireScopes(caller, ['campaigns:read'], 'The filter campaign');
  return {
    ...(actor !== undefined && { actorId: await actorId(caller, actor) }),
    ...(campaign !== undefined && { campaignId: await campaignId(caller, campaign) }),
  };
}
