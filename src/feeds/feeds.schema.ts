import { Type } from 'typebox';
import { exportFormat } from '../exports/exports.schema.ts';
import { dateTime, nullable, ref, tlp } from '../http/schema.ts';

const Feed = Type.Object(
  {
    slug: Type.String({ description: 'The last part of its address.' }),
    name: Type.String({ description: 'Its name.' }),
    description: Type.String({ description: 'Its purpose; may be empty.' }),
    format: exportFormat({ description: 'Its format, unless the request asks for another one.' }),
    query: Type.String({
      description: 'Its filters and options, as the query string of GET /api/v1/exports/{format}.',
    }),
    tlpCeiling: tlp({ description: 'The most restricted TLP in it, for all readers.' }),
    minEntries: nullable(
      Type.Integer({
        minimum: 1,
        description: 'A source does not delist entries if fewer than these would remain; null: no minimum.',
      }),
    ),
    minShare: nullable(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description:
          'A source does not delist entries if less than this share (in percent) of the number of entries on an ' +
          'earlier day would remain; null: no minimum.',
      }),
    ),
    changedAt: dateTime({ description: 'When its definition was last changed.' }),
  },
  {
    $id: 'Feed',
    description: 'A saved feed: an export with a name.',
    examples: [
      {
        slug: 'edge-addresses',
        name: 'Addresses for the edge firewalls',
        description: '',
        format: 'txt',
        query: 'style=paloalto&types=IPV4,IPV6&minConfidence=70&limit=50000',
        tlpCeiling: 'GREEN',
        minEntries: 10_000,
        minShare: 80,
        changedAt: '2026-11-26T08:00:00.000Z',
      },
    ],
  },
);

export const FeedList = Type.Object(
  { data: Type.Array(ref(Feed), { description: 'By slug.' }) },
  {
    $id: 'FeedList',
    description: 'The saved feeds.',
    examples: [{ data: (Feed as { examples?: unknown[] }).examples }],
  },
);

export const FEED_SCHEMAS = [Feed, FeedList];

export const FeedParameters = Type.Object({
  slug: Type.String({ description: 'The slug of the feed.', examples: ['edge-addresses'] }),
});

export const FeedQuery = Type.Object({
  format: Type.Optional(
    exportFormat({
      description: 'Instead of its own, for the same indicators as far as the format can express them.',
      examples: ['csv'],
    }),
  ),
});
