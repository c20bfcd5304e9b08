import { DEFAULT_OPTIONS, FORMAT_NAMES, formatOf } from './formats.ts';

const formats = FORMAT_NAMES.map((name) => formatOf(name, DEFAULT_OPTIONS));

/** Without their parameters, each once. */
const EXPORT_MEDIA_TYPES = [...new Set(formats.map(({ mediaType }) => mediaType.split(';')[0] ?? ''))].filter(
  (type) => type !== 'application/json',
);

const HEADERS = {
  'X-Query-Refanged': {
    type: 'string',
    description: 'Where `q` was looked for in its refanged form too: that form, percent-encoded (RFC 3986).',
  },
  'X-Total-Count': { type: 'integer', description: 'Exports: how many indicators match.' },
  'X-Skipped': {
    type: 'string',
    description:
      'Exports: how many of them the format leaves out and, as parameters, why: `5;cve=3;not-for-detection=2`.',
  },
};

/** The answers of the list, and that it may be an export instead. */
export function exportResponses<T extends { 200: object }>(responses: T): T {
  const { description, headers, ...schema } = responses[200] as Record<string, object>;
  const text = { type: 'string' };
  return {
    ...responses,
    200: {
      description,
      headers: { ...headers, ...HEADERS },
      content: {
        'application/json': { schema },
        ...Object.fromEntries(EXPORT_MEDIA_TYPES.map((type) => [type, { schema: text }])),
      },
    },
  };
}
