import { type Static, Type } from 'typebox';
import { changeMembers, changeParameters } from '../../changes/parameters.ts';
import { indicatorType, ref } from '../../http/schema.ts';
import { Indicator, indicatorFilters } from '../indicators.schema.ts';

const MAX_LIMIT = 10_000;

const following = {
  limit: Type.Integer({
    minimum: 1,
    maximum: MAX_LIMIT,
    default: 1_000,
    description:
      'How many changes a response has. Changes of what was given in earlier pages come in addition, so that a response may have more.',
    examples: [1_000],
  }),
  ...changeParameters,
};

export const ChangesQuery = Type.Object({ ...indicatorFilters, ...following });
/** Of a saved feed, which has filters of its own. */
export const FeedChangesQuery = Type.Object(following);

const example = (Indicator as { examples?: unknown[] }).examples?.[0] as Static<typeof Indicator>;
const removed = {
  id: '0b36ba6a-5c1f-5a1c-8b94-2f0a2c0f9d1e',
  type: 'DOMAIN' as const,
  value: 'evil.example',
};

const Upsert = Type.Object({
  op: Type.Literal('upsert', { description: 'The indicator is new, or has changed.' }),
  indicator: ref(Indicator),
});
const Remove = Type.Object({
  op: Type.Literal('remove', {
    description:
      'It has expired, is whitelisted, is above the ceiling of the key, or does not match the filters any more; or, in a ' +
      'saved feed with a limit, another one has taken its place.',
  }),
  id: Type.String({ format: 'uuid', description: 'The id of the indicator.' }),
  type: indicatorType({ description: 'Its type.' }),
  value: Type.String({ description: 'The observable.' }),
});

export const IndicatorChanges = Type.Object(
  {
    changes: Type.Array(Type.Union([Upsert, Remove]), {
      description: 'In the order in which they were made; of a saved feed with a limit, by id.',
    }),
    ...changeMembers,
  },
  {
    $id: 'IndicatorChanges',
    description: 'Changes of a list of indicators.',
    examples: [
      {
        changes: [
          { op: 'upsert', indicator: example },
          { op: 'remove', ...removed },
        ],
        cursor: 'c0mSx9bU',
        hasMore: false,
      },
    ],
  },
);
export type IndicatorChanges = Static<typeof IndicatorChanges>;
