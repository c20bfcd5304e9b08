import { Type } from 'typebox';
import type { Changes } from '../../changes/change-feed.ts';
import type { Change } from '../../changes/indicator-changes.ts';
import { nullable } from '../../http/schema.ts';
import type { IndicatorFilters } from '../../indicators/read/indicators.queries.ts';
import { listIndicators } from '../../indicators/read/list.queries.ts';
import { McpInputError } from '../caller.ts';
import {
  IndicatorPart,
  indicatorPart,
  integer,
  nextPage,
  PAGE_SIZE,
  page,
  pageAfter,
  text,
} from '../parts.ts';
import { observable, unmarked } from '../third-party.ts';
import { answerOf, defineTool, fitting, inputOf, roomBeside } from '../tool.ts';
import { filterInputs, instantOf } from './list-indicators.ts';

const DAY_MS = 86_400_000;

const Removed = Type.Object({
  id: text('The id that it had.'),
  type: text(),
  value: text('Defanged.'),
});

export const newsTool = defineTool({
  name: 'whats_new',
  title: 'What is new',
  description:
    'Indicators that were added since a time (the last 24 hours without one), in pages, with a cursor. A later call with that cursor gives what has been ' +
    'added, changed or removed since: expired, whitelisted or no longer matching.',
  scopes: ['indicators:read'],
  input: inputOf({
    since: Type.Optional(
      Type.String({ maxLength: 40, description: 'Added at or after this time; ISO 8601.' }),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4_096,
        description: 'The cursor of an answer before; in place of since and page.',
      }),
    ),
    ...filterInputs,
    page,
  }),
  output: answerOf({
    indicators: Type.Array(IndicatorPart, { description: 'Added or, with a cursor, changed as well.' }),
    removed: Type.Array(Removed, { description: 'Removed since the cursor.' }),
    leftOut: integer('Changes that are left out because the answer would be too long.'),
    total: nullable(integer('How many were added since the time, on all pages; null: with a cursor.')),
    nextPage,
    cursor: nullable(text('For the next call; null: none can be given.')),
    hasMore: Type.Boolean({ description: 'Whether more changes follow the cursor at once.' }),
  }),
  async run({ since, cursor, tag, page: current = 1, ...others }, { data, principal }) {
    const filters: IndicatorFilters = { ...others, ...(tag !== undefined && { tag: unmarked(tag) }) };
    if (cursor !== undefined) {
      if (since !== undefined) throw new McpInputError('Give either since or cursor.');
      const asked = { cursor, filters, limit: PAGE_SIZE };
      return changesOf(
        await data.feed.next(
          asked,
          principal,
          0,
          () => true,
          (change) => change,
        ),
      );
    }
    const createdSince =
      since === undefined
        ? new Date(principal.now.getTime() - DAY_MS).toISOString()
        : instantOf('since', since);
    const { total, rows, revision } = await data.database.read((db) =>
      listIndicators(db, principal, { ...filters, createdSince }, { page: current, pageSize: PAGE_SIZE }),
    );
    return {
      indicators: rows.map(indicatorPart),
      removed: [],
      leftOut: 0,
      total,
      nextPage: pageAfter(current, total),
      cursor: await data.feed.cursorAfter(principal, { filters }, revision),
      hasMore: false,
    };
  },
});

function changesOf({ changes, cursor, hasMore }: Changes<Change>) {
  const upserts = changes.flatMap((change) => (change.op === 'upsert' ? [change.indicator] : []));
  const removals = changes.flatMap((change) => (change.op === 'remove' ? [change] : []));
  const indicators = upserts.slice(0, PAGE_SIZE).map(indicatorPart);
  const removed = fitting(
    removals.map(({ id, type, value }) => ({ id, type, value: observable(type, value) })),
    roomBeside({ indicators, cursor }),
  );
  return {
    indicators,
    removed,
    leftOut: changes.length - indicators.length - removed.length,
    total: null,
    nextPage: null,
    cursor,
    hasMore,
  };
}
